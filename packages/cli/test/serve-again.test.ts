import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clusters, Serving, Site, until } from "./serving.ts";

let site: Site;
let state: string;
const running: Serving[] = [];
const many = Array.from({ length: 30 }, (_, index) => `c${index}`);

beforeEach(async () => {
  site = await Site.make({ "clusters.yaml": clusters(...many) });
  state = await mkdtemp(join(tmpdir(), "xds-state-"));
});
afterEach(async () => {
  await stop();
  await site.remove();
  await rm(state, { recursive: true, force: true });
});

async function start(): Promise<Serving> {
  const serving = await Serving.start(site, ["--state-dir", join(state, "s")]);
  running.push(serving);
  return serving;
}

async function stop(): Promise<void> {
  for (const serving of running.splice(0)) await serving.stop();
}

async function served(serving: Serving): Promise<number> {
  return (await serving.ask("/api/v1/resources?limit=1"))["total"] as number;
}

/** Whether the status says that the source is broken, or that its change is held. */
async function isTold(serving: Serving): Promise<boolean> {
  const { source, ledger } = (await serving.ask("/api/v1/server")) as {
    source: { state: string };
    ledger: { held?: unknown };
  };
  return source.state === "failed" || ledger.held !== undefined;
}

/** The ways in which the files of a directory are lost. */
const losses: readonly (readonly [what: string, lose: () => Promise<void>])[] = [
  ["its content is deleted", () => rm(join(site.directory, "clusters.yaml"))],
  ["it is gone", () => rm(site.directory, { recursive: true })],
  ["it is a link to nothing", () => replaceBy((path) => symlink(join(state, "nothing"), path))],
  ["it is an empty checkout", () => replaceBy((path) => mkdir(path))],
  ["its files are broken", () => site.write("clusters.yaml", "- {")],
  ["half of its clusters are gone", () => site.write("clusters.yaml", clusters(...many.slice(0, 10)))],
];

async function replaceBy(make: (path: string) => Promise<unknown>): Promise<void> {
  await rename(site.directory, join(state, "before"));
  await make(site.directory);
}

describe("a server whose directory is lost", () => {
  test.each(losses)(
    "serves on what it served, also after a restart: %s",
    async (_, lose) => {
      const first = await start();
      await until("it serves", () => first.isReady());
      const committed = first.logged("committed").length;
      await lose();
      await until("it is told", () => isTold(first));
      expect([await served(first), first.logged("committed").length]).toEqual([30, committed]);
      await stop();
      const second = await start();
      await until("the source was read", () => isTold(second));
      expect([await second.isReady(), await served(second)]).toEqual([true, 30]);
      expect(second.logged("ledger-resumed")).toMatchObject([{ resources: 30, missing: 0 }]);
    },
    60_000,
  );
});

test("a held change is told by its reason, waits are told so, and it is in force once approved", async () => {
  const serving = await start();
  await until("it serves", () => serving.isReady());
  await site.write("clusters.yaml", clusters("c0"));
  await until("it is held", async () => serving.logged("change-held").length === 1);
  const reason = "29 of 30 Cluster resources would be gone from layer base";
  expect(serving.logged("change-held")).toMatchObject([{ level: "error", number: 2, fuses: [reason], changes: 29 }]);
  const { stdout } = await serving.xds("status");
  expect(stdout).toContain(`held      2: ${reason}; \`xds approve 2\` puts it in force`);
  const waited = await serving.xds("wait", "--timeout", "1s");
  expect([waited.code, waited.stderr]).toEqual([3, expect.stringContaining("the change 2 of the source is held")]);
  const approved = await fetch(`http://${serving.admin}/api/v1/approve/2`, { method: "POST" });
  expect(await approved.json()).toEqual({ result: "applied", number: 3 });
  expect(await served(serving)).toBe(1);
  expect((await serving.ask("/api/v1/revisions/3"))["author"]).toBe("loopback");
});

test("a history that cannot be used is told by the status, as long as it is kept in memory only", async () => {
  await start();
  await stop();
  const ledger = join(state, "s", "ledger", "records-0.log");
  await writeFile(ledger, (await readFile(ledger, "utf8")).replace("xdskit ledger 1", "xdskit ledger 9"));
  const again = await start();
  await until("the source is read", () => again.logged("loaded").length === 1);
  const reason = expect.stringMatching(/ledger cannot be used: .*version/) as string;
  expect(await again.ask("/api/v1/server")).toMatchObject({ ledger: { number: 1, inMemoryReason: reason } });
  const { stdout } = await again.xds("status");
  expect(stdout).toMatch(/^history {3}in memory only, lost at the next restart: .*ledger cannot be used: .*version/m);
});

test("the history of a server that cannot use its ledger says that what is on disk is left out", async () => {
  await start();
  await stop();
  const ledger = join(state, "s", "ledger", "records-0.log");
  await writeFile(ledger, (await readFile(ledger, "utf8")).replace("xdskit ledger 1", "xdskit ledger 9"));
  await site.write("clusters.yaml", "- {");
  const again = await start();
  await until("the source is read", () => again.logged("load-failed").length === 1);
  const leftOut =
    "xds: only since the start of the server, without what is on disk: .*ledger cannot be used: .*version.*\n";
  const whole = await again.xds("history");
  expect([whole.code, whole.stderr]).toEqual([
    0,
    expect.stringMatching(new RegExp(`^xds: nothing was published\n${leftOut}$`)),
  ]);
  const { code, stderr } = await again.xds("history", "--node", "edge-1");
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(new RegExp(`^xds: nothing is recorded of node edge-1\n${leftOut}$`)),
  ]);
});

test("without anything in force, the status of a broken source does not say that anything is", async () => {
  await site.write("clusters.yaml", "- {");
  const serving = await start();
  await until("the source is read", () => serving.logged("load-failed").length === 1);
  const { stdout } = await serving.xds("status");
  expect(stdout).toMatch(/^source {4}failed for \d+s, 1 error, nothing is in force$/m);
});

test("a change after a restart is published as a difference", async () => {
  await until("it serves", async () => (await start()).isReady());
  await stop();
  await site.write("clusters.yaml", clusters(...many, "more"));
  const again = await start();
  await until("the change is in force", async () => (await served(again)) === 31);
  expect(await again.ask("/api/v1/revisions")).toMatchObject({ items: [{ number: 2, added: 1 }, { number: 1 }] });
});

/** A node with the last listener of its view, whose deletion is held as 2. */
async function startWithoutListeners(): Promise<Serving> {
  const listener = (name: string): string =>
    `- "@type": type.googleapis.com/envoy.config.listener.v3.Listener\n  name: ${name}\n  address:\n    socket_address: { address: 127.0.0.1, port_value: 10000 }\n`;
  await site.write("listeners.yaml", listener("ingress"));
  const serving = await start();
  await until("it serves", () => serving.isReady());
  const node = await serving.connect("edge-1");
  ended.push(async () => node.close());
  await rm(join(site.directory, "listeners.yaml"));
  await until("it is held", async () => serving.logged("change-held").length === 1);
  return serving;
}

const ended: (() => Promise<void>)[] = [];

async function endNodes(): Promise<void> {
  for (const end of ended.splice(0)) await end();
}

const reason = "1 connected node would have no listener (layers base)";

test("what a person rejected stays rejected after a restart, and is judged again once the files differ", async () => {
  const first = await startWithoutListeners();
  expect((await first.xds("reject", "-m", "no")).code).toBe(0);
  await stop();
  await endNodes();
  const again = await start();
  await until("the source is read", () => again.logged("loaded").length === 1);
  expect([again.logged("ledger-recorded"), again.logged("change-held"), await served(again)]).toEqual([[], [], 31]);
  await site.write("clusters.yaml", clusters(...many, "more"));
  await until("it is held", () => again.logged("change-held").length === 1);
  expect(again.logged("change-held")).toMatchObject([{ number: 4, fuses: [reason], changes: 2 }]);
}, 60_000);

test("what is held stays held after a restart in which no node has come back, also if the files were edited meanwhile", async () => {
  await startWithoutListeners();
  await stop();
  await endNodes();
  await site.write("clusters.yaml", clusters(...many, "more"));
  const again = await start();
  await until("it is held", () => again.logged("change-held").length === 1);
  expect(again.logged("change-held")).toMatchObject([{ number: 3, fuses: [reason], changes: 2 }]);
  expect(await served(again)).toBe(31);
  await stop();
  const third = await start();
  await until("the source is read", () => third.logged("loaded").length === 1);
  expect([third.logged("ledger-recorded"), await served(third)]).toEqual([[], 31]);
  expect(await third.ask("/api/v1/server")).toMatchObject({ revision: 1, ledger: { number: 3 } });
}, 60_000);
