import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openEtcdStore } from "@xdskit/store-etcd";
import { clusterOf, etcdTool } from "../../../packages/store-etcd/test/support/etcd.ts";
import { startProcess } from "../../e2e/support/process.ts";
import { xdsCommand } from "../../e2e/support/server.ts";
import { until } from "../../e2e/support/wait.ts";
import { endAlarm, etcdctl } from "./etcdctl.ts";
import { cutHistory, type Ledger } from "./history.ts";
import { judge } from "./judge.ts";
import type { Random } from "./random.ts";
import { contentsOf, type Member, PREFIX, type World } from "./world.ts";

/** Takes a backup; what it returns brings that back. */
export type Backup = (world: World, file: string) => Promise<() => Promise<void>>;

export const backups = {
  async "an export"({ store }, file) {
    await xds("store", "export", file, "--store", store);
    return () => xds("store", "import", file, "--store", store, "--replace");
  },
  async "a snapshot of etcd"({ members }, file) {
    await etcdctl((members[0] as Member).etcd, "snapshot", "save", file);
    return async () => {
      const cluster = clusterOf(members.map(({ etcd }) => etcd));
      await Promise.all(members.map(({ etcd }) => etcd.kill()));
      for (const { etcd } of members) {
        rmSync(etcd.data, { recursive: true });
        const as = ["--name", etcd.name, "--initial-advertise-peer-urls", etcd.advertisedPeerUrl];
        etcdTool("etcdutl", "snapshot", "restore", file, "--data-dir", etcd.data, "--initial-cluster", cluster, ...as);
      }
      await Promise.all(members.map(({ etcd }) => etcd.start(cluster)));
      // A snapshot also has the alarm of a quota that was used up then.
      await endAlarm((members[0] as Member).etcd);
    };
  },
} as const satisfies Readonly<Record<string, Backup>>;

/** How long clients move between servers that have seen the backup, and have not been told to adopt it. */
const BEFORE_ADOPTION_MS = 4_000;
const AGREE_MS = 5_000;

/** Publishes, restores what was before, and has the servers adopt that. Resolves with what is wrong. */
export async function restoreOld(world: World, backUp: Backup): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), "xds-chaos-backup-"));
  try {
    await published(world, 4);
    const restore = await backUp(world, join(directory, "backup"));
    await published(world, 9);
    const found = await bringBack(world, restore);
    return [...found, ...wrong(judge({ ...world.history, sightings: [] }, await read(world)))];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Strikes, takes a backup meanwhile, and brings that back when all is repaired: what was published after it is lost then, and
 * nothing else may be. Resolves with what is wrong up to here; the history goes on with what was published since.
 */
export async function restoreAmid(
  world: World,
  random: Random,
  strikes: () => Promise<unknown>,
): Promise<readonly string[]> {
  const { history } = world;
  const directory = mkdtempSync(join(tmpdir(), "xds-chaos-backup-"));
  try {
    const name = random.pick(Object.keys(backups) as (keyof typeof backups)[]);
    const backedUp = async (): Promise<{ readonly restore: () => Promise<void>; readonly at: number }> => {
      await pause(random.below(10_000));
      // Whoever makes backups tries again if the engine is away.
      const { value: restore } = await until({ says: `${name} is made`, withinMs: 120_000, everyMs: 500 }, () =>
        backups[name](world, join(directory, "backup")),
      );
      return { restore, at: performance.now() };
    };
    const [{ restore, at }] = await Promise.all([backedUp(), strikes()]);
    await until({ says: "something is published after the backup", withinMs: 60_000, everyMs: 50 }, () =>
      history.appends.some(({ calledAt, outcome }) => calledAt > at && outcome !== undefined),
    );
    const found = await bringBack(world, restore);
    await world.begin();
    return found.map((text) => `with ${name}: ${text}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Ends publishing and brings a backup back. Until a server adopts it, everybody has what was in force; then all have the newest.
 * Resolves with what is wrong before the first adoption. What remains in the history are the publications upon the backup.
 */
async function bringBack(world: World, restore: () => Promise<void>): Promise<readonly string[]> {
  const { history, servers, publishers } = world;
  const ledger = await world.end();
  const found: string[] = [];
  await world.agreement(AGREE_MS).catch((cause: unknown) => found.push(String(cause)));
  const past = cutHistory(history);
  const told = world.linearizable(ledger, past);
  if (told !== "Ok") found.push(`the ledger: ${told}`);

  await restore();
  for (const { is } of publishers) await is.publish();
  const isStopped = await Promise.all(servers.map(({ is }) => stopped(is.adminPort)));
  await pause(BEFORE_ADOPTION_MS);
  found.push(...isStopped.flatMap((is, index) => (is ? [] : [`server ${index} has not stopped`])));
  const { appends, sightings, unchecked } = cutHistory(history);
  const seen = { sightings: past.sightings.concat(sightings), unchecked: past.unchecked.concat(unchecked) };
  found.push(...wrong(judge({ ...past, ...seen }, ledger)));

  for (const { is } of servers) await xds("store", "adopt", "--admin", `127.0.0.1:${is.adminPort}`);
  // Whose numbers are those of records that were there before.
  for (const { is } of publishers) await is.publish();
  appends.push(...history.appends);
  const last = appends.findLast(({ outcome }) => outcome !== undefined);
  if (last === undefined) throw new Error("nothing was published");
  await world.agreement(AGREE_MS, last.content).catch((cause: unknown) => found.push(String(cause)));
  // Between the first adoption and the last, what a client gets depends on where it goes.
  cutHistory(history);
  history.appends.push(...appends);
  return found;
}

async function published({ history }: World, count: number): Promise<void> {
  await until({ says: `${count} publications`, withinMs: 60_000, everyMs: 50 }, () => history.appends.length > count);
}

/** Whether a server says within some time that it applies nothing any more. */
async function stopped(adminPort: number): Promise<boolean> {
  const says = async (): Promise<boolean> =>
    /^xds_server_store_stopped(\{[^}]*\})? 1$/m.test(
      await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text(),
    );
  return await until({ says: "it has stopped", withinMs: 15_000, everyMs: 100 }, says).then(
    () => true,
    () => false,
  );
}

function wrong({ lost, invented, setBack }: ReturnType<typeof judge>): readonly string[] {
  return [...lost, ...invented, ...setBack];
}

async function read({ members }: World): Promise<Ledger> {
  const store = await openEtcdStore({ endpoints: members.map(({ etcd }) => etcd.endpoint), prefix: PREFIX });
  try {
    return await contentsOf(store);
  } finally {
    await store.close();
  }
}

async function xds(...args: readonly string[]): Promise<void> {
  const process = await startProcess([...xdsCommand(), ...args]);
  await process.closed;
  if (process.ended()?.code !== 0) throw new Error(`xds ${args.join(" ")}:\n${process.log()}`);
}
