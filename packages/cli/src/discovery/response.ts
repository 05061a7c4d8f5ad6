import { decodeDeltaResponse, decodeSotwResponse, type EnvoyApi, type ResourceMessage } from "@xdskit/envoy-api";
import { parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { ReceivedResource, ResponseContent } from "./held.ts";

/** Something that is no `DiscoveryResponse`, or holds what cannot be read. */
export class UnreadableResponse extends Error {
  override readonly name = "UnreadableResponse";
}

/** Reads an encoded `DeltaDiscoveryResponse`. Throws a `WireError` on bytes that are none. */
export function readDeltaResponse(message: Uint8Array): ResponseContent {
  const { systemVersionInfo: version, nonce, resources, removedResources: removed } = decodeDeltaResponse(message);
  return { version, nonce, puts: resources.flatMap(receivedOf), removed };
}

/** A resource without a body says only that it is alive, or that it does not exist. */
function receivedOf({ name, version, resource }: ResourceMessage): readonly ReceivedResource[] {
  const type = resource === undefined ? undefined : parseTypeUrl(resource.typeUrl);
  if (resource === undefined || type === undefined) return [];
  return [{ name, version, type, bytes: resource.value }];
}

/** Reads an encoded `DiscoveryResponse`. Throws a `WireError` on bytes that are none. */
export function readSotwResponse(message: Uint8Array, api: EnvoyApi): ResponseContent {
  const { versionInfo: version, nonce, resources } = decodeSotwResponse(message);
  const puts = resources.flatMap(({ typeUrl, value }): readonly ReceivedResource[] => {
    const type = parseTypeUrl(typeUrl);
    return type === undefined ? [] : [unwrapped(type, value, version, api)];
  });
  return { version, nonce, puts, removed: undefined };
}

/** Takes off a wrapper, which says the name where the resource has none. What cannot be read has no name. */
function unwrapped(type: TypeUrl, bytes: Uint8Array, version: string, api: EnvoyApi): ReceivedResource {
  const { input } = api.readEncodedResource(type, bytes);
  if (input === undefined) return { name: "", version, type, bytes };
  return { name: input.name, version, type: input.type, bytes: input.bytes };
}

/**
 * Reads a `DiscoveryResponse` that was JSON or YAML; field names are lowerCamelCase or as in the proto file (B-RST-02). Throws
 * `UnreadableResponse`.
 */
export function readJsonResponse(value: unknown, api: EnvoyApi): ResponseContent {
  if (!isObject(value)) throw new UnreadableResponse(`expected a DiscoveryResponse, got ${describe(value)}`);
  const version = textOf(value, "versionInfo", "version_info");
  const nonce = textOf(value, "nonce", "nonce");
  const resources = value["resources"] ?? [];
  if (!Array.isArray(resources)) {
    throw new UnreadableResponse(`resources: expected a list, got ${describe(resources)}`);
  }
  const puts = resources.map((resource: unknown, index): ReceivedResource => {
    const { input, problems } = api.readResource(resource);
    if (input !== undefined) return { name: input.name, version, type: input.type, bytes: input.bytes };
    const { path, message } = problems.find(({ severity }) => severity === "error") ?? { path: [], message: "" };
    throw new UnreadableResponse(`${["resources", index, ...path].join(".")}: ${message}`);
  });
  return { version, nonce, puts, removed: undefined };
}

/** What an operator may be told of resources of another type than the one that was asked for; undefined: there are none. */
export function strangerIn({ puts }: ResponseContent, type: TypeUrl): string | undefined {
  const index = puts.findIndex((resource) => resource.type !== type);
  const stranger = puts[index];
  return stranger === undefined ? undefined : `resources.${index}: expected ${type}, got ${stranger.type}`;
}

function textOf(value: Readonly<Record<string, unknown>>, ...names: readonly string[]): string {
  const text = names.map((name) => value[name]).find((one) => one !== undefined && one !== null) ?? "";
  if (typeof text === "string") return text;
  throw new UnreadableResponse(`${names[0]}: expected a string, got ${describe(text)}`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  return Array.isArray(value) ? "a list" : `${typeof value}`;
}
