import type { Node } from "../node/node.ts";
import type { Dialect, DialectOverrides } from "./dialect.ts";

/** The editions of the protocol page by their age (requirements 4.1). */
export type Edition = "2018" | "2020" | "2021" | "current";

const current: Dialect = {
  legacyWildcard: { otherwise: true },
  wildcardSticky: false,
  ignoreHints: false,
  deltaMissing: { otherwise: "removed" },
  resourceErrors: "failed",
  errorsEndWaiting: true,
  deltaRemovals: { otherwise: "at-once" },
  deltaOnePerResponse: false,
  // Clients made of gRPC's libraries take 4 MiB (client-behaviours F1).
  maxResponseBytes: 3.5 * 1024 * 1024,
  maySplit: { otherwise: true },
  nackByVersion: false,
  staleNonce: "ignore",
  resumeSkip: { otherwise: false },
  resendEdsOnClusterChange: true,
  unknownType: "ignore",
  nodeChange: "ignore",
  makeBeforeBreak: true,
  orderLimitMs: 30_000,
  resumeGraceMs: 1_000,
  separateResumeGraceMs: 30_000,
  ackLimitMs: 30_000,
  withheldAckLimitMs: { otherwise: undefined },
  // A VirtualHost without a body says that there is none, so nothing could keep one alive (B-TTL-17).
  ttl: {
    delta: { otherwise: "if-announced", vhds: "never" },
    sotw: { otherwise: "if-announced", vhds: "never" },
    "aggregated-sotw": { otherwise: "if-announced", vhds: "never" },
  },
  ttlWithoutFeature: false,
  restLongPoll: true,
  nackMayBeOfOlder: { otherwise: false },
};

const editions: Readonly<Record<Edition, DialectOverrides>> = {
  "2018": {
    legacyWildcard: { otherwise: false, lds: true, cds: true },
    wildcardSticky: true,
    ignoreHints: true,
    deltaMissing: { otherwise: "none" },
    resourceErrors: "off",
    nackByVersion: true,
  },
  "2020": {
    legacyWildcard: { otherwise: false, lds: true, cds: true },
    wildcardSticky: true,
    deltaMissing: { otherwise: "empty-resource" },
    resourceErrors: "off",
    nackByVersion: true,
  },
  "2021": {
    legacyWildcard: { otherwise: false, lds: true, cds: true, srds: true },
    wildcardSticky: true,
    deltaMissing: { otherwise: "empty-resource" },
    resourceErrors: "off",
  },
  current: {},
};

/** A real client that is known by what it calls itself. */
interface KnownClient {
  readonly isNamed: (userAgentName: string) => boolean;
  readonly overrides: DialectOverrides;
}

const knownClients: readonly KnownClient[] = [
  {
    // Envoy 1.39 (client-behaviours 0.1): a listener waits for ever on `removed_resources` of its route (C3), a removed
    // ECDS filter fails live traffic (C3), an unknown virtual host is a body-less Resource (H3), and CDS answers on ADS
    // are settled only when nothing warms, sometimes on the wrong nonce (A16). It takes a response of any size, and the first
    // one of a type for all there is, so only what it waits for name by name may be split (D9). It reads no `resource_errors` (B1, D7).
    // It announces nothing and knows ttls (E1); one that expires crashes it on State of the World ADS, but for three kinds,
    // and one of an ECDS filter fails traffic (E6).
    isNamed: (name) => name === "envoy",
    overrides: {
      legacyWildcard: { otherwise: false, lds: true, cds: true, srds: true, vhds: true },
      deltaMissing: { otherwise: "removed", rds: "none", ecds: "none", vhds: "empty-resource" },
      deltaRemovals: { otherwise: "at-once", ecds: "when-unreferenced" },
      errorsEndWaiting: false,
      maySplit: { otherwise: false, eds: true, leds: true, rds: true, sds: true },
      withheldAckLimitMs: { otherwise: undefined, cds: 1_000 },
      nackMayBeOfOlder: { otherwise: false, cds: true },
      ttl: {
        delta: { otherwise: "always", vhds: "never", ecds: "never" },
        sotw: { otherwise: "always", vhds: "never", ecds: "never" },
        "aggregated-sotw": { otherwise: "never", cds: "always", lds: "always", rtds: "always" },
      },
    },
  },
  {
    // gRPC clients never mean everything by naming nothing (client-behaviours 0.1, A10).
    isNamed: (name) => name.startsWith("gRPC"),
    overrides: { legacyWildcard: { otherwise: false } },
  },
];

/** The dialect of a stream: what the operator switched, over the client's row, over the edition. */
export function dialectFor(node: Node, edition: Edition = "current", overrides: DialectOverrides = {}): Dialect {
  const client = knownClients.find((known) => known.isNamed(node.userAgentName));
  return { ...current, ...editions[edition], ...client?.overrides, ...overrides };
}
