import type { Case, Publication, Request, Setup, Step } from "../../case.ts";

/** One reading of a rule: the server's setup, and the steps that it leads to. */
interface Reading {
  /** The suffix of the case's id: `2018`, `newest`. */
  readonly name: string;
  readonly says: string;
  readonly setup?: Setup;
  readonly steps: readonly Step[];
}

/** Makes a case for each reading of a row on which editions disagree. */
function readings(
  about: Pick<Case, "id" | "variant" | "type" | "streams" | "isAboutBookings"> & { readonly rows: readonly string[] },
  each: readonly Reading[],
): readonly Case[] {
  const { id, rows, ...rest } = about;
  return each.map(({ name, ...reading }) => ({ id: `${id}/${name}`, also: rows, ...rest, ...reading }));
}

const TTL = "xds.config.supports-resource-ttl";
const WRAPPER = "xds.config.resource-in-sotw";
const timed: Step = { publishes: { eds: [{ is: "a@1", ttl: 3_000 }, "b@1"] } };
const knowsTtls: Step = { opens: { main: { node: { id: "n1", features: [TTL, WRAPPER] } } } };

/** A client has a virtual host and the cluster that it uses. */
const hostInSync: readonly Step[] = [
  { publishes: { cds: ["x@1"], vhds: [{ is: "rc/h@1", cluster: "x" }] } },
  { receives: {}, sends: [{ resources: ["x@1"] }] },
  { receives: { ack: true } },
  { receives: { type: "vhds", subscribe: ["rc/h"] }, sends: [{ type: "vhds", resources: ["rc/h@1"] }] },
  { receives: { type: "vhds", ack: true } },
];
/** The virtual host switches to another cluster. */
const hostMoves: Publication = { cds: ["y@1"], vhds: [{ is: "rc/h@2", cluster: "y" }] };

/** Whole editions, and the rows on which they disagree: what the older one requires, and what the newest does. */
export const editionCases: readonly Case[] = [
  ...(["2018", "2020", "2021"] as const).flatMap((edition) =>
    readings({ id: "S-SUB-14", rows: ["E1"], variant: "sotw", type: "cds" }, [
      {
        name: edition,
        says: `stays with the wildcard for the stream's life in the edition of ${edition}`,
        setup: { edition },
        steps: [
          { publishes: { cds: ["A@1", "B@1"] } },
          { receives: { names: [] }, sends: [{ resources: ["A@1", "B@1"] }] },
          { receives: { ack: true } },
          { receives: { names: ["A"] } },
          { publishes: { cds: ["B@2"] }, sends: [{ resources: ["A@1", "B@2"] }] },
        ],
      },
    ]),
  ),
  ...readings({ id: "S-SUB-08", rows: ["E3", "S-MSC-08"], variant: "delta", type: "eds" }, [
    {
      name: "2020",
      says: "takes naming no endpoints for wanting none in the edition of 2020",
      setup: { edition: "2020" },
      steps: [
        { publishes: { eds: ["a@1"] } },
        { receives: {} },
        { receives: { subscribe: ["a"] }, sends: [{ resources: ["a@1"] }] },
      ],
    },
    {
      name: "switched-off",
      says: "takes naming nothing for wanting nothing of a type for which the operator wants that, and of no other",
      setup: { dialect: { wildcardTypes: { eds: false } } },
      steps: [
        { publishes: { eds: ["a@1"], rds: ["r@1"] } },
        { receives: {} },
        { receives: { subscribe: ["a"] }, sends: [{ resources: ["a@1"] }] },
      ],
    },
    {
      name: "newest",
      says: "takes naming no endpoints for wanting all of them",
      steps: [{ publishes: { eds: ["a@1"] } }, { receives: {}, sends: [{ resources: ["a@1"] }] }],
    },
  ]),
  ...readings({ id: "S-MSC-08", rows: ["E3"], variant: "sotw", type: "rds", streams: ["ads"] }, [
    {
      name: "one-type",
      says: "has a legacy wildcard for each type for itself",
      setup: { dialect: { wildcardTypes: { eds: false } } },
      steps: [
        { publishes: { eds: ["a@1"], rds: ["r@1"] } },
        { receives: { names: [] }, sends: [{ resources: ["r@1"] }] },
        { receives: { ack: true } },
        { receives: { type: "eds", names: [] } },
      ],
    },
  ]),
  ...readings({ id: "S-SUB-08", rows: ["E3"], variant: "delta", type: "srds" }, [
    {
      name: "2021",
      says: "takes naming no scopes for wanting all in delta, in the edition of 2021",
      setup: { edition: "2021" },
      steps: [{ publishes: { srds: ["s@1"] } }, { receives: {}, sends: [{ resources: ["s@1"] }] }],
    },
    {
      name: "2020-scopes",
      says: "takes naming no scopes for wanting none in the edition of 2020",
      setup: { edition: "2020" },
      steps: [
        { publishes: { srds: ["s@1"] } },
        { receives: {} },
        { receives: { subscribe: ["s"] }, sends: [{ resources: ["s@1"] }] },
      ],
    },
  ]),
  ...readings({ id: "S-SUB-08", rows: ["E3"], variant: "sotw", type: "srds" }, [
    {
      name: "2021",
      says: "takes naming no scopes for wanting none in State of the World, in the edition of 2021",
      setup: { edition: "2021" },
      steps: [
        { publishes: { srds: ["s@1"] } },
        { receives: { names: [] } },
        { receives: { names: ["s"] }, sends: [{ resources: ["s@1"] }] },
      ],
    },
  ]),
  ...readings({ id: "S-NEX-07", rows: ["E4"], variant: "delta", type: "cds" }, [
    {
      name: "2018",
      says: "does not say that a name does not exist in the edition of 2018",
      setup: { edition: "2018" },
      steps: [
        { publishes: { cds: ["a@1"] } },
        { receives: { subscribe: ["ghost"] } },
        { receives: { subscribe: ["a"] }, sends: [{ resources: ["a@1"] }] },
      ],
    },
    ...(["2020", "2021"] as const).map((edition) => ({
      name: edition,
      says: `says that a name does not exist by a resource without a body in the edition of ${edition}`,
      setup: { edition },
      steps: [
        { publishes: { cds: ["a@1"] } },
        { receives: { subscribe: ["ghost", "a"] }, sends: [{ resources: ["a@1"], missing: ["ghost"] }] },
      ],
    })),
    {
      name: "newest",
      says: "says that a name does not exist among the removed ones",
      steps: [
        { publishes: { cds: ["a@1"] } },
        { receives: { subscribe: ["ghost", "a"] }, sends: [{ resources: ["a@1"], removed: ["ghost"] }] },
      ],
    },
  ]),
  ...readings({ id: "S-ACK-06", rows: ["E6", "E7"], variant: "sotw", type: "cds", isAboutBookings: true }, [
    ...(["2018", "2020"] as const).map((edition) => ({
      name: edition,
      says: `takes another version than the one sent for a NACK in the edition of ${edition}`,
      setup: { edition },
      steps: [
        { publishes: { cds: ["a@1"] } },
        { receives: { names: [] }, sends: [{ resources: ["a@1"], as: "A" }] },
        { receives: { ack: true, version: "older" }, reports: [{ nacked: "A" }] },
      ] satisfies readonly Step[],
    })),
    {
      name: "newest",
      says: "takes a request without an error for an ACK, whatever its version",
      steps: [
        { publishes: { cds: ["a@1"] } },
        { receives: { names: [] }, sends: [{ resources: ["a@1"], as: "A" }] },
        { receives: { ack: true, version: "older" }, reports: [{ acked: "A" }] },
      ],
    },
  ]),
  ...readings({ id: "B-VER-04", rows: ["E8"], variant: "sotw", type: "lds", streams: ["ads"] }, [
    {
      name: "per-stream",
      says: "does not take the version in a first request for what a client holds, when the operator wants the old reading",
      setup: { dialect: { resumeVersion: false } },
      steps: [
        { publishes: { lds: ["a@1"] } },
        { receives: { names: ["a"] }, sends: [{ resources: ["a@1"], as: "A" }] },
        { receives: { ack: true } },
        { breaks: "c1" },
        { publishes: { lds: ["-a"] } },
        { receives: { names: ["a"], version: "of A" }, on: "again" },
        { publishes: { lds: ["a@2"] }, sends: [{ on: "again", resources: ["a@2"] }] },
      ],
    },
    {
      name: "newest",
      says: "takes the version in a first request for what a client holds, and tells it that it is gone",
      steps: [
        { publishes: { lds: ["a@1"] } },
        { receives: { names: ["a"] }, sends: [{ resources: ["a@1"], as: "A" }] },
        { receives: { ack: true } },
        { breaks: "c1" },
        { publishes: { lds: ["-a"] } },
        { receives: { names: ["a"], version: "of A" }, on: "again", sends: [{ on: "again", resources: [] }] },
      ],
    },
  ]),
  ...readings({ id: "S-SUB-03", rows: ["E10"], variant: "sotw", type: "eds" }, [
    {
      name: "2018",
      says: "takes names for hints and sends all there is in the edition of 2018",
      setup: { edition: "2018" },
      steps: [
        { publishes: { eds: ["a@1", "b@1"] } },
        { receives: { names: ["a"] }, sends: [{ resources: ["a@1", "b@1"] }] },
      ],
    },
    {
      name: "newest",
      says: "sends what was named and nothing else",
      steps: [{ publishes: { eds: ["a@1", "b@1"] } }, { receives: { names: ["a"] }, sends: [{ resources: ["a@1"] }] }],
    },
  ]),
  ...readings({ id: "S-DEL-04", rows: ["E16"], variant: "delta", type: "ecds", streams: ["ads"] }, [
    {
      name: "at-once",
      says: "removes a child although its parent still refers to it",
      steps: [
        { publishes: { lds: [{ is: "l@1", filter: "f" }], ecds: ["f@1"] } },
        { receives: { type: "lds" }, sends: [{ type: "lds", resources: ["l@1"] }] },
        { receives: { type: "lds", ack: true } },
        { receives: { subscribe: ["f"] }, sends: [{ resources: ["f@1"] }] },
        { receives: { ack: true } },
        { publishes: { ecds: ["-f"] }, sends: [{ removed: ["f"] }] },
      ],
    },
  ]),
  ...readings({ id: "S-ORD-04", rows: ["E17"], variant: "delta", type: "cds", streams: ["ads"] }, [
    {
      name: "2018",
      says: "does not wait with virtual hosts for a new cluster in the edition of 2018, which has none of them",
      setup: { edition: "2018" },
      steps: [
        ...hostInSync,
        { publishes: hostMoves, sends: [{ resources: ["y@1"] }, { type: "vhds", resources: ["rc/h@2"] }] },
      ],
    },
    {
      name: "newest",
      says: "sends a virtual host after the new cluster that it uses was accepted",
      steps: [
        ...hostInSync,
        { publishes: hostMoves, sends: [{ resources: ["y@1"] }] },
        { receives: { ack: true }, sends: [{ type: "vhds", resources: ["rc/h@2"] }] },
      ],
    },
  ]),
  ...(["sotw", "delta"] as const).flatMap((variant) => {
    const asks = variant === "sotw" ? { names: ["a", "b"] } : { subscribe: ["a", "b"] };
    return readings({ id: variant === "sotw" ? "S-TTL-02" : "S-TTL-01", rows: ["E23", "E24"], variant, type: "eds" }, [
      ...(["2018", "2020"] as const).map((edition) => ({
        name: edition,
        says: `tells nobody of ttls in the edition of ${edition}, which has none`,
        setup: { edition, dialect: { ignoreHints: false } },
        steps: [timed, knowsTtls, { receives: asks, sends: [{ resources: ["a@1", "b@1"] }] }],
      })),
      ...(["2021", "current"] as const).map((edition) => ({
        name: edition,
        says: `tells whoever announces that it knows them of ttls in the edition ${edition}`,
        setup: { edition },
        steps: [timed, knowsTtls, { receives: asks, sends: [{ resources: ["a@1 for 3000 ms", "b@1"] }] }],
      })),
    ]);
  }),
  ...(["sotw", "delta"] as const).flatMap((variant) => {
    const asks = (...names: readonly string[]): Request => (variant === "sotw" ? { names } : { subscribe: names });
    return readings({ id: "S-XTP-13", rows: [], variant, type: "eds" }, [
      {
        name: "switched-on",
        says: "takes foo/* for every name that begins with foo/ when the operator wants that",
        setup: { dialect: { prefixGlob: true } },
        steps: [
          { publishes: { eds: ["foo/a@1", "foo/b/c@1", "food@1", "foo@1"] } },
          { receives: asks("foo/*"), sends: [{ resources: ["foo/a@1", "foo/b/c@1"] }] },
          { receives: { ack: true } },
          { publishes: { eds: ["foo/d@1", "bar/a@1", "foo/a@2"] }, sends: [{ resources: ["foo/d@1", "foo/a@2"] }] },
          { receives: { ack: true } },
          { publishes: { eds: ["bar/a@2"] } },
          ...(variant === "sotw"
            ? []
            : ([
                { publishes: { eds: ["-foo/b/c"] }, sends: [{ removed: ["foo/b/c"] }] },
                { receives: { ack: true } },
                { receives: { subscribe: ["none/*"] }, sends: [{ removed: ["none/*"] }] },
                { receives: { ack: true } },
                { publishes: { eds: ["none/x@1"] }, sends: [{ resources: ["none/x@1"] }] },
                { receives: { ack: true } },
                { receives: { unsubscribe: ["foo/*"] } },
                { publishes: { eds: ["foo/a@3"] } },
              ] satisfies readonly Step[])),
        ],
      },
      {
        name: "newest",
        says: "takes foo/* for a name like any other",
        steps: [
          { publishes: { eds: ["foo/a@1", "other@1"] } },
          ...(variant === "sotw"
            ? [{ receives: asks("foo/*") }]
            : [{ receives: asks("foo/*"), sends: [{ removed: ["foo/*"] }] }, { receives: { ack: true } } as const]),
          { publishes: { eds: ["foo/*@1"] }, sends: [{ resources: ["foo/*@1"] }] },
        ],
      },
    ]);
  }),
  {
    id: "S-XTP-13/missing",
    also: ["S-RES-15"],
    says: "says of a glob without members, and of no other, that there is none, where it says so of names",
    variant: "sotw",
    type: "eds",
    setup: { dialect: { prefixGlob: true, resourceErrors: "failed-and-missing" } },
    steps: [
      { publishes: { eds: ["foo/a@1"] } },
      {
        receives: { names: ["foo/*", "bar/*"] },
        sends: [{ resources: ["foo/a@1"], errors: ["bar/* 5 no resource has this name"] }],
      },
    ],
  },
];
