/** `ClientConfig` of v2 and v3 as a client reports itself: what it holds, and what it rejected. */
import type { ApiVersion, HeldStatus, TypeUrl } from "@xdskit/protocol";
import type { TypeKind } from "@xdskit/protocol/internal";
import {
  type ClientIdentity,
  clientStatus,
  encodeIdentity,
  type VersionedContent,
  writeContent,
  writeFailureState,
  writeScopedRoute,
  writeTime,
  writeVersioned,
} from "./client-config.ts";
import { WireWriter } from "./writer.ts";

/** The state of one name at the client. Times are whole milliseconds since 1970. */
export interface OwnResource {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  readonly name: string;
  readonly status: HeldStatus;
  /** The resource in use; its type may differ from that of the name. */
  readonly held: OwnContent | undefined;
  /** The last rejection or error, unless a valid resource followed. */
  readonly failure: (OwnContent & { readonly details: string }) | undefined;
}

/**
 * An encoded message with secrets replaced, its version and time; content is undefined if it is not shown or does not
 * exist.
 */
export type OwnContent = VersionedContent;

/** Builds a client's report about itself, a name at a time. */
export interface OwnConfigWriter {
  add(resource: OwnResource): void;
  /**
   * Returns a `ClientStatusResponse` of this one client, with the secrets in its node replaced. Several concatenated
   * are the response of several clients.
   */
  finish(): Uint8Array;
}

/**
 * Creates a writer. v3's scope distinguishes the clients of one process, for example by their target (A71); "" if there
 * is one.
 */
export function createOwnConfigWriter(version: ApiVersion, { node, scope }: ClientIdentity): OwnConfigWriter {
  const config = new WireWriter();
  config.bytes(1, encodeIdentity(node));
  const types = new Map<TypeKind, PerType>();
  return {
    add(resource) {
      if (version === "v2") addPerType(types, resource);
      else config.message(3, (inner) => writeGeneric(inner, resource));
    },
    finish() {
      if (version === "v2") writePerType(config, types);
      else config.optionalString(4, scope);
      return new WireWriter(config.written.length + 8).bytes(1, config.written).finish();
    },
  };
}

const statusNumbers: Readonly<Record<HeldStatus, number>> = {
  requested: clientStatus.REQUESTED,
  "does-not-exist": clientStatus.DOES_NOT_EXIST,
  acked: clientStatus.ACKED,
  nacked: clientStatus.NACKED,
  "received-error": clientStatus.RECEIVED_ERROR,
  timeout: clientStatus.TIMEOUT,
};

/**
 * Writes a `GenericXdsConfig`; its `config_status` is for management servers only.
 *
 * @spec C-CSD-03
 */
function writeGeneric(writer: WireWriter, { type, name, status, held, failure }: OwnResource): void {
  writer.optionalString(1, type).optionalString(2, name);
  if (held !== undefined) {
    writer.optionalString(3, held.version);
    writeContent(writer, 4, held);
    writeTime(writer, 5, held.updatedAt);
  }
  writer.integer(7, statusNumbers[status]);
  if (failure !== undefined) writeFailureState(writer, 8, failure, "v3");
}

/** v2: the four supported types, with their field in `PerXdsConfig` (B-CSD-05). */
const dumps: readonly {
  readonly kind: TypeKind;
  readonly field: number;
  write(dump: WireWriter, resource: OwnResource): void;
}[] = [
  { kind: "lds", field: 2, write: writeListener },
  { kind: "cds", field: 3, write: (dump, { held }) => held && writeVersioned(dump, 3, held) },
  { kind: "rds", field: 4, write: (dump, { held }) => held && writeVersioned(dump, 3, held) },
  { kind: "srds", field: 5, write: (dump, { name, held }) => held && writeScopedRoute(dump, name, held) },
];

/** Numbers of `ConfigStatus` that a client uses in v2. */
const configStatus = { UNKNOWN: 0, SYNCED: 1, ERROR: 4 };

/** The v2 dump of one type. */
interface PerType {
  readonly dump: WireWriter;
  status: number;
}

function addPerType(types: Map<TypeKind, PerType>, resource: OwnResource): void {
  const type = types.get(resource.kind) ?? { dump: new WireWriter(), status: configStatus.UNKNOWN };
  types.set(resource.kind, type);
  type.status = Math.max(type.status, configStatusOf(resource));
  dumps.find(({ kind }) => kind === resource.kind)?.write(type.dump, resource);
}

function writePerType(writer: WireWriter, types: ReadonlyMap<TypeKind, PerType>): void {
  for (const { kind, field } of dumps) {
    const type = types.get(kind);
    if (type !== undefined) writer.message(2, (inner) => inner.integer(1, type.status).bytes(field, type.dump.written));
  }
}

function configStatusOf({ status }: OwnResource): number {
  if (status === "nacked") return configStatus.ERROR;
  return status === "acked" ? configStatus.SYNCED : configStatus.UNKNOWN;
}

function writeListener(dump: WireWriter, { name, held, failure }: OwnResource): void {
  if (held === undefined && failure === undefined) return;
  dump.message(3, (listener) => {
    listener.optionalString(1, name);
    if (held !== undefined) writeVersioned(listener, 2, held);
    if (failure !== undefined) writeFailureState(listener, 5, failure, "v2");
  });
}
