/** `ClientConfig` of v2 and v3 as a client tells of itself: what it holds, and what it refused. */
import type { ApiVersion, HeldStatus, TypeKind, TypeUrl } from "@xdskit/protocol";
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

/** One name as it stands with a client. Times are whole milliseconds since 1970. */
export interface OwnResource {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  readonly name: string;
  readonly status: HeldStatus;
  /** What is in force; its type may be another one than that of the name. */
  readonly held: OwnContent | undefined;
  /** The last refusal or error that nothing better followed. */
  readonly failure: (OwnContent & { readonly details: string }) | undefined;
}

/** An encoded message, secrets replaced, with its version and when it came; undefined content: it is not shown, or there is none. */
export type OwnContent = VersionedContent;

/** Builds what a client tells of itself, a name at a time. */
export interface OwnConfigWriter {
  add(resource: OwnResource): void;
  /** A `ClientStatusResponse` of this one client, secrets in its node replaced. Several, one behind the other, are the response of several. */
  finish(): Uint8Array;
}

/** The scope is for v3: what tells the clients of one process apart, such as what they were made for (A71); "": there is one. */
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

/** `GenericXdsConfig`; its `config_status` is for management servers. @spec C-CSD-03 */
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

/** Of v2: the four kinds it knows, with their field in `PerXdsConfig` (B-CSD-05). */
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

/** `ConfigStatus`: v2 has no other. */
const configStatus = { UNKNOWN: 0, SYNCED: 1, ERROR: 4 };

/** What is told of one kind in v2. */
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
