import { appendFileSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NodePastRecorder } from "../../src/ledger/node-past-recorder.ts";

const CDS = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const LDS = formatTypeUrl("envoy.config.listener.v3.Listener");
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-nodes-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true, force: true });
});

interface Client {
  readonly id: string;
  readonly reached: number;
}

/** A recorder whose clients, revision and clock the test sets; each revision is the number with ten more. */
async function open(maxBytes?: number | "memory") {
  const world = { clients: [] as readonly Client[], revision: 1, now: 1_000 };
  const problems: string[] = [];
  const recovered: string[] = [];
  const recorder = new NodePastRecorder({
    reached: () => world.clients,
    revision: () => world.revision,
    numberOf: (revision) => (revision < 1 ? undefined : revision + 10),
    now: () => world.now,
    rejectedNumberOf: (revision) => revision + 10,
    onProblem: (message) => problems.push(message),
    onRecovered: (message) => recovered.push(message),
  });
  if (maxBytes !== "memory")
    await recorder.open({ directory: join(directory, "nodes"), ...(maxBytes !== undefined && { maxBytes }) });
  const sweep = async (change: Partial<typeof world>): Promise<void> => {
    Object.assign(world, change);
    await recorder.sweep();
  };
  return { recorder, world, sweep, problems, recovered };
}

const past = async (recorder: NodePastRecorder, id: string) =>
  (await recorder.of(id)).map(({ time, number }) => [time, number]);

test("a node has what all of its clients have, and a line for each number", async () => {
  const { recorder, sweep } = await open();
  await sweep({ clients: [{ id: "a", reached: -1 }] });
  await sweep({ clients: [{ id: "a", reached: 1 }], now: 2_000 });
  const two = [
    { id: "a", reached: 2 },
    { id: "a", reached: 1 },
    { id: "b", reached: Number.POSITIVE_INFINITY },
  ];
  await sweep({ clients: two, revision: 2, now: 3_000 });
  await sweep({ clients: [{ id: "a", reached: 2 }], now: 4_000 });
  expect(await past(recorder, "a")).toEqual([
    [2_000, 11],
    [4_000, 12],
  ]);
  expect(await past(recorder, "b")).toEqual([[3_000, 12]]);
  expect(await past(recorder, "c")).toEqual([]);
});

test("a restart goes on behind a torn line, and repeats nothing", async () => {
  const before = await open();
  await before.sweep({ clients: [{ id: "a", reached: 1 }] });
  await before.recorder.close();
  appendFileSync(join(directory, "nodes", "newest.log"), '[5000,12,"a');
  const { recorder, sweep } = await open();
  await sweep({ clients: [{ id: "a", reached: 1 }], now: 6_000 });
  await sweep({ clients: [{ id: "a", reached: 3 }], revision: 3, now: 7_000 });
  expect(await past(recorder, "a")).toEqual([
    [1_000, 11],
    [7_000, 13],
  ]);
});

test("the files stay within their bytes, and what a node has had for long stays known", async () => {
  const { recorder, sweep } = await open(4_096);
  const quiet = { id: "quiet", reached: 1 };
  for (let revision = 1; revision <= 500; revision++) {
    await sweep({ clients: [quiet, { id: "busy", reached: revision }], revision, now: revision });
  }
  const sizes = readdirSync(join(directory, "nodes")).map((name) => statSync(join(directory, "nodes", name)).size);
  expect(sizes).toHaveLength(2);
  expect(Math.max(...sizes)).toBeLessThan(2_048 + 100);
  expect(await past(recorder, "quiet")).toEqual([[1, 11]]);
  const busy = await past(recorder, "busy");
  expect(busy.at(-1)).toEqual([500, 510]);
  expect(busy.length).toBeGreaterThan(80);
});

test.each([undefined, "memory"] as const)("what a node NACKed is known, with its reason (%s)", async (where) => {
  const { recorder, sweep } = await open(where);
  const nack = (revision: number, reason: string, type: TypeUrl = CDS): void =>
    recorder.nacked({ node: "a", type, revision, at: revision, reason });
  await sweep({ clients: [{ id: "a", reached: 1 }] });
  nack(2, "no");
  nack(3, "no");
  nack(3, "never", LDS);
  await sweep({ now: 3_000 });
  nack(3, "no");
  await sweep({ clients: [{ id: "a", reached: 4 }], revision: 4, now: 4_000 });
  expect(await recorder.of("a")).toEqual([
    { time: 1_000, number: 11, id: "a" },
    { time: 3, number: 13, id: "a", nacked: { type: CDS, reason: "no" } },
    { time: 3, number: 13, id: "a", nacked: { type: LDS, reason: "never" } },
    { time: 4_000, number: 14, id: "a" },
  ]);
});

test("who asks is told what was NACKed a moment ago, and during a sweep", async () => {
  const { recorder, world } = await open("memory");
  const reject = (revision: number): void =>
    recorder.nacked({ node: "a", type: CDS, revision, at: revision, reason: "no" });
  const numbers = async (): Promise<readonly number[]> => (await recorder.of("a")).map(({ number }) => number);
  reject(1);
  expect(await numbers()).toEqual([11]);
  let isSweeping = true;
  Object.defineProperty(world, "clients", {
    get: () => {
      if (isSweeping) reject(3);
      isSweeping = false;
      return [];
    },
  });
  reject(2);
  expect(await numbers()).toEqual([11, 12]);
  expect(await numbers()).toEqual([11, 12, 13]);
  await recorder.close();
});

test("in memory there is as much as there is room, always as much, and what a node has had for long stays known", async () => {
  const { recorder, sweep } = await open("memory");
  const quiet = { id: "quiet", reached: 1_001 };
  const busy = Array.from({ length: 1_000 }, (_, i) => `busy${i}`);
  const kept: number[] = [];
  for (let revision = 1_001; revision <= 1_400; revision++) {
    await sweep({ clients: [quiet, ...busy.map((id) => ({ id, reached: revision }))], revision, now: revision });
    if (revision % 50 === 0) kept.push((await past(recorder, "busy7")).length);
  }
  expect(await past(recorder, "quiet")).toEqual([[1_001, 1_011]]);
  expect((await past(recorder, "busy7")).at(-1)).toEqual([1_400, 1_410]);
  const [full = 0] = kept.slice(-1);
  expect(full).toBeLessThan(200);
  expect(kept).toEqual([50, 100, 150, full, full, full, full, full]);
});

test("a past that cannot be written is told once, and nothing else fails", async () => {
  const { recorder, sweep, problems, recovered } = await open();
  rmSync(join(directory, "nodes"), { recursive: true });
  writeFileSync(join(directory, "nodes"), "in the way");
  await sweep({ clients: [{ id: "a", reached: 1 }] });
  expect(problems).toEqual([
    expect.stringMatching(/^what nodes have cannot be written down, and is tried again every minute: ENOTDIR/),
  ]);
  await sweep({ clients: [{ id: "a", reached: 2 }], revision: 2, now: 2_000 });
  await recorder.close();
  expect([problems.length, recovered]).toEqual([1, []]);
});

test("what could not be written is known, and written when it can be", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { recorder, sweep, world, problems, recovered } = await open();
  const nodes = join(directory, "nodes");
  await sweep({ clients: [{ id: "a", reached: 1 }] });
  renameSync(nodes, `${nodes}.away`);
  await sweep({ clients: [{ id: "a", reached: 2 }], revision: 2, now: 2_000 });
  recorder.nacked({ node: "a", type: CDS, revision: 3, at: 3_000, reason: "no" });
  Object.assign(world, { clients: [{ id: "a", reached: 3 }], revision: 3, now: 4_000 });
  const all = [
    [1_000, 11],
    [2_000, 12],
    [3_000, 13],
    [4_000, 13],
  ];
  await recorder.flush();
  expect([problems.length, recovered, await past(recorder, "a")]).toEqual([1, [], all.slice(1)]);
  renameSync(`${nodes}.away`, nodes);
  vi.advanceTimersByTime(60_000);
  await vi.waitFor(() => expect(recovered).toEqual(["what nodes have is written down again"]));
  await recorder.close();
  const again = await open();
  expect(await past(again.recorder, "a")).toEqual(all);
  expect(problems).toHaveLength(1);
});

test("20,000 nodes cost one line each for a number, and none for live data", async () => {
  const { recorder, sweep } = await open();
  const fleet = (reached: number): readonly Client[] =>
    Array.from({ length: 20_000 }, (_, i) => ({ id: `n${i}`, reached }));
  await sweep({ clients: fleet(1) });
  const { size } = statSync(join(directory, "nodes", "newest.log"));
  expect(size).toBeLessThan(20_000 * 20);
  await sweep({ clients: fleet(1) });
  expect(statSync(join(directory, "nodes", "newest.log")).size).toBe(size);
  expect(await past(recorder, "n19999")).toEqual([[1_000, 11]]);
});
