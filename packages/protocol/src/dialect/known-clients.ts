import type { Node } from "../node/node.ts";
import type { DialectOverrides } from "./dialect.ts";

/** A real client implementation, recognised by its user agent name. */
export interface KnownClient {
  /** Display name. */
  readonly name: string;
  readonly isNamed: (userAgentName: string) => boolean;
  readonly overrides: DialectOverrides;
}

/** The behaviour of each known client where it differs from the editions. */
export const knownClients: readonly KnownClient[] = [
  {
    // Envoy 1.39 (client-behaviours 0.1): a listener waits for ever on `removed_resources` of its route (C3), a removed
    // ECDS filter fails live traffic, also that of a Listener that drains (C3), an unknown virtual host is a Resource
    // without a body (H3), and it settles CDS responses on ADS only when nothing is warming, sometimes with the wrong nonce
    // (A16). It takes responses of any size and treats the first one of a type as complete, so only types that it awaits
    // by name may be split (D9). It ignores `resource_errors` (B1, D7). It advertises no TTL support but honours TTLs (E1);
    // an expired resource crashes it on State of the World ADS, except for three kinds, and an expired ECDS filter fails
    // traffic (E6).
    name: "Envoy",
    isNamed: (name) => name === "envoy",
    overrides: {
      wildcardTypes: { otherwise: false, lds: true, cds: true, srds: true, vhds: true },
      deltaMissing: { otherwise: "removed", rds: "none", ecds: "none", vhds: "empty-resource" },
      deltaRemovals: { otherwise: "at-once", ecds: "never" },
      errorsEndWaiting: false,
      maySplit: { otherwise: false, eds: true, leds: true, rds: true, sds: true },
      withheldAckLimitMs: { otherwise: undefined, cds: 1_000 },
      nackMayBeOfOlder: { otherwise: false, cds: true },
      ttlDelta: { otherwise: "always", vhds: "never", ecds: "never" },
      ttlSotw: { otherwise: "always", vhds: "never", ecds: "never" },
      ttlAggregatedSotw: { otherwise: "never", cds: "always", lds: "always", rtds: "always" },
    },
  },
  {
    // Skips the first cluster that it is asked to report load for (client-behaviours H8); otherwise like every gRPC
    // client.
    name: "gRPC Node",
    isNamed: (name) => name === "gRPC Node Pure JS",
    overrides: { wildcardTypes: { otherwise: false }, lrsIgnoresFirstCluster: true },
  },
  {
    // gRPC clients never mean a wildcard by an empty request (client-behaviours 0.1, A10).
    name: "gRPC",
    isNamed: (name) => name.startsWith("gRPC"),
    overrides: { wildcardTypes: { otherwise: false } },
  },
];

/** Returns the known client that a node belongs to; undefined for an unknown one. */
export function knownClientOf({ userAgentName }: Node): KnownClient | undefined {
  return knownClients.find(({ isNamed }) => isNamed(userAgentName));
}
