import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Resource, Transaction } from "@xdskit/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  cluster,
  endpoints,
  filesBelow,
  listener,
  readResponse,
  routes,
  startExport,
  temporaryDirectory,
} from "./file-world.ts";

/** For each of two route tables, the cluster that it goes to; and by cluster, the port of its endpoint. */
interface Wanted {
  readonly targets: readonly [number, number];
  readonly ports: readonly number[];
  readonly hasSecond: boolean;
}

const wanted: fc.Arbitrary<Wanted> = fc.record({
  targets: fc.tuple(fc.nat(3), fc.nat(3)),
  ports: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 4, maxLength: 4 }),
  hasSecond: fc.boolean(),
});

/** A state in which every route has its cluster, and every cluster its endpoints; clusters that nothing uses are not there. */
function resourcesOf({ targets, ports, hasSecond }: Wanted): readonly Resource[] {
  const used = new Set(hasSecond ? targets : [targets[0]]);
  return [
    ...[...used].flatMap((index) => [cluster(`c${index}`), endpoints(`c${index}`, ports[index] ?? 1)]),
    ...[routes("r0", `c${targets[0]}`), listener("l0", "r0")],
    ...(hasSecond ? [routes("r1", `c${targets[1]}`), listener("l1", "r1")] : []),
  ];
}

function transactionTo(before: readonly Resource[], after: readonly Resource[]): Transaction {
  const isIn = (list: readonly Resource[]) => (one: Resource) =>
    list.some(({ type, name }) => type === one.type && name === one.name);
  const deletes = before.filter((one) => !isIn(after)(one)).map(({ type, name }) => ({ type, name }));
  return { changes: [{ layer: "base", puts: after, deletes }] };
}

/** What a client of the files would lose: a route without its cluster, a cluster without endpoints, a listener without routes. */
function lossesIn(directory: string): readonly string[] {
  const namesIn = (file: string): readonly string[] =>
    existsSync(join(directory, file))
      ? readResponse(join(directory, file), "pb").resources.map(({ name }) => name)
      : [];
  const lost: string[] = [];
  const clusters = namesIn("cds.pb");
  for (const name of clusters) if (namesIn(`eds/${name}.pb`).length !== 1) lost.push(`endpoints of ${name}`);
  for (const name of namesIn("lds.pb")) {
    const table = join(directory, `rds/${name.replace("l", "r")}.pb`);
    if (!existsSync(table)) lost.push(`routes of ${name}`);
    for (const target of existsSync(table) ? targetsIn(table) : [])
      if (!clusters.includes(target)) lost.push(`${target} of ${name}`);
  }
  return lost;
}

function targetsIn(table: string): readonly string[] {
  return readResponse(table, "pb").resources.flatMap(
    ({ bytes }) => Buffer.from(bytes).toString("latin1").match(/c\d/g) ?? [],
  );
}

test("after any changes nothing in the files names what is not there, and in the end they are the view", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(wanted, fc.boolean()), { minLength: 2, maxLength: 6 }),
      fc.boolean(),
      async (steps, symlinks) => {
        using out = temporaryDirectory("in memory");
        const { writing, problems } = await startExport({ directory: out.path, format: "pb", settleMs: 1, symlinks });
        await using _ = writing;
        const lost: string[] = [];
        writing.on("files-written", () => lost.push(...lossesIn(out.path)));
        let state: readonly Resource[] = [];
        for (const [next, isAwaited] of steps) {
          const resources = resourcesOf(next);
          writing.commit(transactionTo(state, resources));
          state = resources;
          if (isAwaited) await writing.whenInSync();
          else await new Promise((resolve) => setImmediate(resolve));
        }
        await writing.whenInSync();
        const held = filesBelow(out.path).flatMap((path) =>
          readResponse(join(out.path, path), "pb").resources.map(
            ({ type, name, bytes }) => `${type} ${name} ${Buffer.from(bytes).toString("hex")}`,
          ),
        );
        const view = state.map(({ type, name, bytes }) => `${type} ${name} ${Buffer.from(bytes).toString("hex")}`);
        expect({ lost, problems, held: held.sort() }).toEqual({ lost: [], problems: [], held: view.sort() });
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);
