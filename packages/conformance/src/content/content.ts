import { contentDigest } from "@xdskit/envoy-api";
import {
  type Constraints,
  createResource,
  createResourceError,
  type ErrorDetail,
  type Reference,
  type Resource,
  type TypeUrl,
} from "@xdskit/protocol";
import { inV3, type TypeName, type TypeOfV3, urlOf } from "./catalog.ts";
import { encodeFields, type Field, textOfBytes } from "./encode.ts";

/**
 * A resource as a case writes it: `a@1` is the resource `a` with the content labelled `1`; the object form has more.
 * The content is a real message of the type that contains the label.
 */
export type ResourceSpec = string | DetailedResource;

export interface DetailedResource {
  readonly is: string;
  /** Clusters: the EDS name of its endpoints. */
  readonly eds?: string;
  /** Listeners: the RDS name of its routes. */
  readonly rds?: string;
  /** Listeners: the ECDS name of a filter's configuration. */
  readonly filter?: string;
  /** ScopedRouteConfigurations: has no key, which the schema requires. */
  readonly keyless?: true;
  /** RouteConfigurations: uses VHDS for its virtual hosts. */
  readonly vhds?: true;
  /** ClusterLoadAssignments: the LEDS collection of its endpoints. */
  readonly leds?: string;
  /** RouteConfigurations, also of Thrift: the cluster that traffic is routed to. */
  readonly cluster?: string;
  readonly aliases?: readonly string[];
  readonly onDemand?: boolean;
  /** The dynamic parameter constraints of a variant. */
  readonly when?: Constraints;
  /** Cache control: proxies must not cache it. */
  readonly doNotCache?: true;
  /** A text in its metadata. */
  readonly metadata?: string;
  /** TTL in milliseconds. */
  readonly ttl?: number;
  /** The version to print instead of the content's digest. */
  readonly version?: string;
  /** A resource error with this gRPC status code, in place of the resource. */
  readonly error?: number;
  /** Additional bytes of content. */
  readonly padding?: number;
}

/** A resource with its bytes, as it is published. */
export interface Content {
  readonly type: TypeName;
  readonly name: string;
  /** The short form: `a@1`. */
  readonly is: string;
  readonly bytes: Uint8Array;
  readonly references: readonly Reference[];
  readonly aliases: readonly string[];
  readonly onDemand: boolean;
  readonly when: Constraints | undefined;
  readonly doNotCache: boolean;
  readonly metadata: Uint8Array | undefined;
  readonly ttlMs: number | undefined;
  readonly version: string | undefined;
  /** The error in place of a resource. */
  readonly error: ErrorDetail | undefined;
}

/** Encodes the resource that a case writes. */
export function contentOf(type: TypeName, spec: ResourceSpec): Content {
  const details = typeof spec === "string" ? { is: spec } : spec;
  const at = details.is.lastIndexOf("@");
  const name = details.is.slice(0, at);
  const label = details.is.slice(at + 1) + "+".repeat(details.padding ?? 0);
  return {
    type,
    name,
    is: details.is,
    bytes: encoders[inV3(type)](name, label, details),
    references: referencesOf(name, details),
    aliases: details.aliases ?? [],
    onDemand: details.onDemand ?? false,
    when: details.when,
    doNotCache: details.doNotCache ?? false,
    metadata: details.metadata === undefined ? undefined : metadataOf(details.metadata),
    ttlMs: details.ttl,
    version: details.version,
    error: details.error === undefined ? undefined : { code: details.error, message: label },
  };
}

/** Converts content to a resource for a transaction, of its own type unless `url` overrides it. */
export function toResource(content: Content & { readonly url?: TypeUrl }): Resource {
  const { name, error } = content;
  if (error !== undefined)
    return createResourceError({ type: content.url ?? urlOf(content.type), name, error }, contentDigest);
  return createResource(
    {
      type: content.url ?? urlOf(content.type),
      name: content.name,
      bytes: content.bytes,
      aliases: content.aliases,
      references: content.references,
      onDemand: content.onDemand,
      doNotCache: content.doNotCache,
      ...(content.when === undefined ? {} : { constraints: content.when }),
      ...(content.metadata === undefined ? {} : { metadata: content.metadata }),
      ...(content.ttlMs === undefined ? {} : { ttlMs: content.ttlMs }),
      ...(content.version === undefined ? {} : { version: content.version }),
    },
    contentDigest,
  );
}

function referencesOf(name: string, details: DetailedResource): readonly Reference[] {
  const references: Reference[] = [];
  if (details.eds !== undefined) references.push({ type: urlOf("eds"), name: details.eds });
  if (details.rds !== undefined) references.push({ type: urlOf("rds"), name: details.rds });
  if (details.filter !== undefined) references.push({ type: urlOf("ecds"), name: details.filter });
  if (details.cluster !== undefined) references.push({ type: urlOf("cds"), name: details.cluster });
  if (details.vhds) references.push({ type: urlOf("vhds"), name: `${name}/` });
  if (details.leds !== undefined) references.push({ type: urlOf("leds"), name: details.leds });
  return references;
}

type Encoder = (name: string, label: string, details: DetailedResource) => Uint8Array;

// Members of a oneof come last, where common encoders write them, so that a server that decodes and re-encodes
// resources produces the same bytes.
const ADS_SOURCE = encodeFields([6, 2], [3, encodeFields()]);

const encoders: Readonly<Record<TypeOfV3, Encoder>> = {
  cds: (name, label, { eds }) => encodeFields([1, name], ...edsSource(eds), [28, label], ...edsType(eds)),
  eds: (name, label, { leds }) => encodeFields([1, name], ...(label === EMPTY ? [] : [endpointsIn(label, leds)])),
  // Only the wrapper has the name, so the content must make resources distinct.
  leds: (name, label) => encodeFields([5, `${name} ${label}`]),
  lds: (name, label, { rds, filter }) =>
    encodeFields([1, name], ...filterChain([...routesFrom(rds), ...configFrom(filter)]), [28, label]),
  rds: (name, label, { cluster, vhds }) =>
    encodeFields(
      [1, name],
      [2, virtualHost(label, cluster)],
      ...(vhds ? [[9, encodeFields([1, ADS_SOURCE])] as const] : []),
    ),
  trds: (name, label, { cluster }) =>
    encodeFields([1, name], [2, encodeFields([1, encodeFields([1, label])], [2, encodeFields([1, cluster ?? "c"])])]),
  srds: (name, label, { keyless }) =>
    encodeFields([1, name], [2, label], ...(keyless ? [] : [[3, encodeFields([1, encodeFields([1, name])])] as const])),
  vhds: (name, label, { cluster }) => virtualHost(label, cluster, name),
  sds: (name, label) => encodeFields([1, name], [5, encodeFields([1, encodeFields([3, label])])]),
  rtds: (name, label) => encodeFields([1, name], [2, structOf("label", label)]),
  ecds: (name, label) => encodeFields([1, name], [2, anyOf("google.protobuf.StringValue", encodeFields([1, label]))]),
  opaque: (name, label) => new TextEncoder().encode(`${name}@${label}`),
};

/** The label of a ClusterLoadAssignment without endpoints. */
export const EMPTY = "empty";

function edsSource(name: string | undefined): Field[] {
  return name === undefined ? [] : [[3, encodeFields([1, ADS_SOURCE], [2, name])]];
}

function edsType(name: string | undefined): Field[] {
  const EDS = 3;
  return name === undefined ? [] : [[2, EDS]];
}

function endpointsIn(region: string, leds: string | undefined): Field {
  const collection = leds === undefined ? [] : [[8, encodeFields([1, ADS_SOURCE], [2, leds])] as const];
  return [2, encodeFields([1, encodeFields([1, region])], ...collection)];
}

function filterChain(filters: readonly Field[]): Field[] {
  return filters.length === 0 ? [] : [[3, encodeFields(...filters)]];
}

function routesFrom(name: string | undefined): Field[] {
  if (name === undefined) return [];
  const manager = encodeFields([2, "in"], [3, encodeFields([1, ADS_SOURCE], [2, name])]);
  const type = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
  return [[3, encodeFields([1, "http"], [4, anyOf(type, manager)])]];
}

function configFrom(name: string | undefined): Field[] {
  return name === undefined ? [] : [[3, encodeFields([1, name], [5, encodeFields([1, ADS_SOURCE])])]];
}

function virtualHost(label: string, cluster: string | undefined, name = "host"): Uint8Array {
  const route = encodeFields([1, encodeFields([1, "/"])], [2, encodeFields([1, cluster ?? ""])]);
  return encodeFields([1, name], [2, label], ...(cluster === undefined ? [] : [[3, route] as const]));
}

const METADATA_BEFORE = "case ";

/** A `core.v3.Metadata` with a text and an unknown field. */
function metadataOf(text: string): Uint8Array {
  const entry = encodeFields([1, "debug"], [2, structOf("note", `${METADATA_BEFORE}${text}`)]);
  return encodeFields([1, entry], [999, text]);
}

/** The text in a case's metadata; undefined if the bytes differ from it in any way. */
export function textInMetadata(bytes: Uint8Array): string | undefined {
  const given = textOfBytes(bytes);
  const text = given.slice(given.lastIndexOf(METADATA_BEFORE) + METADATA_BEFORE.length).split(/[^ -~]/)[0];
  return text !== undefined && given === textOfBytes(metadataOf(text)) ? text : undefined;
}

function structOf(key: string, text: string): Uint8Array {
  return encodeFields([1, encodeFields([1, key], [2, encodeFields([3, text])])]);
}

function anyOf(message: string, value: Uint8Array): Uint8Array {
  return encodeFields([1, `type.googleapis.com/${message}`], [2, value]);
}
