import { type MeshSnapshot, STATIC_SOURCE, type XdsResource } from "@xdskit/client";
import type { EnvoyApi, ResponseFormat } from "@xdskit/envoy-api";
import { encodeConstraints, encodeResource } from "@xdskit/envoy-api/internal";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { shortNameOf } from "../../discovery/mesh-words.ts";

/** All resources of one type. */
export interface DumpedType {
  readonly type: TypeUrl;
  /** The short name of the type, such as `cds`; it names the file. */
  readonly name: string;
  readonly resources: number;
  /** The sum of the encoded resources' sizes. */
  readonly bytes: number;
  readonly content: Uint8Array;
}

/** The files to write, and notes about what is left out or lost. */
export interface DumpContents {
  readonly types: readonly DumpedType[];
  readonly notes: readonly string[];
  /** Type and name of resources whose secrets were replaced; they must not be served. */
  readonly redacted: readonly string[];
}

export interface ContentsOptions {
  readonly api: EnvoyApi;
  readonly format: ResponseFormat;
  readonly showsSecrets: boolean;
}

const WRAPPER = formatTypeUrl("envoy.service.discovery.v3.Resource");

/**
 * Builds one file for each type from all resources that servers sent; static resources of the bootstrap are omitted.
 */
export function contentsOf(snapshot: MeshSnapshot, options: ContentsOptions): DumpContents {
  const notes: string[] = [];
  const redacted: string[] = [];
  const byType = new Map<TypeUrl, Map<string, XdsResource>>();
  for (const { resource, warming, type, source } of snapshot.all.values()) {
    const newest = warming ?? resource;
    if (newest === undefined || source === STATIC_SOURCE) continue;
    const ofType = byType.get(newest.type) ?? new Map<string, XdsResource>();
    byType.set(newest.type, ofType);
    // Several sources may have a resource of the same type and name.
    if (!ofType.has(newest.key)) ofType.set(newest.key, newest);
    else
      notes.push(
        `${shortNameOf(type, options.api)} ${newest.key} comes from several sources: only the first is written`,
      );
  }
  const types = [...byType].map(([type, resources]) =>
    dumpedType(type, [...resources.values()], options, { notes, redacted }),
  );
  return { types: types.sort((a, b) => (a.name < b.name ? -1 : 1)), notes, redacted };
}

interface Remarks {
  readonly notes: string[];
  readonly redacted: string[];
}

function dumpedType(
  type: TypeUrl,
  resources: readonly XdsResource[],
  { api, format, showsSecrets }: ContentsOptions,
  { notes, redacted }: Remarks,
): DumpedType {
  const writer = api.responseWriter(format);
  const name = shortNameOf(type, api);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (const resource of [...resources].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const shown = showsSecrets ? resource.bytes : api.redacted(type, resource.bytes);
    if (shown === undefined) {
      notes.push(
        `${name} ${resource.key} is left out: nobody knows its message, so it may hold secrets; --show-secrets writes it`,
      );
      continue;
    }
    if (shown !== resource.bytes) redacted.push(`${name} ${resource.key}`);
    if (format !== "pb") notes.push(...lossOf(resource, name, api));
    bytes += shown.byteLength;
    const { type: as, value } = wrappedIfNeeded(shown, resource, api);
    parts.push(writer.resource(as, value));
  }
  const content = Buffer.concat(writer.response({ versionInfo: "", typeUrl: type }, parts));
  return { type, name, resources: parts.length, bytes, content };
}

/** Describes what the resource loses in JSON, YAML and text format. */
function lossOf({ type, bytes, key }: XdsResource, shortName: string, api: EnvoyApi): readonly string[] {
  const { types, unknownFieldsOf } = api.unprintable(type, bytes);
  if (types.length === 0 && unknownFieldsOf.length === 0) return [];
  const lost = [...types, ...unknownFieldsOf.map((message) => `newer fields of ${message}`)];
  return [`${shortName} ${key} loses ${lost.join(", ")}: --format pb keeps all, --descriptors names more messages`];
}

/** Adds the `Resource` wrapper if the name, aliases or dynamic parameter constraints are not in the message itself. */
function wrappedIfNeeded(
  bytes: Uint8Array,
  { type, name, aliases, constraints }: XdsResource,
  api: EnvoyApi,
): { readonly type: TypeUrl; readonly value: Uint8Array } {
  const own = api.readEncodedResource(type, bytes).input?.name;
  if (own === name && aliases.length === 0 && constraints === undefined) return { type, value: bytes };
  const resource = { typeUrl: type, value: bytes };
  if (constraints === undefined) return { type: WRAPPER, value: encodeResource({ name, aliases, resource }) };
  const resourceName = { name, dynamicParameterConstraints: encodeConstraints(constraints) };
  return { type: WRAPPER, value: encodeResource({ resourceName, aliases, resource }) };
}
