/** `ClientConfig` of v2 and v3: the state of one client as its server sees it. */
import type { ApiVersion, Node, TypeUrl } from "@xdskit/protocol";
import type { ResourceStatus, TypeKind } from "@xdskit/protocol/internal";
import { redactJson } from "../format/redact-json.ts";
import { ChunkedWriter } from "./chunked-writer.ts";
import { encodeNode } from "./node.ts";
import { WireWriter } from "./writer.ts";

/** The client that the config describes. */
export interface ClientIdentity {
  readonly node: Node;
  /** v3: distinguishes clients with the same node id. */
  readonly scope: string;
}

/** The state of one resource at a client. Times are in milliseconds since 1970. */
export interface ClientResource {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  readonly name: string;
  readonly version: string;
  readonly status: ResourceStatus;
  /** Whether the client was sent the current state, including that the resource does not exist. */
  readonly isTold: boolean;
  /** The encoded message with secrets replaced; undefined if it is not shown or does not exist. */
  readonly content: Uint8Array | undefined;
  readonly updatedAt: number | undefined;
  /** Why it was NACKed, or why there is none. */
  readonly details: string | undefined;
}

/** The part of a resource that dumps hold. */
export type VersionedContent = Pick<ClientResource, "type" | "version" | "content" | "updatedAt">;

/** Builds one `ClientConfig`, a resource at a time. */
export interface ClientConfigWriter {
  add(resource: ClientResource): void;
  /** The number of bytes written so far. */
  readonly byteLength: number;
  /** Returns the `config` field of a `ClientStatusResponse`, in pieces; such fields concatenated are the response. */
  finish(): readonly Uint8Array[];
}

/**
 * Creates a writer. v2's `xds_config` has one entry per type and supports four types (B-CSD-05); v3's
 * `generic_xds_configs` supports all (B-CSD-04).
 */
export function createClientConfigWriter(version: ApiVersion, client: ClientIdentity): ClientConfigWriter {
  return version === "v2" ? new PerTypeWriter(client) : new GenericWriter(client);
}

/** Numbers of `ConfigStatus`. */
const configStatus: Readonly<Record<ResourceStatus, number>> = {
  unknown: 0,
  acked: 1,
  "not-sent": 2,
  "does-not-exist": 2,
  "received-error": 2,
  pending: 3,
  nacked: 4,
};

/** Numbers of `ClientResourceStatus`. */
export const clientStatus = {
  UNKNOWN: 0,
  REQUESTED: 1,
  DOES_NOT_EXIST: 2,
  ACKED: 3,
  NACKED: 4,
  RECEIVED_ERROR: 5,
  TIMEOUT: 6,
} as const;

function clientStatusOf({ status, isTold }: ClientResource): number {
  switch (status) {
    case "acked":
      return clientStatus.ACKED;
    case "nacked":
      return clientStatus.NACKED;
    case "does-not-exist":
      return isTold ? clientStatus.DOES_NOT_EXIST : clientStatus.REQUESTED;
    case "received-error":
      return isTold ? clientStatus.RECEIVED_ERROR : clientStatus.REQUESTED;
    case "unknown":
      return clientStatus.UNKNOWN;
    default:
      return clientStatus.REQUESTED;
  }
}

/** Encodes a node with its secrets replaced. */
export function encodeIdentity(node: Node): Uint8Array {
  return encodeNode({ ...node, metadata: redactJson(node.metadata) as Node["metadata"] });
}

class GenericWriter implements ClientConfigWriter {
  readonly #client: ClientIdentity;
  readonly #config = new ChunkedWriter();

  constructor(client: ClientIdentity) {
    this.#client = client;
    this.#config.write((config) => config.bytes(1, encodeIdentity(client.node)));
  }

  get byteLength(): number {
    return this.#config.byteLength;
  }

  add(resource: ClientResource): void {
    const { type, name, version, status, updatedAt } = resource;
    this.#config.write((config) =>
      config.message(3, (generic) => {
        generic.optionalString(1, type).optionalString(2, name).optionalString(3, version);
        writeContent(generic, 4, resource);
        writeTime(generic, 5, updatedAt);
        generic.integer(6, configStatus[status]).integer(7, clientStatusOf(resource));
        writeFailure(generic, 8, resource, "v3");
      }),
    );
  }

  finish(): readonly Uint8Array[] {
    this.#config.write((config) => config.optionalString(4, this.#client.scope));
    return [prefixOf(1, this.byteLength), ...this.#config.finish()];
  }
}

function prefixOf(field: number, byteLength: number): Uint8Array {
  return new WireWriter().prefix(field, byteLength).finish();
}

/** The four types, with their field in `PerXdsConfig` and the writer of their resources. */
const dumps: readonly {
  readonly kind: TypeKind;
  readonly field: number;
  write(dump: WireWriter, resource: ClientResource): void;
}[] = [
  { kind: "lds", field: 2, write: writeListener },
  { kind: "cds", field: 3, write: writeCluster },
  { kind: "rds", field: 4, write: writeRoute },
  { kind: "srds", field: 5, write: (dump, resource) => writeScopedRoute(dump, resource.name, resource) },
];

/** Worst first: the worst status of its resources is the status of a type. */
const worstFirst: readonly ResourceStatus[] = [
  "nacked",
  "pending",
  "not-sent",
  "does-not-exist",
  "received-error",
  "acked",
  "unknown",
];

class PerTypeWriter implements ClientConfigWriter {
  readonly #identity: Uint8Array;
  readonly #types = new Map<TypeKind, { readonly dump: ChunkedWriter; status: ResourceStatus }>();
  #byteLength: number;

  constructor(client: ClientIdentity) {
    this.#identity = encodeIdentity(client.node);
    this.#byteLength = this.#identity.length;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  add(resource: ClientResource): void {
    const described = dumps.find(({ kind }) => kind === resource.kind);
    if (described === undefined) return;
    const type = this.#types.get(resource.kind) ?? { dump: new ChunkedWriter(), status: "unknown" };
    this.#types.set(resource.kind, type);
    if (worstFirst.indexOf(resource.status) < worstFirst.indexOf(type.status)) type.status = resource.status;
    const before = type.dump.byteLength;
    if (resource.content !== undefined || resource.version !== "")
      type.dump.write((dump) => described.write(dump, resource));
    this.#byteLength += type.dump.byteLength - before;
  }

  finish(): readonly Uint8Array[] {
    const pieces = [new WireWriter().bytes(1, this.#identity).finish()];
    for (const { kind, field } of dumps) {
      const type = this.#types.get(kind);
      if (type === undefined) continue;
      const { byteLength } = type.dump;
      const head = new WireWriter().integer(1, configStatus[type.status]).prefix(field, byteLength).finish();
      pieces.push(prefixOf(2, head.length + byteLength), head, ...type.dump.finish());
    }
    return [
      prefixOf(
        1,
        pieces.reduce((sum, piece) => sum + piece.length, 0),
      ),
      ...pieces,
    ];
  }
}

/** A synced listener is active, one that was sent is warming, a NACKed one is an error. */
function writeListener(dump: WireWriter, resource: ClientResource): void {
  const { name, status, version, updatedAt } = resource;
  dump.message(3, (listener) => {
    listener.optionalString(1, name);
    if (status === "nacked") {
      writeFailure(listener, 5, resource, "v2");
      return;
    }
    listener.message(status === "acked" ? 2 : 3, (state) => {
      state.optionalString(1, version);
      writeContent(state, 2, resource);
      writeTime(state, 3, updatedAt);
    });
  });
}

function writeCluster(dump: WireWriter, resource: ClientResource): void {
  writeVersioned(dump, resource.status === "acked" ? 3 : 4, resource);
}

function writeRoute(dump: WireWriter, resource: ClientResource): void {
  writeVersioned(dump, 3, resource);
}

/** Writes a dump entry whose first three fields are version, resource and time. */
export function writeVersioned(dump: WireWriter, field: number, resource: VersionedContent): void {
  dump.message(field, (entry) => {
    entry.optionalString(1, resource.version);
    writeContent(entry, 2, resource);
    writeTime(entry, 3, resource.updatedAt);
  });
}

/** Writes a dump entry of scopes, which has the scope's name before those fields. */
export function writeScopedRoute(dump: WireWriter, name: string, resource: VersionedContent): void {
  dump.message(2, (entry) => {
    entry.optionalString(1, name).optionalString(2, resource.version);
    writeContent(entry, 3, resource);
    writeTime(entry, 4, resource.updatedAt);
  });
}

/** Writes the resource as an `Any`. */
export function writeContent(
  writer: WireWriter,
  field: number,
  { type, content }: Pick<VersionedContent, "type" | "content">,
): void {
  if (content === undefined) return;
  writer.message(field, (any) => {
    any.string(1, type);
    if (content.length > 0) any.bytes(2, content);
  });
}

/** Writes a rejected resource with the client's error; for a missing one, only the reason. */
function writeFailure(writer: WireWriter, field: number, resource: ClientResource, version: ApiVersion): void {
  const { type, status, details } = resource;
  if (details === undefined) return;
  const refused = status === "nacked" ? resource : { type, version: "", content: undefined, updatedAt: undefined };
  writeFailureState(writer, field, { ...refused, details }, version);
}

/** Writes an `UpdateFailureState`: the rejected resource, when and why; only v3 has its version. */
export function writeFailureState(
  writer: WireWriter,
  field: number,
  failure: VersionedContent & { readonly details: string },
  version: ApiVersion,
): void {
  writer.message(field, (inner) => {
    writeContent(inner, 1, failure);
    writeTime(inner, 2, failure.updatedAt);
    inner.optionalString(3, failure.details);
    if (version === "v3") inner.optionalString(4, failure.version);
  });
}

/** Writes a `Timestamp`, or nothing if undefined. */
export function writeTime(writer: WireWriter, field: number, milliseconds: number | undefined): void {
  if (milliseconds === undefined) return;
  writer.message(field, (time) => {
    time.integer(1, Math.floor(milliseconds / 1000)).integer(2, (milliseconds % 1000) * 1_000_000);
  });
}
