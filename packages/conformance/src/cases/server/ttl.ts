import type { Case, NodeSpec, Publication, Request, Response, Step } from "../../case.ts";

const TTL = "xds.config.supports-resource-ttl";
const WRAPPER = "xds.config.resource-in-sotw";
const WRAPPER_AS_PRINTED = "xds.config.supports-resource-in-sotw";

const knowsTtls: NodeSpec = { id: "n1", features: [TTL, WRAPPER] };
/** With this TTL, heartbeats are due every second. */
const TTL_MS = 3_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const FOR = `for ${TTL_MS} ms`;

type Variant = "sotw" | "delta";

/** The case in both variants. */
function both(make: (variant: Variant) => Omit<Case, "variant">): readonly Case[] {
  return (["sotw", "delta"] as const).map((variant) => ({ ...make(variant), variant }));
}

function ask(variant: Variant, ...names: readonly string[]): Request {
  if (variant === "sotw") return { names };
  return names.length === 0 ? {} : { subscribe: names };
}

/** A client of the given node subscribes to endpoints, receives and ACKs them. */
function told(variant: Variant, node: NodeSpec, published: Publication, sent: readonly string[]): readonly Step[] {
  return [
    { publishes: published },
    { opens: { main: { node } } },
    { receives: ask(variant, "a", "b"), sends: [{ resources: sent, as: "A" }] },
    { receives: { ack: true } },
  ];
}

const oneTimed: Publication = { eds: [{ is: "a@1", ttl: TTL_MS }, "b@1"] };

/** The heartbeat due after one second is skipped, because the resource was just sent; the next one is sent. */
function beat(response: Response): readonly Step[] {
  return [{ passes: 1_500 }, { passes: 1_000, sends: [response] }];
}

/** The heartbeat for the endpoints `a@1`. */
function confirmation(variant: Variant): Response {
  return variant === "delta" ? { heartbeats: [`a@1 ${FOR}`] } : { resources: [`a@1 ${FOR}`], version: "same as A" };
}

/** TTL: expiry and heartbeats. */
export const ttlCases: readonly Case[] = [
  {
    id: "S-TTL-01",
    says: "tells a client that announces it how long it may keep a resource",
    variant: "delta",
    type: "eds",
    steps: told("delta", { id: "n1", features: [TTL] }, oneTimed, [`a@1 ${FOR}`, "b@1"]),
  },
  ...both((variant) => ({
    id: variant === "delta" ? "S-TTL-01/unannounced" : "S-TTL-02/unannounced",
    also: ["T-E1", "T-E5"],
    says: "tells nothing of it to a client that does not, and says no more to it when the ttl changes",
    type: "eds",
    steps: [
      ...told(variant, "n1", oneTimed, ["a@1", "b@1"]),
      { publishes: { eds: [{ is: "a@1", ttl: 9_000 }] } },
      { publishes: { eds: ["a@1"] } },
    ],
  })),
  {
    id: "S-TTL-01/quiet",
    also: ["T-E1"],
    says: "sends no heartbeats to a client that does not know them",
    variant: "delta",
    type: "eds",
    memoryOnly: "minutes would have to pass",
    steps: [...told("delta", "n1", oneTimed, ["a@1", "b@1"]), { passes: 300_000 }],
  },
  ...both((variant) => ({
    id: variant === "delta" ? "S-TTL-01/switch" : "S-TTL-02/switch",
    also: ["E23"],
    says: "tells everybody where the operator wants that",
    type: "eds",
    setup: { dialect: { ttlWithoutFeature: true } },
    steps: told(variant, "n1", oneTimed, [`a@1 ${FOR}`, "b@1"]),
  })),
  ...[[WRAPPER, ""] as const, [WRAPPER_AS_PRINTED, "/as-printed"] as const].map(
    ([feature, suffix]): Case => ({
      id: `S-TTL-02${suffix}`,
      also: feature === WRAPPER ? ["T-E5"] : ["T-E5", "E24"],
      says: `wraps what has a ttl, and nothing else, for a client that announces ${feature}`,
      variant: "sotw",
      type: "eds",
      steps: told("sotw", { id: "n1", features: [TTL, feature] }, oneTimed, [`a@1 ${FOR}`, "b@1"]),
    }),
  ),
  ...[TTL, WRAPPER].map(
    (feature, i): Case => ({
      id: `S-TTL-02/half-${i + 1}`,
      also: ["T-E1", "T-E5"],
      says: `wraps nothing for a client that announces ${feature} alone`,
      variant: "sotw",
      type: "eds",
      steps: told("sotw", { id: "n1", agent: "gRPC C-core", features: [feature] }, oneTimed, ["a@1", "b@1"]),
    }),
  ),
  {
    id: "S-TTL-01/envoy",
    says: "tells Envoy, which announces nothing",
    variant: "delta",
    type: "eds",
    steps: told("delta", { id: "n1", agent: "envoy" }, oneTimed, [`a@1 ${FOR}`, "b@1"]),
  },
  {
    id: "S-TTL-02/envoy-ads",
    also: ["T-E6"],
    says: "keeps from Envoy, on one stream for all types, ttls whose end would crash it",
    variant: "sotw",
    type: "cds",
    streams: ["ads"],
    steps: [
      { publishes: { cds: [{ is: "c@1", ttl: TTL_MS }], eds: [{ is: "a@1", ttl: TTL_MS }] } },
      { opens: { main: { node: { id: "n1", agent: "envoy" } } } },
      { receives: {}, sends: [{ resources: [`c@1 ${FOR}`] }] },
      { receives: { ack: true } },
      { receives: { type: "eds", names: ["a"] }, sends: [{ type: "eds", resources: ["a@1"] }] },
      { receives: { type: "eds", ack: true } },
    ],
  },
  {
    id: "S-TTL-02/envoy-per-type",
    also: ["T-E6"],
    says: "tells Envoy on a stream for each type, where the end of a ttl does no harm",
    variant: "sotw",
    type: "eds",
    streams: ["per-type"],
    steps: told("sotw", { id: "n1", agent: "envoy" }, oneTimed, [`a@1 ${FOR}`, "b@1"]),
  },
  ...both((variant) => ({
    id: "S-TTL-08",
    says: "tells of another ttl, and of none, by the same version",
    type: "eds",
    steps: [
      ...told(variant, knowsTtls, oneTimed, [`a@1 ${FOR}`, "b@1"]),
      {
        publishes: { eds: [{ is: "a@1", ttl: 9_000 }] },
        sends: [{ resources: ["a@1 for 9000 ms"], version: "same as A" }],
      },
      { receives: { ack: true } },
      { publishes: { eds: ["a@1"] }, sends: [{ resources: ["a@1"], version: "same as A" }] },
      { receives: { ack: true } },
      { publishes: { eds: [{ is: "b@1", ttl: 60_000 }] }, sends: [{ resources: ["b@1 for 60000 ms"] }] },
    ],
  })),
  ...both((variant) => ({
    id: "S-TTL-08/view",
    says: "tells of another ttl that a move to other layers brings",
    type: "eds",
    setup: { nodeMapping: { n1: ["group/a", "base"] } },
    steps: [
      { publishes: [{ eds: ["a@1"] }, { layer: "group/a", eds: [{ is: "a@1", ttl: TTL_MS }] }] },
      { opens: { main: { node: knowsTtls } } },
      { receives: ask(variant, "a"), sends: [{ resources: [`a@1 ${FOR}`] }] },
      { receives: { ack: true } },
      { moves: { n1: ["base"] }, sends: [{ resources: ["a@1"] }] },
    ],
  })),
  {
    id: "S-TTL-08/reconnect",
    also: ["T-E4"],
    says: "sends anew on a new stream what has a ttl, and what had one, whatever version is held",
    variant: "delta",
    type: "cds",
    steps: [
      {
        publishes: { cds: [{ is: "a@1", ttl: TTL_MS }, { is: "b@1", ttl: TTL_MS }, "c@1"] },
      },
      { opens: { main: { node: knowsTtls } } },
      { receives: {}, sends: [{ resources: [`a@1 ${FOR}`, `b@1 ${FOR}`, "c@1"] }] },
      { breaks: "c1" },
      { publishes: { cds: ["b@1"] } },
      { opens: { main: { node: knowsTtls } } },
      { receives: { initial: ["a@1", "b@1", "c@1"] }, sends: [{ resources: [`a@1 ${FOR}`, "b@1"] }] },
    ],
  },
  {
    id: "S-TTL-08/resume",
    also: ["T-E4"],
    says: "sends what has a ttl to a client that comes back with the current version",
    variant: "sotw",
    type: "cds",
    setup: { dialect: { resumeSkip: { otherwise: true } } },
    steps: [
      { publishes: { cds: [{ is: "a@1", ttl: TTL_MS }] } },
      { opens: { main: { node: knowsTtls } } },
      { receives: {}, sends: [{ resources: [`a@1 ${FOR}`], as: "A" }] },
      { receives: { ack: true } },
      { breaks: "c1" },
      { opens: { main: { node: knowsTtls } } },
      { receives: { version: "of A" }, sends: [{ resources: [`a@1 ${FOR}`], version: "same as A" }] },
    ],
  },
  ...both((variant) => ({
    id: "S-TTL-09",
    also: ["S-TTL-14", "T-E3"],
    says:
      variant === "delta"
        ? "keeps a resource alive by its name, its version and its ttl alone"
        : "keeps a resource alive by sending it whole, at the same version",
    type: "eds",
    steps: [
      ...told(variant, knowsTtls, oneTimed, [`a@1 ${FOR}`, "b@1"]),
      ...beat(confirmation(variant)),
      { receives: { ack: true } },
      { passes: 1_000, sends: [confirmation(variant)] },
    ],
  })),
  ...both((variant) => ({
    id: "S-TTL-12",
    also: ["T-E2"],
    says:
      variant === "sotw"
        ? "keeps one cluster alive by listing all of them"
        : "keeps one cluster alive by itself, which in delta takes nothing away",
    type: "cds",
    steps: [
      { publishes: { cds: [{ is: "a@1", ttl: TTL_MS }, "b@1"] } },
      { opens: { main: { node: knowsTtls } } },
      { receives: {}, sends: [{ resources: [`a@1 ${FOR}`, "b@1"], as: "A" }] },
      { receives: { ack: true } },
      ...beat(
        variant === "sotw"
          ? { resources: [`a@1 ${FOR}`, "b@1"], version: "same as A" }
          : { heartbeats: [`a@1 ${FOR}`] },
      ),
    ],
  })),
  ...both((variant) => ({
    id: "S-TTL-12/held-over",
    also: ["S-ORD-05"],
    says: "keeps a cluster alive that is gone, as long as the client may use it",
    type: "cds",
    streams: ["ads"],
    steps: [
      { publishes: { cds: [{ is: "a@1", ttl: TTL_MS }], lds: ["l@1"] } },
      { opens: { main: { node: knowsTtls } } },
      { receives: {}, sends: [{ resources: [`a@1 ${FOR}`] }] },
      { receives: { ack: true } },
      { receives: { type: "lds" }, sends: [{ type: "lds", resources: ["l@1"] }] },
      { receives: { type: "lds", ack: true } },
      { publishes: { cds: ["-a"], lds: ["l@2"] }, sends: [{ type: "lds", resources: ["l@2"] }] },
      ...beat(variant === "sotw" ? { resources: [`a@1 ${FOR}`] } : { heartbeats: [`a@1 ${FOR}`] }),
      { receives: { type: "lds", ack: true }, sends: [variant === "sotw" ? {} : { removed: ["a"] }] },
    ],
  })),
  ...both((variant) => ({
    id: "S-TTL-14",
    says: "keeps a resource alive also while the client owes an answer",
    type: "eds",
    steps: [
      { publishes: oneTimed },
      { opens: { main: { node: knowsTtls } } },
      { receives: ask(variant, "a", "b"), sends: [{ resources: [`a@1 ${FOR}`, "b@1"], as: "A" }] },
      { publishes: { eds: [{ is: "a@2", ttl: 9_000 }] } },
      ...beat(confirmation(variant)),
    ],
  })),
  ...both((variant) => ({
    id: "S-TTL-14/given-up",
    says: "sends no heartbeats of what was given up",
    type: "eds",
    memoryOnly: "a minute would have to pass",
    steps: [
      ...told(variant, knowsTtls, oneTimed, [`a@1 ${FOR}`, "b@1"]),
      { receives: variant === "sotw" ? { names: ["b"] } : { unsubscribe: ["a"] } },
      { passes: 60_000 },
    ],
  })),
  ...both((variant) => ({
    id: "S-TTL-14/long",
    says: "renews a ttl of weeks once a day",
    type: "eds",
    memoryOnly: "days would have to pass",
    steps: [
      ...told(variant, knowsTtls, { eds: [{ is: "a@1", ttl: 90 * DAY_MS }, "b@1"] }, [
        `a@1 for ${90 * DAY_MS} ms`,
        "b@1",
      ]),
      { passes: 1.5 * DAY_MS },
      {
        passes: DAY_MS,
        sends: [
          variant === "delta"
            ? { heartbeats: [`a@1 for ${90 * DAY_MS} ms`] }
            : { resources: [`a@1 for ${90 * DAY_MS} ms`] },
        ],
      },
    ],
  })),
  {
    id: "S-TTL-16",
    says: "sends the whole resource once to a client that refuses its heartbeat",
    variant: "delta",
    type: "eds",
    steps: [
      ...told("delta", knowsTtls, oneTimed, [`a@1 ${FOR}`, "b@1"]),
      ...beat(confirmation("delta")),
      { receives: { nack: "not what I hold" }, sends: [{ resources: [`a@1 ${FOR}`] }] },
      { receives: { nack: "nor this" } },
    ],
  },
  ...[knowsTtls, { id: "n1", agent: "envoy" }].map(
    (node, i): Case => ({
      id: `B-TTL-17${i === 0 ? "" : "/envoy"}`,
      says: "tells nobody of the ttl of a virtual host, and sends no heartbeat of one",
      variant: "delta",
      type: "vhds",
      streams: ["ads"],
      memoryOnly: "a minute would have to pass",
      steps: [
        { publishes: { vhds: [{ is: "r/a@1", ttl: TTL_MS }] } },
        { opens: { main: { node } } },
        { receives: { subscribe: ["r/a"] }, sends: [{ resources: ["r/a@1"] }] },
        { receives: { ack: true } },
        { passes: 60_000 },
      ],
    }),
  ),
];
