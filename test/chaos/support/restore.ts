import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openEtcdStore } from "@xdskit/store-etcd";
import { clusterOf, etcdTool } from "../../../packages/store-etcd/test/support/etcd.ts";
import { startProcess } from "../../e2e/support/process.ts";
import { xdsCommand } from "../../e2e/support/server.ts";
import { until } from "../../e2e/support/wait.ts";
import type { Ledger } from "./history.ts";
import { judge } from "./judge.ts";
import { contentsOf, PREFIX, type World } from "./world.ts";

/** Takes a backup; what it returns brings that back. */
export type Backup = (world: World, file: string) => Promise<() => Promise<void>>;

export const backups = {
  async "an export"({ store }, file) {
    await xds("store", "export", file, "--store", store);
    return () => xds("store", "import", file, "--store", store, "--replace");
  },
  async "a snapshot of etcd"({ members }, file) {
    members[0]?.etcd.ctl("snapshot", "save", file);
    return async () => {
      const cluster = clusterOf(members.map(({ etcd }) => etcd));
      await Promise.all(members.map(({ etcd }) => etcd.kill()));
      for (const { etcd } of members) {
        rmSync(etcd.data, { recursive: true });
        const as = ["--name", etcd.name, "--initial-advertise-peer-urls", etcd.advertisedPeerUrl];
        etcdTool("etcdutl", "snapshot", "restore", file, "--data-dir", etcd.data, "--initial-cluster", cluster, ...as);
      }
      await Promise.all(members.map(({ etcd }) => etcd.start(cluster)));
    };
  },
} as const satisfies Readonly<Record<string, Backup>>;

/** How long clients move between servers that have seen the backup, and have not been told to adopt it. */
const BEFORE_ADOPTION_MS = 4_000;
const AGREE_MS = 5_000;

/**
 * Publishes, restores what was before, publishes upon that, and has the servers adopt it. Resolves with what is wrong: until
 * a server adopts it, everybody has what was in force, and then the newest.
 */
export async function restoreOld(world: World, backUp: Backup): Promise<readonly string[]> {
  const { history, servers, publishers } = world;
  const directory = mkdtempSync(join(tmpdir(), "xds-chaos-backup-"));
  try {
    await published(world, 4);
    const restore = await backUp(world, join(directory, "backup"));
    await published(world, 9);
    const before = await world.end();
    await restore();
    const found: string[] = [];
    for (const { is } of publishers) await is.publish();
    const isStopped = await Promise.all(servers.map(({ is }) => stopped(is.adminPort)));
    await pause(BEFORE_ADOPTION_MS);
    found.push(...isStopped.flatMap((is, index) => (is ? [] : [`server ${index} has not stopped`])));
    found.push(...wrong(judge({ ...history, appends: [] }, before)));

    for (const { is } of servers) await xds("store", "adopt", "--admin", `127.0.0.1:${is.adminPort}`);
    // Whose numbers are those of records that were there before.
    for (const { is } of publishers) await is.publish();
    const last = history.appends.findLast(({ outcome }) => outcome !== undefined);
    if (last === undefined) throw new Error("nothing was published");
    await world.agreement(AGREE_MS, last.content).catch((cause: unknown) => found.push(String(cause)));
    const acknowledged = history.appends.slice(-2 * publishers.length);
    found.push(...wrong(judge({ ...history, appends: acknowledged, sightings: [] }, await read(world))));
    return found;
  } finally {
    rmSync(directory, { recursive: true });
  }
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
