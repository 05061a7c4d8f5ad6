import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { openEtcdStore } from "@xdskit/store-etcd";
import { afterEach, expect, test } from "vitest";
import { EtcdMember } from "../../packages/store-etcd/test/support/etcd.ts";
import { modes } from "../e2e/support/mode.ts";
import { describeWith, peerCommand, root } from "../e2e/support/peers.ts";
import { type StartedProcess, startProcess } from "../e2e/support/process.ts";
import { createStack, type Stack } from "../e2e/support/stack.ts";
import { until } from "../e2e/support/wait.ts";
import { type GuardName, WithoutGuard } from "./support/guards.ts";
import { interleaved, judge } from "./support/judge.ts";
import { Random } from "./support/random.ts";
import { startWorld, type World, type WorldSettings } from "./support/world.ts";

type Env = Readonly<Record<string, string>>;

/** What makes a guard necessary. Resolves with what the checkers find. */
type Play = (stack: Stack, env: Env) => Promise<readonly string[]>;

const SECONDS = Number(process.env["XDS_CHAOS_SECONDS"] ?? 15);
const needed = (["envoy", "toxiproxy", "porcupine", "etcd"] as const).find((name) => peerCommand(name) === undefined);

/** Lets something happen in a world again and again, and judges it. */
function play(
  settings: Omit<WorldSettings, "random" | "env">,
  happens: (world: World, isOver: () => boolean) => Promise<unknown>,
): Play {
  return async (stack, env) => {
    const world = await startWorld(stack, { ...settings, env, random: new Random(1) });
    const end = performance.now() + SECONDS * 1_000;
    await happens(world, () => performance.now() > end);
    const ledger = await world.end();
    const losses = (await Promise.all(world.envoys.map((one) => one.losses()))).flat();
    const { lost, invented, setBack } = judge(world.history, ledger);
    const told = world.linearizable(ledger);
    return [...lost, ...invented, ...setBack, ...losses, ...(told === "Ok" ? [] : [`the ledger: ${told}`])];
  };
}

const onlySotw = modes.filter(({ apiType }) => apiType === "GRPC");

const plays: Readonly<Record<Exclude<GuardName, "fence">, Play>> = {
  compareOfTheHead: play({ clients: 0, envoys: [], pauseMs: 50 }, async ({ publishers }, isOver) => {
    // The time between what an append reads and what it writes.
    for (const link of publishers.flatMap(({ links }) => links)) await link.ail({ kind: "slow", ms: 150, jitterMs: 100 });
    while (!isOver()) await pause(100);
  }),
  freshness: play({ clients: 60, envoys: [], pauseMs: 200 }, async ({ servers }, isOver) => {
    for (const link of servers[0]?.links ?? []) await link.ail({ kind: "slow", ms: 500, jitterMs: 100 });
    while (!isOver()) await pause(100);
  }),
  otherHistory: async () => [],
  removedLast: play({ clients: 0, pauseMs: 500 }, async (_, isOver) => {
    while (!isOver()) await pause(100);
  }),
  madeFirst: play({ clients: 0, pauseMs: 500 }, async (_, isOver) => {
    while (!isOver()) await pause(100);
  }),
  formerStates: play({ clients: 0, envoys: onlySotw, pauseMs: 100 }, async ({ lead }, isOver) => {
    while (!isOver()) {
      lead();
      await pause(700);
    }
  }),
  formerStatesAtAStart: play({ clients: 0, envoys: onlySotw, pauseMs: 100 }, async ({ servers, kill, lead }, isOver) => {
    for (let turn = 0; !isOver(); turn++) {
      const server = servers[turn % 2]?.is;
      if (server === undefined) continue;
      lead(servers[(turn + 1) % 2]?.is);
      await kill(server);
      server.forget();
      await server.start();
      lead(server);
      await pause(500);
    }
  }),
};

describeWith(needed ?? "etcd", "each guard", () => {
  let stack = createStack();
  afterEach(async () => {
    await stack[Symbol.asyncDispose]();
    stack = createStack();
  });

  test.each(Object.keys(plays) as (keyof typeof plays)[])(
    "%s is what keeps the promises: without it, the checkers find that they are broken",
    async (name) => {
      expect(await plays[name](stack, {}), "with it").toEqual([]);
      await stack[Symbol.asyncDispose]();
      const removed = stack.use(new WithoutGuard(name));
      const found = await plays[name](stack, removed.env);
      expect(removed.wasRemoved).toBe(true);
      process.stderr.write(`${name}: ${found.length}: ${found.slice(0, 3).join("; ")}\n`);
      expect(found, "without it").not.toEqual([]);
    },
    (SECONDS + 60) * 2_000,
  );
});
