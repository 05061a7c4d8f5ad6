import { parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { nearestName, quote, type ValuePath } from "@xdskit/protocol/internal";
import type { Candidate } from "./candidate.ts";
import { type KnownItem, knownItem } from "./item-memory.ts";
import type { Part } from "./places.ts";
import { describeKind, entryOf, isMapping } from "./places.ts";
import { readResponseErrors, type StatedError } from "./response-errors.ts";

/** The type and name of something that is not a valid resource; undefined where unknown. */
export interface Identity {
  readonly type: TypeUrl | undefined;
  readonly name: string | undefined;
}

/** A problem of a document's outer structure. */
export interface EnvelopeTrouble {
  readonly code:
    | "DOCUMENT_FIELD_UNKNOWN"
    | "DOCUMENT_NOT_RECOGNIZED"
    | "DOCUMENT_WRONG_TYPE"
    | "RESOURCE_ERROR_INVALID";
  readonly path: ValuePath;
  readonly part: Part;
  readonly message: string;
  readonly hint?: string;
}

/** The content of one document. */
export interface Unfolded {
  readonly candidates: readonly Candidate[];
  /** Names with a resource error in a response. */
  readonly errors: readonly StatedError[];
  readonly troubles: readonly EnvelopeTrouble[];
}

const PREFIX = "type.googleapis.com/";
const RESPONSES = new Set(["envoy.service.discovery.v3.DiscoveryResponse", "envoy.api.v2.DiscoveryResponse"]);
const RESOURCE = "envoy.service.discovery.v3.Resource";
const BOOTSTRAP = "envoy.config.bootstrap.v3.Bootstrap";

const RESPONSE_FIELDS: readonly string[] = [
  "@type",
  "version_info",
  "resources",
  "canary",
  "type_url",
  "nonce",
  "control_plane",
  "resource_errors",
];

/** Fields that only a response has, among mappings without "@type". */
const RESPONSE_LISTS: readonly string[] = ["resources", "resource_errors", "resourceErrors"];

const NAME_FIELDS: readonly string[] = ["name", "cluster_name", "clusterName"];

const STATIC_TYPES: ReadonlyMap<string, string> = new Map([
  ["listeners", "envoy.config.listener.v3.Listener"],
  ["clusters", "envoy.config.cluster.v3.Cluster"],
  ["secrets", "envoy.extensions.transport_sockets.tls.v3.Secret"],
]);

/** Fields that suggest a resource without "@type". */
const TELLING_FIELDS: readonly (readonly [string, string])[] = [
  ["virtual_hosts", "envoy.config.route.v3.RouteConfiguration"],
  ["filter_chains", "envoy.config.listener.v3.Listener"],
  ["api_listener", "envoy.config.listener.v3.Listener"],
  ["endpoints", "envoy.config.endpoint.v3.ClusterLoadAssignment"],
  ["lb_policy", "envoy.config.cluster.v3.Cluster"],
  ["connect_timeout", "envoy.config.cluster.v3.Cluster"],
  ["eds_cluster_config", "envoy.config.cluster.v3.Cluster"],
  ["load_assignment", "envoy.config.cluster.v3.Cluster"],
  ["tls_certificate", "envoy.extensions.transport_sockets.tls.v3.Secret"],
  ["validation_context", "envoy.extensions.transport_sockets.tls.v3.Secret"],
  ["layer", "envoy.service.runtime.v3.Runtime"],
];

/**
 * Finds the resources in a document: one with "@type", a list of them, a DiscoveryResponse (a `resources` list), or a
 * bootstrap's `static_resources` with implied types. `null` has none. The `type_url` of a response applies to resources
 * without "@type" and to `resource_errors`; its version is ignored.
 */
export function unfold(document: unknown): Unfolded {
  const candidates: Candidate[] = [];
  const errors: StatedError[] = [];
  const troubles: EnvelopeTrouble[] = [];
  const found = { candidates, errors, troubles };
  if (document === null || document === undefined) return found;
  if (Array.isArray(document)) unfoldList(document, [], undefined, found);
  else if (isMapping(document)) unfoldMapping(document, found);
  else troubles.push(wrongType([], "a resource, or a list of them", document));
  return found;
}

/** An item of a list that says by itself what it is, whatever its list is part of; undefined: it may not. */
export function candidateAlone(item: unknown): Candidate | undefined {
  return isMapping(item) && Object.hasOwn(item, "@type") ? candidateOf(item, []) : undefined;
}

/** Whether a document is a resource with a list `resources` in which items were recognised: they belong to its message. */
export function hasItemsOfItsOwn(document: unknown): boolean {
  if (!isMapping(document)) return false;
  const type = typeNameOf(document);
  const list = type === undefined || RESPONSES.has(type) ? undefined : entryOf(document, "resources");
  return Array.isArray(list) && list.some((item) => knownItem(item) !== undefined);
}

interface Found {
  readonly candidates: Candidate[];
  readonly errors: StatedError[];
  readonly troubles: EnvelopeTrouble[];
}

function unfoldMapping(document: Readonly<Record<string, unknown>>, found: Found): void {
  const type = typeNameOf(document);
  if (type !== undefined && RESPONSES.has(type)) unfoldResponse(document, found);
  else if (type === BOOTSTRAP) unfoldBootstrap(document, found);
  else if (type !== undefined) found.candidates.push(candidateOf(document, []));
  else if (RESPONSE_LISTS.some((key) => Object.hasOwn(document, key))) unfoldResponse(document, found);
  else if (staticResourcesKey(document) !== undefined) unfoldBootstrap(document, found);
  else unfoldItem(document, [], undefined, found);
}

function unfoldResponse(document: Readonly<Record<string, unknown>>, found: Found): void {
  for (const key of Object.keys(document)) {
    if (!RESPONSE_FIELDS.includes(snakeCase(key))) found.troubles.push(unknownField([], key, RESPONSE_FIELDS));
  }
  const { resources } = document as { resources?: unknown };
  const impliedType = entryOf(document, "type_url") ?? entryOf(document, "typeUrl");
  const errorsKey = RESPONSE_LISTS.slice(1).find((key) => Object.hasOwn(document, key));
  const errors = entryOf(document, errorsKey);
  if (errorsKey !== undefined && errors !== null) {
    const stated = readResponseErrors(errors, errorsKey, impliedType);
    for (const error of stated.errors) found.errors.push(error);
    for (const trouble of stated.troubles) found.troubles.push(trouble);
  }
  if (resources === undefined || resources === null) return;
  if (!Array.isArray(resources)) found.troubles.push(wrongType(["resources"], "a list of resources", resources));
  else unfoldList(resources, ["resources"], typeof impliedType === "string" ? impliedType : undefined, found);
}

function unfoldBootstrap(document: Readonly<Record<string, unknown>>, found: Found): void {
  const top = staticResourcesKey(document);
  const resources = entryOf(document, top);
  if (top === undefined || resources === null || resources === undefined) return;
  if (!isMapping(resources)) {
    found.troubles.push(wrongType([top], "a mapping with listeners, clusters or secrets", resources));
    return;
  }
  for (const [key, list] of Object.entries(resources)) {
    const type = STATIC_TYPES.get(key);
    if (type === undefined) found.troubles.push(unknownField([top], key, STATIC_TYPES.keys()));
    else if (Array.isArray(list)) unfoldList(list, [top, key], type, found);
    else if (list !== null) found.troubles.push(wrongType([top, key], "a list", list));
  }
}

function unfoldList(list: readonly unknown[], path: ValuePath, impliedType: string | undefined, found: Found): void {
  for (const [index, item] of list.entries()) {
    const known = knownItem(item);
    if (known !== undefined) found.candidates.push(knownCandidate(known, path, index));
    else if (isMapping(item)) unfoldItem(item, [...path, index], impliedType, found);
    else found.troubles.push(wrongType([...path, index], "a resource", item));
  }
}

/** The same object as before for an item that has not moved. */
function knownCandidate(item: KnownItem, path: ValuePath, index: number): Candidate {
  const before = item.candidate?.path;
  const isThere =
    before?.at(-1) === index && before.length === path.length + 1 && path.every((step, i) => step === before[i]);
  if (item.candidate !== undefined && isThere) return item.candidate;
  const itemPath = [...path, index];
  const bodyPath = item.bodyPath.length === 0 ? itemPath : [...itemPath, ...item.bodyPath];
  item.candidate = { path: itemPath, value: item, bodyPath };
  return item.candidate;
}

function unfoldItem(
  item: Readonly<Record<string, unknown>>,
  path: ValuePath,
  impliedType: string | undefined,
  found: Found,
): void {
  if (Object.hasOwn(item, "@type")) found.candidates.push(candidateOf(item, path));
  else if (isMapping(entryOf(item, "resource"))) found.candidates.push(candidateOf(withType(item, RESOURCE), path));
  else if (impliedType !== undefined) found.candidates.push(candidateOf(withType(item, impliedType), path));
  else found.troubles.push(notRecognized(item, path));
}

function candidateOf(value: Readonly<Record<string, unknown>>, path: ValuePath): Candidate {
  const isWrapped = typeNameOf(value) === RESOURCE;
  return { path, value, bodyPath: isWrapped ? [...path, "resource"] : path };
}

/** The identities that an invalid candidate would have, from its type and name fields: one for each possible name. */
export function identify({ path, value, bodyPath }: Candidate): readonly Identity[] {
  const body = bodyPath.length > path.length ? entryOf(value, "resource") : value;
  const typeText = entryOf(body, "@type");
  const type = typeof typeText === "string" ? parseTypeUrl(typeText) : undefined;
  const named = [value, body].flatMap((holder) => NAME_FIELDS.map((field) => entryOf(holder, field)));
  const names = named.filter((name) => typeof name === "string");
  return names.length === 0 ? [{ type, name: undefined }] : names.map((name) => ({ type, name }));
}

function withType(item: Readonly<Record<string, unknown>>, type: string): Readonly<Record<string, unknown>> {
  return { "@type": type.includes("/") ? type : PREFIX + type, ...item };
}

function typeNameOf(document: Readonly<Record<string, unknown>>): string | undefined {
  const type = entryOf(document, "@type");
  if (type === undefined) return undefined;
  return typeof type === "string" ? type.slice(type.lastIndexOf("/") + 1) : "";
}

function staticResourcesKey(document: Readonly<Record<string, unknown>>): string | undefined {
  return ["static_resources", "staticResources"].find((key) => Object.hasOwn(document, key));
}

function notRecognized(item: Readonly<Record<string, unknown>>, path: ValuePath): EnvelopeTrouble {
  const isRoot = path.length === 0;
  return {
    code: "DOCUMENT_NOT_RECOGNIZED",
    path,
    part: "value",
    message: `expected a resource with "@type"${isRoot ? ", resources or static_resources" : ""}, got ${keysOf(item)}`,
    hint: hintFor(item, isRoot),
  };
}

function hintFor(item: Readonly<Record<string, unknown>>, isRoot: boolean): string {
  const keys = Object.keys(item);
  const told = TELLING_FIELDS.find(([field]) => keys.some((key) => snakeCase(key) === field));
  if (told !== undefined) return `add "@type": ${PREFIX}${told[1]}`;
  const words = isRoot ? ["@type", "resources", "static_resources"] : ["@type"];
  const meant = keys.map((key) => nearestName(key, words)).find((word) => word !== undefined);
  if (meant !== undefined) return `did you mean ${quote(meant)}?`;
  return `add "@type": ${PREFIX}<full name of the message>`;
}

function unknownField(path: ValuePath, key: string, known: Iterable<string>): EnvelopeTrouble {
  const names = [...known];
  const meant = nearestName(key, names);
  return {
    code: "DOCUMENT_FIELD_UNKNOWN",
    path: [...path, key],
    part: "key",
    message: `expected one of ${names.join(", ")}, got ${quote(key)}`,
    hint: meant === undefined ? "remove it" : `did you mean ${quote(meant)}?`,
  };
}

function wrongType(path: ValuePath, expected: string, got: unknown): EnvelopeTrouble {
  return {
    code: "DOCUMENT_WRONG_TYPE",
    path,
    part: "value",
    message: `expected ${expected}, got ${describeKind(got)}`,
  };
}

function keysOf(item: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(item);
  if (keys.length === 0) return "an empty mapping";
  const named = keys.slice(0, 4).map(quote).join(", ");
  return `a mapping with ${named}${keys.length > 4 ? ", …" : ""}`;
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
