import { hash } from "node:crypto";
import {
  type Constraints,
  createResource,
  createResourceError,
  formatTypeUrl,
  type Reference,
  type Resource,
  type ResourceInput,
  type TypeUrl,
} from "@xdskit/protocol";
import { type Digest, type TypeTraits, virtualHostTerms } from "@xdskit/protocol/internal";

/** One call of `hash` for each: an object of `createHash` would cost properties a tenth of their time. */
export const digest: Digest = (parts) => {
  let framed = "";
  for (const part of parts) {
    const text = typeof part === "string" ? part : Buffer.from(part).toString("latin1");
    framed += `${text.length}:${text}`;
  }
  return BigInt(`0x${hash("sha256", framed).slice(0, 32)}`);
};

export const LISTENER: TypeUrl = formatTypeUrl("envoy.config.listener.v3.Listener");
export const ROUTE: TypeUrl = formatTypeUrl("envoy.config.route.v3.RouteConfiguration");
export const CLUSTER: TypeUrl = formatTypeUrl("envoy.config.cluster.v3.Cluster");
export const ENDPOINTS: TypeUrl = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
export const SCOPE: TypeUrl = formatTypeUrl("envoy.config.route.v3.ScopedRouteConfiguration");
export const HOST: TypeUrl = formatTypeUrl("envoy.config.route.v3.VirtualHost");
export const LB_ENDPOINT: TypeUrl = formatTypeUrl("envoy.config.endpoint.v3.LbEndpoint");
export const EXTENSION: TypeUrl = formatTypeUrl("envoy.config.core.v3.TypedExtensionConfig");
export const SECRET: TypeUrl = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");
export const UNKNOWN: TypeUrl = formatTypeUrl("acme.Unheard");

/** The words of a label that begin with `:`. */
function addressesInLabel(bytes: Uint8Array): readonly string[] {
  return new TextDecoder().decode(bytes).match(/:\w+/g) ?? [];
}

const described: readonly TypeTraits[] = [
  { type: LISTENER, kind: "lds", isFullState: true, owes: [], addressesIn: addressesInLabel },
  { type: ROUTE, kind: "rds", isFullState: false, owes: [] },
  { type: CLUSTER, kind: "cds", isFullState: true, owes: [ENDPOINTS] },
  { type: ENDPOINTS, kind: "eds", isFullState: false, owes: [] },
  { type: SECRET, kind: "sds", isFullState: false, owes: [] },
  { type: EXTENSION, kind: "ecds", isFullState: false, owes: [] },
  { type: SCOPE, kind: "srds", isFullState: true, owes: [] },
  { type: HOST, kind: "vhds", isFullState: false, owes: [], terms: virtualHostTerms, owner: ROUTE },
  { type: LB_ENDPOINT, kind: "leds", isFullState: false, owes: [] },
];

/** The types that these tests know. */
export function traits(type: TypeUrl): TypeTraits | undefined {
  return described.find((one) => one.type === type);
}

/** What a client is sent in place of endpoints that a Cluster refers to and that do not exist. */
export function noEndpoints(name: string): Uint8Array {
  return new TextEncoder().encode(`${name}=none`);
}

/** The same, where a client is sent an empty list in place of endpoints that do not exist. */
export function traitsWithPlaceholders(type: TypeUrl): TypeTraits | undefined {
  const known = traits(type);
  return known?.type === ENDPOINTS ? { ...known, placeholder: noEndpoints } : known;
}

export interface Extras {
  readonly constraints?: Constraints;
  readonly aliases?: readonly string[];
  readonly onDemand?: boolean;
  readonly version?: string;
  readonly ttlMs?: number;
  readonly references?: readonly Reference[];
}

/** A resource whose bytes are a label; a cluster refers to its endpoints. */
export function resource(type: TypeUrl, name: string, label: string, extras: Extras = {}): Resource {
  const references = extras.references ?? (type === CLUSTER ? [{ type: ENDPOINTS, name }] : []);
  const input: ResourceInput = {
    type,
    name,
    bytes: new TextEncoder().encode(`${name}=${label}`),
    ...extras,
    references,
  };
  return createResource(input, digest);
}

/** A Cluster that refers to nothing. */
export function plain(name: string, label = "1"): Resource {
  return resource(CLUSTER, name, label, { references: [] });
}

/** The route `r`, which goes to this Cluster. */
export function routeTo(cluster: string): Resource {
  return resource(ROUTE, "r", cluster, { references: [{ type: CLUSTER, name: cluster }] });
}

/** An error in place of a resource. */
export function failure(type: TypeUrl, name: string, code: number, message = "why"): Resource {
  return createResourceError({ type, name, error: { code, message } }, digest);
}
