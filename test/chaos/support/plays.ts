import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openEtcdStore } from "@xdskit/store-etcd";
import { EtcdMember } from "../../../packages/store-etcd/test/support/etcd.ts";
import { root } from "../../e2e/support/peers.ts";
import { type StartedProcess, startProcess } from "../../e2e/support/process.ts";
import type { Stack } from "../../e2e/support/stack.ts";
import { until } from "../../e2e/support/wait.ts";
import type { GuardName } from "./guards.ts";
import { interleaved, judge } from "./judge.ts";
import { Random } from "./random.ts";
import { backups, restoreOld } from "./restore.ts";
import { startWorld, type World, type WorldSettings } from "./world.ts";

type Env = Readonly<Record<string, string>>;

/** What makes a guard necessary. Resolves with what the checkers find. */
export type Play = (stack: Stack, env: Env) => Promise<readonly string[]>;

/** How long each play is. */
export const PLAY_SECONDS = 15;

/** Lets something happen in a world again and again, and judges it. */
function play(
  settings: Omit<WorldSettings, "random" | "env">,
  happens: (world: World, isOver: () => boolean) => Promise<unknown>,
): Play {
  return async (stack, env) => {
    const world = await startWorld(stack, { ...settings, env, random: new Random(1) });
    const end = performance.now() + PLAY_SECONDS * 1_000;
    await happens(world, () => performance.now() > end);
    const ledger = await world.end();
    const losses = (await Promise.all(world.envoys.map((one) => one.losses()))).flat();
    const { lost, invented, setBack } = judge(world.history, ledger);
    const told = world.linearizable(ledger);
    return [...lost, ...invented, ...setBack, ...losses, ...(told === "Ok" ? [] : [`the ledger: ${told}`])];
  };
}

/** Two processes that write under a lease, and each is stopped for longer than its lease. */
async function fence(stack: Stack, env: Env): Promise<readonly string[]> {
  const etcd = await EtcdMember.start();
  stack.use({ [Symbol.asyncDispose]: () => etcd.end() });
  const writer = async (): Promise<StartedProcess> => {
    const program = join(root, "test/chaos/support/lease-writer.mjs");
    const started = await startProcess([process.execPath, program, etcd.endpoint, "fenced"], { env });
    stack.use({ [Symbol.asyncDispose]: () => started.kill() });
    return started;
  };
  const writers = await Promise.all([writer(), writer()]);
  const holds = (one: StartedProcess): boolean => /holds [^\n]*\n$/.test(one.log());
  for (let turn = 0; turn < 2; turn++) {
    await until({ says: "one holds the lease", withinMs: 30_000 }, () => writers.some(holds));
    const holder = writers.find(holds);
    const other = writers.find((one) => one !== holder);
    if (holder === undefined || other === undefined) throw new Error("nobody holds the lease");
    const known = other.log();
    process.kill(holder.pid, "SIGSTOP");
    await until({ says: "the other holds it", withinMs: 30_000 }, () => other.log() !== known && holds(other));
    await pause(500);
    process.kill(holder.pid, "SIGCONT");
    await pause(1_000);
    // It has found out, or writes although it has lost the lease.
    if (holds(holder)) break;
  }
  await Promise.all(writers.map((one) => one.kill()));
  const store = await openEtcdStore({ endpoints: [etcd.endpoint], prefix: "fenced" });
  try {
    const holders: string[] = [];
    for await (const { text } of store.read(0)) holders.push(text);
    return interleaved(holders);
  } finally {
    await store.close();
  }
}

/** What each guard is for. */
export const plays: Readonly<Record<GuardName, Play>> = {
  fence,
  compareOfTheHead: play({ clients: 0, envoys: [], pauseMs: 50 }, async ({ publishers }, isOver) => {
    // The time between what an append reads and what it writes.
    for (const link of publishers.flatMap(({ links }) => links))
      await link.ail({ kind: "slow", ms: 150, jitterMs: 100 });
    while (!isOver()) await pause(100);
  }),
  freshness: play({ clients: 60, envoys: [], pauseMs: 200 }, async ({ servers }, isOver) => {
    for (const link of servers[0]?.links ?? []) await link.ail({ kind: "slow", ms: 500, jitterMs: 100 });
    while (!isOver()) await pause(100);
  }),
  otherHistory: async (stack, env) =>
    restoreOld(await startWorld(stack, { clients: 60, envoys: [], env, random: new Random(1) }), backups["an export"]),
  removedLast: play({ clients: 0, pauseMs: 500 }, async (_, isOver) => {
    while (!isOver()) await pause(100);
  }),
  madeFirst: play({ clients: 0, pauseMs: 500 }, async (_, isOver) => {
    while (!isOver()) await pause(100);
  }),
};
