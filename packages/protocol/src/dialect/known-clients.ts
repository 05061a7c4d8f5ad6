import type { Node } from "../node/node.ts";
import type { DialectOverrides } from "./dialect.ts";

/** A real client that is known by what it calls itself. */
export interface KnownClient {
  /** As people call it. */
  readonly name: string;
  readonly isNamed: (userAgentName: string) => boolean;
  readonly overrides: DialectOverrides;
}

/** The rows of real clients: where one differs from what every edition says. */
export const knownClients: readonly KnownClient[] = [
  {
    // Envoy 1.39 (client-behaviours 0.1): a listener waits for ever on `removed_resources` of its route (C3), a removed
    // ECDS filter fails live traffic (C3), an unknown virtual host is a body-less Resource (H3), and CDS answers on ADS
    // are settled only when nothing warms, sometimes on the wrong nonce (A16). It takes a response of any size, and the first
    // one of a type for all there is, so only what it waits for name by name may be split (D9). It reads no `resource_errors` (B1, D7).
    // It announces nothing and knows ttls (E1); one that expires crashes it on State of the World ADS, but for three kinds,
    // and one of an ECDS filter fails traffic (E6).
    name: "Envoy",
    isNamed: (name) => name === "envoy",
    overrides: {
      wildcardTypes: { otherwise: false, lds: true, cds: true, srds: true, vhds: true },
      deltaMissing: { otherwise: "removed", rds: "none", ecds: "none", vhds: "empty-resource" },
      deltaRemovals: { otherwise: "at-once", ecds: "when-unreferenced" },
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
    // It leaves out the first of the clusters whose load it is asked for (client-behaviours H8); else as all of gRPC.
    name: "gRPC Node",
    isNamed: (name) => name === "gRPC Node Pure JS",
    overrides: { wildcardTypes: { otherwise: false }, lrsIgnoresFirstCluster: true },
  },
  {
    // gRPC clients never mean everything by naming nothing (client-behaviours 0.1, A10).
    name: "gRPC",
    isNamed: (name) => name.startsWith("gRPC"),
    overrides: { wildcardTypes: { otherwise: false } },
  },
];

/** The row of a client; undefined for one that nobody knows. */
export function knownClientOf({ userAgentName }: Node): KnownClient | undefined {
  return knownClients.find(({ isNamed }) => isNamed(userAgentName));
}
