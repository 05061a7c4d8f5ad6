import type { Case, Publication, Request, Response, Step } from "../../case.ts";

const start: Publication = {
  cds: [{ is: "x@1", eds: "x" }],
  eds: ["x@1"],
  lds: [{ is: "l@1", rds: "r" }],
  rds: [{ is: "r@1", cluster: "x" }],
};
/** An edit that switches the route from `x` to `y`. */
const swap: Publication = {
  cds: [{ is: "y@1", eds: "y" }, "-x"],
  eds: ["y@1"],
  rds: [{ is: "r@2", cluster: "y" }],
};

/** The client has subscribed to everything in `start`, and ACKed it. */
function inSync(variant: "sotw" | "delta"): readonly Step[] {
  const ask = (...names: readonly string[]): Request =>
    variant === "sotw" ? { names } : names.length === 0 ? {} : { subscribe: names };
  return [
    { publishes: start },
    { receives: ask(), sends: [{ resources: ["x@1"] }] },
    { receives: { type: "eds", ...ask("x") }, sends: [{ type: "eds", resources: ["x@1"] }] },
    { receives: { type: "eds", ack: true } },
    { receives: { ack: true } },
    { receives: { type: "lds", ...ask() }, sends: [{ type: "lds", resources: ["l@1"] }] },
    { receives: { type: "lds", ack: true } },
    { receives: { type: "rds", ...ask("r") }, sends: [{ type: "rds", resources: ["r@1"] }] },
    { receives: { type: "rds", ack: true } },
  ];
}

/** The client has `y` and its endpoints beside `x`, and ACKed them. */
function bothClusters(variant: "sotw" | "delta", edit: Publication = swap): readonly Step[] {
  const added: Response = variant === "sotw" ? { resources: ["x@1", "y@1"], as: "U" } : { resources: ["y@1"] };
  const asksForEndpoints: Request =
    variant === "sotw" ? { type: "eds", names: ["x", "y"] } : { type: "eds", subscribe: ["y"] };
  return [
    { publishes: edit, sends: [added] },
    { receives: asksForEndpoints, sends: [{ type: "eds", resources: ["y@1"] }] },
    { receives: { type: "eds", ack: true } },
    { receives: { ack: true }, sends: [{ type: "rds", resources: ["r@2"] }] },
  ];
}

/** The response that removes `x`. */
function oldGone(variant: "sotw" | "delta"): readonly Response[] {
  return variant === "sotw" ? [{ resources: ["y@1"], version: "not U" }] : [{ removed: ["x"] }];
}

/** The case in both variants. */
function both(make: (variant: "sotw" | "delta") => Omit<Case, "variant" | "type">): readonly Case[] {
  return (["sotw", "delta"] as const).map((variant) => ({ ...make(variant), variant, type: "cds" as const }));
}

/** ORD: make before break. */
export const orderCases: readonly Case[] = [
  ...both((variant) => ({
    id: "S-ORD-01",
    level: "should",
    also: ["S-ORD-02", "S-ORD-03"],
    says: "tells one change as clusters, endpoints, listeners, routes",
    streams: ["ads"],
    steps: [
      ...inSync(variant),
      {
        publishes: {
          cds: [{ is: "x@2", eds: "x" }],
          eds: ["x@2"],
          lds: [{ is: "l@2", rds: "r" }],
          rds: [{ is: "r@2", cluster: "x" }],
        },
        sends: [
          { resources: ["x@2"] },
          { type: "eds", resources: ["x@2"] },
          { type: "lds", resources: ["l@2"] },
          { type: "rds", resources: ["r@2"] },
        ],
      },
    ],
  })),
  {
    id: "S-ORD-04",
    level: "should",
    says: "tells of virtual hosts after the routes that they belong to",
    variant: "delta",
    type: "rds",
    streams: ["ads"],
    steps: [
      { publishes: { rds: ["r@1"], vhds: ["h@1"] } },
      { receives: { subscribe: ["r"] }, sends: [{ resources: ["r@1"] }] },
      { receives: { ack: true } },
      { receives: { type: "vhds", subscribe: ["h"] }, sends: [{ type: "vhds", resources: ["h@1"] }] },
      { receives: { type: "vhds", ack: true } },
      {
        publishes: { vhds: ["h@2"], rds: ["r@2"] },
        sends: [{ resources: ["r@2"] }, { type: "vhds", resources: ["h@2"] }],
      },
    ],
  },
  ...both((variant) => ({
    id: "S-ORD-05",
    level: "should",
    also: ["S-ORD-02", "S-ORD-03", "S-ORD-06", "T-B12", "E17"],
    says: "adds the new cluster, then its endpoints, then the route to it, and removes the old cluster last",
    streams: ["ads"],
    steps: [
      ...inSync(variant),
      ...bothClusters(variant),
      { receives: { type: "rds", ack: true }, sends: oldGone(variant) },
      { receives: { ack: true } },
    ],
  })),
  {
    id: "S-ORD-05/endpoints",
    level: "should",
    says: "tells that the endpoints of the old cluster are gone after the cluster itself, which may be in use until then",
    variant: "delta",
    type: "cds",
    streams: ["ads"],
    steps: [
      ...inSync("delta"),
      ...bothClusters("delta", { ...swap, eds: ["y@1", "-x"] }),
      { receives: { type: "rds", ack: true }, sends: [{ removed: ["x"] }, { type: "eds", removed: ["x"] }] },
      { receives: { type: "eds", ack: true } },
      { receives: { ack: true } },
    ],
  },
  {
    id: "S-ORD-05/endpoints-alone",
    level: "should",
    also: ["S-DEL-04"],
    says: "tells at once that endpoints are gone whose cluster stays",
    variant: "delta",
    type: "cds",
    streams: ["ads"],
    steps: [...inSync("delta"), { publishes: { eds: ["-x"] }, sends: [{ type: "eds", removed: ["x"] }] }],
  },
  ...both((variant) => ({
    id: "S-ORD-05/off",
    also: ["E17"],
    says: "says everything at once where the operator wants that",
    streams: ["ads"],
    setup: { dialect: { makeBeforeBreak: false } },
    steps: [
      ...inSync(variant),
      {
        publishes: swap,
        sends: [
          variant === "sotw" ? { resources: ["y@1"] } : { resources: ["y@1"], removed: ["x"] },
          { type: "rds", resources: ["r@2"] },
        ],
      },
    ],
  })),
  ...both((variant) => ({
    id: "S-ORD-05/unused",
    level: "should",
    says: "removes a cluster at once when nothing that could use it changed",
    streams: ["ads"],
    steps: [
      { publishes: { cds: ["z@1"] } },
      ...inSync(variant).map((step, i) => (i === 1 ? { ...step, sends: [{ resources: ["x@1", "z@1"] }] } : step)),
      { publishes: { cds: ["-z"] }, sends: [variant === "sotw" ? { resources: ["x@1"] } : { removed: ["z"] }] },
    ],
  })),
  ...both((variant) => ({
    id: "S-ORD-06/nack",
    level: "should",
    also: ["T-B12"],
    says: "keeps the old cluster while the route that replaces it is refused, and removes it when the next one is accepted",
    streams: ["ads"],
    steps: [
      ...inSync(variant),
      ...bothClusters(variant),
      { receives: { type: "rds", nack: "no" } },
      { publishes: { eds: ["y@2"] }, sends: [{ type: "eds", resources: ["y@2"] }] },
      { receives: { type: "eds", ack: true } },
      { publishes: { rds: [{ is: "r@3", cluster: "y" }] }, sends: [{ type: "rds", resources: ["r@3"] }] },
      { receives: { type: "rds", ack: true }, sends: oldGone(variant) },
    ],
  })),
  ...both((variant) => ({
    id: "S-ORD-06/limit",
    says: "removes the old cluster from a client that does not answer, after 30 s",
    streams: ["ads"],
    memoryOnly: "30 s would have to pass",
    steps: [
      ...inSync(variant),
      ...bothClusters(variant),
      { passes: 29_000 },
      { passes: 1_000, sends: oldGone(variant) },
    ],
  })),
  ...both((variant) => ({
    id: "S-ORD-06/slow",
    says: "does not wait for ever with a route when the client does not accept the cluster it names",
    streams: ["ads"],
    memoryOnly: "30 s would have to pass",
    steps: [
      ...inSync(variant),
      ...bothClusters(variant).slice(0, 3),
      { passes: 29_000 },
      { passes: 1_000, sends: [{ type: "rds", resources: ["r@2"] }] },
    ],
  })),
  ...both((variant) => ({
    id: "S-ORD-06/unrelated",
    level: "should",
    says: "does not wait with a route for clusters that it does not name",
    streams: ["ads"],
    steps: [
      ...inSync(variant),
      {
        publishes: { cds: [{ is: "y@1", eds: "y" }], rds: [{ is: "r@2", cluster: "x" }] },
        sends: [{ resources: variant === "sotw" ? ["x@1", "y@1"] : ["y@1"] }, { type: "rds", resources: ["r@2"] }],
      },
    ],
  })),
  {
    id: "S-ORD-07",
    level: "own",
    says: "tells of secrets before the listeners that use them",
    variant: "delta",
    type: "lds",
    streams: ["ads"],
    steps: [
      { publishes: { sds: ["s@1"], lds: ["l@1"] } },
      { receives: {}, sends: [{ resources: ["l@1"] }] },
      { receives: { ack: true } },
      { receives: { type: "sds", subscribe: ["s"] }, sends: [{ type: "sds", resources: ["s@1"] }] },
      { receives: { type: "sds", ack: true } },
      {
        publishes: { lds: ["l@2"], sds: ["s@2"] },
        sends: [{ type: "sds", resources: ["s@2"] }, { resources: ["l@2"] }],
      },
    ],
  },
  {
    id: "S-ORD-07/scopes",
    level: "own",
    says: "tells of scopes between listeners and routes",
    variant: "delta",
    type: "lds",
    streams: ["ads"],
    steps: [
      { publishes: { lds: ["l@1"], srds: ["p@1"], rds: ["r@1"] } },
      { receives: {}, sends: [{ resources: ["l@1"] }] },
      { receives: { ack: true } },
      { receives: { type: "srds" }, sends: [{ type: "srds", resources: ["p@1"] }] },
      { receives: { type: "srds", ack: true } },
      { receives: { type: "rds", subscribe: ["r"] }, sends: [{ type: "rds", resources: ["r@1"] }] },
      { receives: { type: "rds", ack: true } },
      {
        publishes: { rds: ["r@2"], srds: ["p@2"], lds: ["l@2"] },
        sends: [{ resources: ["l@2"] }, { type: "srds", resources: ["p@2"] }, { type: "rds", resources: ["r@2"] }],
      },
    ],
  },
  ...both((variant) => ({
    id: "S-ORD-08",
    says: "sends endpoints that change alone at once and alone",
    streams: ["ads"],
    steps: [...inSync(variant), { publishes: { eds: ["x@2"] }, sends: [{ type: "eds", resources: ["x@2"] }] }],
  })),
  ...both((variant) => ({
    id: "S-ORD-10",
    level: "own",
    says: "goes to the newest target in mid-sequence, and keeps what the client still uses",
    streams: ["ads"],
    steps: [
      ...inSync(variant),
      ...bothClusters(variant).slice(0, 3),
      { publishes: { cds: [{ is: "z@1", eds: "z" }, "-y"], rds: [{ is: "r@3", cluster: "z" }], eds: ["z@1"] } },
      {
        receives: { ack: true },
        sends: [variant === "sotw" ? { resources: ["x@1", "y@1", "z@1"] } : { resources: ["z@1"] }],
      },
      {
        receives: variant === "sotw" ? { type: "eds", names: ["x", "y", "z"] } : { type: "eds", subscribe: ["z"] },
        sends: [{ type: "eds", resources: ["z@1"] }],
      },
      { receives: { type: "eds", ack: true } },
      { receives: { ack: true }, sends: [{ type: "rds", resources: ["r@3"] }] },
      {
        receives: { type: "rds", ack: true },
        sends: [variant === "sotw" ? { resources: ["z@1"] } : { removed: ["x", "y"] }],
      },
    ],
  })),
  {
    id: "S-ORD-05/comes-back",
    level: "should",
    also: ["S-ORD-06", "S-ORD-10"],
    says: "goes on where it was with a client that comes back in the middle of a swap, by the version that it reports",
    variant: "sotw",
    type: "cds",
    streams: ["ads"],
    steps: [
      ...inSync("sotw"),
      { publishes: swap, sends: [{ resources: ["x@1", "y@1"], as: "U" }] },
      { receives: { type: "eds", names: ["x", "y"] }, sends: [{ type: "eds", resources: ["y@1"] }] },
      { receives: { type: "eds", ack: true } },
      { receives: { ack: true }, sends: [{ type: "rds", resources: ["r@2"], as: "R" }] },
      { breaks: "c1" },
      {
        receives: { names: [], version: "of U" },
        on: "again",
        sends: [{ on: "again", resources: ["x@1", "y@1"], version: "same as U" }],
      },
      { receives: { ack: true }, on: "again" },
      {
        receives: { type: "rds", names: ["r"], version: "before" },
        on: "again",
        sends: [{ on: "again", type: "rds", resources: ["r@2"], version: "same as R" }],
      },
      { passes: 1_000 },
      {
        receives: { type: "rds", ack: true },
        on: "again",
        sends: [{ on: "again", resources: ["y@1"], version: "not U" }],
      },
    ],
  },
  {
    id: "S-REC-09/order",
    level: "own",
    also: ["S-ORD-05", "S-ORD-06"],
    says: "removes a cluster that a client comes back with when the client has accepted what does not use it any more",
    variant: "delta",
    type: "cds",
    streams: ["ads"],
    steps: [
      ...inSync("delta"),
      { breaks: "c1" },
      { publishes: swap },
      { receives: { initial: ["x@1"] }, on: "again", sends: [{ on: "again", resources: ["y@1"] }] },
      {
        receives: { type: "eds", subscribe: ["x", "y"], initial: ["x@1"] },
        on: "again",
        sends: [{ on: "again", type: "eds", resources: ["y@1"] }],
      },
      { receives: { type: "rds", subscribe: ["r"], initial: ["r@1"] }, on: "again" },
      { receives: { type: "eds", ack: true }, on: "again" },
      {
        receives: { ack: true },
        on: "again",
        sends: [{ on: "again", type: "rds", resources: ["r@2"] }],
      },
      { passes: 1_000 },
      { receives: { type: "rds", ack: true }, on: "again", sends: [{ on: "again", removed: ["x"] }] },
    ],
  },
  {
    id: "S-REC-09/grace",
    level: "own",
    says: "gives a client that comes back a second to ask for what uses a cluster that is gone",
    variant: "delta",
    type: "cds",
    streams: ["ads"],
    steps: [
      ...inSync("delta"),
      { breaks: "c1" },
      { publishes: swap },
      { receives: { initial: ["x@1"] }, on: "again", sends: [{ on: "again", resources: ["y@1"] }] },
      { receives: { ack: true }, on: "again" },
      { passes: 1_000, sends: [{ on: "again", removed: ["x"] }] },
    ],
  },
  {
    id: "S-REC-09/warming",
    level: "own",
    also: ["S-WRM-11", "T-A16"],
    says: "does not send a changed route to a client that comes back before that asks for clusters",
    variant: "delta",
    type: "cds",
    streams: ["ads"],
    steps: [
      ...inSync("delta"),
      { breaks: "c1" },
      { publishes: swap },
      { receives: { type: "rds", subscribe: ["r"], initial: ["r@1"] }, on: "again" },
      { receives: { initial: ["x@1"] }, on: "again", sends: [{ on: "again", resources: ["y@1"] }] },
      { receives: { ack: true }, on: "again", sends: [{ on: "again", type: "rds", resources: ["r@2"] }] },
    ],
  },
];
