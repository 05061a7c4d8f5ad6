import type { TypeUrl, Variant } from "@xdskit/protocol";
import type { InitialVersions } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Crowd, me, names, type Sizes, usual } from "./support/crowd.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, ENDPOINTS, HOST, resource } from "./support/resources.ts";

type Size = keyof Sizes;
type Act = (crowd: Crowd) => void;

/** What a request or a change costs. */
interface Cost {
  /** Twice as much of it is at most twice the work; of anything else, the same work, but for what is looked at. */
  readonly twice: readonly Size[];
  readonly sends: number;
}

interface Row extends Cost {
  readonly is: string;
  readonly of: TypeUrl;
  readonly by: Variant;
  readonly before?: Act;
  readonly does: Act;
}

/**
 * A turn looks at each type of its stream and at each layer of its view; a change looks at each stream of each view in which it
 * is. This many steps at most are spent on one that has nothing to do with it.
 */
const looks: Partial<Sizes> = { layers: 200, types: 95, streams: 30, views: 40 };

const refusal = { code: 3, message: "no" };
const held = ({ sizes }: Crowd): readonly string[] => names("held", sizes.held);
const batch = ({ sizes }: Crowd): readonly string[] => names("batch", sizes.batch);

/** What somebody wants: names of ClusterLoadAssignments, or all the Clusters that there are. */
interface Want {
  readonly is: string;
  readonly of: TypeUrl;
  readonly wanted: (crowd: Crowd) => readonly string[];
}
const wants: readonly Want[] = [
  { is: "names", of: ENDPOINTS, wanted: held },
  { is: "everything", of: CLUSTER, wanted: () => ["*"] },
];

interface Kind {
  readonly is: string;
  readonly before?: (want: Want) => Act;
  readonly does: (want: Want) => Act;
  /** Of names in delta and State of the World, and of everything; undefined: there is no such request. */
  readonly costs: readonly (Cost | undefined)[];
}

const cost = (sends: number, ...twice: readonly Size[]): Cost => ({ sends, twice });
/** State of the World says all there is again. */
const all = cost(1, "held", "others", "batch");

const enters =
  ({ wanted }: Want): Act =>
  (crowd) =>
    crowd.enter(wanted(crowd));

const isTold =
  (want: Want): Act =>
  (crowd) => {
    enters(want)(crowd);
    crowd.put("held", crowd.sizes.batch, "2");
    crowd.turns();
  };

const returnsWith =
  (label: string) =>
  ({ wanted }: Want): Act =>
  (crowd) => {
    const { type } = crowd;
    const versions = held(crowd).map(
      (name) => [name, resource(type, name, label, { references: [] }).version] as const,
    );
    const initialVersions: InitialVersions = initialVersionsOf(versions);
    crowd.open(me);
    crowd.hear(crowd.first(wanted(crowd), { initialVersions }));
  };

const kinds: readonly Kind[] = [
  {
    is: "first request",
    does:
      ({ wanted }) =>
      (crowd) => {
        crowd.open(me);
        crowd.hear(crowd.first(wanted(crowd)));
      },
    costs: [cost(1, "held"), cost(1, "held"), all, all],
  },
  {
    is: "reconnect with the versions there are",
    does: returnsWith("1"),
    costs: [cost(1, "held"), undefined, all, undefined],
  },
  {
    is: "reconnect with other versions",
    does: returnsWith("0"),
    costs: [cost(1, "held"), undefined, all, undefined],
  },
  {
    is: "one name more",
    before: enters,
    does: () => (crowd) => crowd.ask(["batch/0"]),
    costs: [cost(1), cost(1, "held"), cost(1), all],
  },
  {
    is: "names more",
    before: enters,
    does: () => (crowd) => crowd.ask(batch(crowd)),
    costs: [cost(1, "batch"), cost(1, "held", "batch"), cost(1, "batch"), all],
  },
  {
    is: "names that nobody has",
    before: enters,
    does: () => (crowd) => crowd.ask(names("nobody", crowd.sizes.batch)),
    costs: [cost(1, "batch"), cost(0, "held", "batch"), cost(1, "batch"), cost(0, "batch")],
  },
  {
    is: "names given up",
    before: (want) => (crowd) => {
      enters(want)(crowd);
      crowd.ask(batch(crowd));
      crowd.settle();
    },
    does: () => (crowd) => crowd.ask([], batch(crowd)),
    costs: [cost(0, "batch"), cost(0, "held", "batch"), cost(1, "batch"), cost(0, "batch")],
  },
  { is: "ACK", before: isTold, does: () => (crowd) => crowd.answer(), costs: [cost(0), cost(0), cost(0), cost(0)] },
  {
    is: "NACK",
    before: isTold,
    does: () => (crowd) => crowd.answer(refusal),
    // The names that were refused are reported.
    costs: [cost(0, "batch"), cost(0, "batch"), cost(0, "batch"), { ...all, sends: 0 }],
  },
  { is: "repeat", before: enters, does: () => (crowd) => crowd.answer(), costs: [cost(0), cost(0), cost(0), cost(0)] },
  {
    is: "put",
    before: enters,
    does: () => (crowd) => crowd.put("held", 1, "2"),
    costs: [cost(1), cost(1), cost(1), all],
  },
  {
    is: "many puts",
    before: enters,
    does: () => (crowd) => crowd.put("held", crowd.sizes.batch, "2"),
    costs: [cost(1, "batch"), cost(1, "batch"), cost(1, "batch"), all],
  },
  {
    is: "deletes",
    before: enters,
    does: () => (crowd) => crowd.commit("base", [], names("held", crowd.sizes.batch)),
    costs: [cost(1, "batch"), cost(0, "batch"), cost(1, "batch"), all],
  },
  {
    is: "put of what nobody asks for by name",
    before: enters,
    does: () => (crowd) => crowd.put("batch", 1, "2"),
    costs: [cost(0), cost(0), cost(1), all],
  },
  {
    is: "puts in base that a layer hides",
    before: (want) => (crowd) => {
      crowd.put("held", crowd.sizes.batch, "2", "layer/0");
      enters(want)(crowd);
    },
    does: () => (crowd) => crowd.put("held", crowd.sizes.batch, "3"),
    costs: [cost(0, "batch"), cost(0, "batch"), cost(0, "batch"), cost(0, "batch")],
  },
  {
    is: "move to a view with one more layer",
    before: (want) => (crowd) => {
      crowd.put("held", crowd.sizes.batch, "2", "layer/of its own");
      enters(want)(crowd);
    },
    does: () => (crowd) => crowd.move("layer/of its own"),
    // Every node is placed anew, and what it sees is counted anew.
    costs: [
      cost(1, "batch", "streams", "layers", "types"),
      cost(1, "batch", "streams", "layers", "types"),
      cost(1, "batch", "streams", "layers", "types"),
      cost(1, "batch", "streams", "layers", "types", "held", "others"),
    ],
  },
  {
    is: "first poll",
    does:
      ({ wanted }) =>
      (crowd) =>
        crowd.poll(wanted(crowd)),
    costs: [undefined, cost(1, "held"), undefined, all],
  },
  {
    is: "poll with the version there is",
    before:
      ({ wanted }) =>
      (crowd) =>
        crowd.poll(wanted(crowd)),
    does:
      ({ wanted }) =>
      (crowd) =>
        crowd.poll(wanted(crowd), crowd.polled),
    costs: [undefined, cost(0, "held"), undefined, cost(0)],
  },
  {
    is: "put that a poll waits for",
    before:
      ({ wanted }) =>
      (crowd) => {
        crowd.poll(wanted(crowd));
        crowd.poll(wanted(crowd), crowd.polled);
      },
    does: () => (crowd) => crowd.put("held", 1, "2"),
    costs: [undefined, cost(1, "held"), undefined, all],
  },
];

const rowsOf = ({ costs, ...kind }: Kind): readonly Row[] =>
  wants.flatMap((want, i) =>
    (["delta", "sotw"] as const).flatMap((by, j) => {
      const cost = costs[2 * i + j];
      const before = kind.before?.(want);
      const is = `${kind.is}: ${want.is}`;
      return cost === undefined
        ? []
        : [{ is, of: want.of, by, ...cost, does: kind.does(want), ...(before && { before }) }];
    }),
  );

const comesOnDemand = (crowd: Crowd): readonly string[] => names("demanded", crowd.sizes.held);
const asksOnDemand: Omit<Row, "by" | keyof Cost> = {
  is: "name of what comes on demand, beside everything",
  of: CLUSTER,
  before: (crowd) => {
    const demanded = [...comesOnDemand(crowd), "one more"];
    crowd.commit(
      "base",
      demanded.map((name) => crowd.resource(name, "1", true)),
    );
    crowd.enter(["*", ...comesOnDemand(crowd)]);
  },
  does: (crowd) => crowd.ask(["one more"]),
};

/** Hosts are asked for that fall under a star: nobody has them by name. */
const asksForHosts =
  (star: string): Act =>
  (crowd) => {
    crowd.commit("base", [crowd.resource(star, "1"), crowd.resource("other/*", "1")]);
    crowd.enter([...held(crowd).map((name) => `${name}.example`), "other/a.example"]);
  };

const rows: readonly Row[] = [
  ...kinds.flatMap(rowsOf),
  { ...asksOnDemand, by: "delta", ...cost(1) },
  { ...asksOnDemand, by: "sotw", ...all },
  {
    is: "host that falls under the star",
    of: HOST,
    by: "delta",
    before: asksForHosts("held/*"),
    does: (crowd) => crowd.ask(["other/b.example"]),
    ...cost(1, "layers"),
  },
  {
    is: "put of the star that asked hosts fall under",
    of: HOST,
    by: "delta",
    before: asksForHosts("held/*"),
    does: (crowd) => crowd.commit("base", [crowd.resource("held/*", "2")]),
    ...cost(1, "held", "layers", "streams", "views"),
  },
];

function work({ of, by, before, does }: Row, sizes: Sizes): { readonly steps: number; readonly sends: number } {
  const crowd = new Crowd(of, by, sizes);
  before?.(crowd);
  return crowd.measure(does);
}

describe("what a request or a change costs", () => {
  test.each(rows.map((row) => [row.is, row.by, row] as const))("%s (%s)", (_, __, row) => {
    const { steps, sends } = work(row, usual);
    const excess = (Object.keys(usual) as Size[]).flatMap((size) => {
      const more = work(row, { ...usual, [size]: 2 * usual[size] }).steps - steps;
      const allowed = row.twice.includes(size) ? steps : (looks[size] ?? 0) * usual[size];
      return Math.abs(more) <= allowed ? [] : [`twice the ${size}: ${more} steps more than ${steps}`];
    });
    expect({ sends, excess }).toEqual({ sends: row.sends, excess: [] });
  });
});
