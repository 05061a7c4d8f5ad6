import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { note } from "../e2e/support/measure.ts";
import { describeWith, peerCommand } from "../e2e/support/peers.ts";
import { createStack } from "../e2e/support/stack.ts";
import { Faults, impossible } from "./support/faults.ts";
import { judge } from "./support/judge.ts";
import { Random } from "./support/random.ts";
import { restoreAmid } from "./support/restore.ts";
import { startWorld, type World } from "./support/world.ts";

// The long form: npm run chaos.
const seconds = Number(process.env["XDS_CHAOS_SECONDS"] ?? 60);
const seed = Number(process.env["XDS_CHAOS_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const CLIENTS = 200;
/** How often an old backup is brought back. */
const RESTORES = Math.max(1, Math.floor(seconds / 120));
/** How soon after the last repair everybody has the newest publication. */
const AGREE_MS = 5_000;
/** Streams for each type come back one by one, and nothing is removed while one of a node may still do. */
const TIDY_MS = 60_000;
const needed = (["envoy", "toxiproxy", "porcupine", "etcd"] as const).find((name) => peerCommand(name) === undefined);

describeWith(needed ?? "etcd", `chaos (seed ${seed})`, () => {
  const stack = createStack();
  afterAll(() => stack[Symbol.asyncDispose]());

  test(
    "no request is lost, no publication is lost, and no client is set back, whatever fails",
    async () => {
      const random = new Random(seed);
      const world = await startWorld(stack, { random, clients: CLIENTS });
      const missing = Object.entries(impossible(world)).map(([name, why]) => `${name} (${why})`);
      report("faults that cannot strike", missing);
      const faults = new Faults(world, new Random(seed));
      const shareMs = (seconds * 1_000) / (RESTORES + 1);
      const restored: string[] = [];
      for (let restore = 0; restore < RESTORES; restore++) {
        restored.push(...(await restoreAmid(world, random, () => faults.strike(shareMs))));
      }
      await faults.strike(shareMs);
      const { log, counts } = faults;
      const ledger = await world.end();
      const agreedMs = await world.agreement(AGREE_MS).catch((error: unknown) => error);
      const tidyMs = await world.tidiness(TIDY_MS).catch((error: unknown) => error);
      const losses = (await Promise.all(world.envoys.map((one) => one.losses()))).flat();
      keepLogs(world, log);
      const verdict = judge(world.history, ledger);
      const { appends, sightings, reads } = world.history;
      const struck = log.filter((line) => !line.includes("no more")).length;
      note(
        "chaos",
        "all",
        "faults, publications, responses, reads",
        [struck, appends.length, sightings.length, reads.length].join(", "),
      );
      report(
        "faults that can strike and did not",
        Object.keys(counts).filter((name) => counts[name] === 0 && !(name in impossible(world))),
      );
      note("chaos", "all", "milliseconds until all agree", String(agreedMs));
      expect(
        {
          restored,
          ...verdict,
          losses,
          agreed: typeof agreedMs === "number" ? true : agreedMs,
          tidy: typeof tidyMs === "number" ? true : tidyMs,
          ledger: world.linearizable(ledger),
        },
        log.join("\n"),
      ).toEqual({
        restored: [],
        lost: [],
        invented: [],
        setBack: [],
        losses: [],
        agreed: true,
        tidy: true,
        ledger: "Ok",
      });
      expect(Math.min(struck, ledger.size, sightings.length)).toBeGreaterThan(seconds / 20);
    },
    (seconds + 180 + RESTORES * 60) * 1_000,
  );
});

/** Says it at once, and again in the table at the end. */
function report(what: string, names: readonly string[]): void {
  const value = names.length === 0 ? "none" : names.join(", ");
  process.stderr.write(`chaos: ${what}: ${value}\n`);
  note("chaos", "all", what, value);
}

/** Writes what everybody said into a directory, to find out what became of a lost request. */
function keepLogs({ servers, envoys, history }: World, faults: readonly string[]): void {
  const directory = process.env["XDS_CHAOS_LOGS"];
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  write("faults.log", `${faults.join("\n")}\n`);
  for (const { is } of servers) write(`server-${is.index}.log`, is.log);
  for (const { mode, envoy, lostLines } of envoys) {
    write(`envoy-${mode.name}.log`, envoy.process.log());
    write(`lost-${mode.name}.jsonl`, `${lostLines.join("\n")}\n`);
  }
  write("history.json", JSON.stringify({ timeOrigin: performance.timeOrigin, appends: history.appends }));
}
