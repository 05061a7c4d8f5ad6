import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { contentDigest, createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import {
  createResource,
  createResourceError,
  formatTypeUrl,
  type Resource,
  type ResourceInput,
} from "@xdskit/protocol";
import {
  createDirectorySource,
  type DirectorySource,
  type Load,
  type Problem,
  transactionBetween,
} from "@xdskit/source";
import { startReaderThread } from "@xdskit/source/thread";
import { describe, expect, onTestFinished, test } from "vitest";
import { DirectoryReading, type ReadingOptions } from "../src/directory/directory-reading.ts";
import { LoadFollower, LoadTeller } from "../src/off-thread/load-change.ts";
import { createForPacking, packInParts, unpack } from "../src/off-thread/packed-resources.ts";
import { WorkerReading } from "../src/off-thread/worker-reading.ts";
import { temporaryDirectory, write } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const everything = new Set([""]);
const asPatient = { isPatient: false };
const goldenCases = fileURLToPath(new URL("golden", import.meta.url));

/** So many clusters are above what is read without a thread. */
const LARGE = 1_200;

function clusters(count: number, timeoutOf: (index: number) => string = () => "1s"): string {
  const list = Array.from(
    { length: count },
    (_, index) =>
      `- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: c${index}\n  connect_timeout: ${timeoutOf(index)}\n` +
      `  type: EDS\n  eds_cluster_config: { eds_config: { ads: {} } }\n`,
  );
  return `resources:\n${list.join("")}`;
}

function readingOf(directory: string): ReadingOptions {
  return {
    directory,
    api,
    validation: undefined,
    maxFileBytes: undefined,
    allowEmpty: undefined,
    findsVersionLoss: false,
    secretFiles: undefined,
  };
}

function workerReadingOf(directory: string): WorkerReading {
  const { api: _, ...input } = readingOf(directory);
  const reading = new WorkerReading({ ...input, descriptors: [] });
  onTestFinished(() => reading.close());
  return reading;
}

/** A load as it arrives in another thread. */
function carry(teller: LoadTeller, follower: LoadFollower, load: Load): Load {
  const resources: Resource[] = [];
  const problems: Problem[] = [];
  const parts = teller.tell(load);
  for (;;) {
    const { done, value } = parts.next();
    if (done === true) return follower.follow(structuredClone(value), resources, problems);
    const part = structuredClone(value);
    if (part.kind === "resources") resources.push(...unpack(part.packed));
    else problems.push(...part.problems);
  }
}

/** The threads that are started while the test runs. */
function startedThreads(): readonly Worker[] {
  const threads: Worker[] = [];
  const note = (thread: Worker): void => {
    threads.push(thread);
  };
  process.on("worker", note);
  onTestFinished(() => {
    process.off("worker", note);
  });
  return threads;
}

/** The first of them, as soon as there is one. */
async function threadFrom(threads: readonly Worker[]): Promise<Worker> {
  if (threads[0] === undefined) await once(process, "worker");
  const [thread] = threads;
  if (thread === undefined) throw new Error("expected a thread");
  return thread;
}

function offThreadSource(directory: string, given: EnvoyApi = api): DirectorySource {
  return createDirectorySource({ directory, api: given, pollMs: 3_600_000, offThread: { descriptors: [] } });
}

/** Loads one after the other; the test ends the watch. */
function watch(source: DirectorySource): { next(): Promise<Load>; abort: AbortController } {
  const abort = new AbortController();
  const loads = source.watch(abort.signal)[Symbol.asyncIterator]();
  onTestFinished(async () => {
    abort.abort();
    await loads.return?.();
  });
  return {
    abort,
    next: async () => {
      const { value, done } = await loads.next();
      if (done === true) throw new Error("the watch has ended");
      return value;
    },
  };
}

describe("a thread reads as it is read without one", () => {
  test.each(readdirSync(goldenCases))("%s", async (name) => {
    const reading = new DirectoryReading(readingOf(join(goldenCases, name, "in")));
    const { load } = await reading.look(everything, asPatient);
    expect(carry(new LoadTeller(), new LoadFollower(), load)).toEqual(load);
  });

  test("through changes, errors and their mending, in several layers", async () => {
    const directory = temporaryDirectory({
      "a.yaml": clusters(LARGE),
      "nodes/edge-7/b.yaml": clusters(3),
      "xdskit.yaml": "groups: [{ name: canary, match: { cluster: canary } }]\n",
    });
    const here = new DirectoryReading(readingOf(directory));
    const there = workerReadingOf(directory);
    const bad = "name: x\n".repeat(3);
    const steps: readonly (readonly [file: string, content: string])[] = [
      ["a.yaml", clusters(LARGE, (index) => (index === 77 ? "2s" : "1s"))],
      ["a.yaml", bad],
      ["c.yaml", clusters(5)],
      ["a.yaml", clusters(LARGE - 10)],
      ["c.yaml", clusters(0)],
      ["groups/canary/d.json", `{ "resources": [] }`],
      ["xdskit.yaml", "groups: [{ name: canary, match: { cluster: edge } }]\n"],
    ];
    let paths = everything;
    for (const [file, content] of [["", ""], ...steps] as const) {
      if (file !== "") {
        write(directory, file, content);
        paths = new Set([file.split("/")[0] ?? ""]);
      }
      const expected = await here.look(paths, asPatient);
      expect((await there.look(paths, asPatient)).load).toEqual(expected.load);
      expect(there.folders).toEqual(new Map(here.tree.folders));
    }
  });
});

describe("resources are packed", () => {
  const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
  const other = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
  const whole = new Uint8Array(1000).map((_, index) => index % 251);
  const make = (name: string, rest: Partial<ResourceInput> = {}): Resource =>
    createResource({ type, name, bytes: whole.subarray(3, 6), ...rest }, contentDigest);

  test("with all that they have", () => {
    const resources = [
      make("plain"),
      make("references", {
        references: [
          { type: other, name: "a" },
          { type, name: "b" },
        ],
      }),
      make("demand", { onDemand: true, bytes: new Uint8Array() }),
      make("wrapped", { aliases: ["x", "y"], ttlMs: 5, doNotCache: true, metadata: whole.subarray(8, 12) }),
      make("versioned", { version: "7", bodyType: other }),
      make("variant", { constraints: { kind: "exists", key: "k" } }),
      createResourceError({ type, name: "gone", error: { code: 5, message: "none" } }, contentDigest),
    ];
    const [part, ...others] = [...packInParts(resources)];
    if (part === undefined) throw new Error("expected a part");
    const unpacked = unpack(structuredClone(part));
    expect(unpacked).toStrictEqual(resources);
    expect(others).toEqual([]);
    // Bytes apart from the message, and no more of them than they need.
    const buffers = new Set(unpacked.map(({ bytes }) => bytes.buffer));
    expect([...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(part.bytes.length);
    expect(unpacked[3]?.metadata?.buffer.byteLength).toBe(4);
  });

  test.each<[string, Partial<ResourceInput>]>([
    ["nothing uncommon", { references: [{ type: other, name: "a" }] }],
    ["the version that a digest of nothing would have", { version: "A".repeat(16) }],
    ["aliases", { aliases: ["x"] }],
    ["a TTL", { ttlMs: 5 }],
    ["metadata", { metadata: whole.subarray(8, 12) }],
    ["a body of another type", { bodyType: other }],
    ["constraints", { constraints: { kind: "exists", key: "k" } }],
    ["no place in wildcards", { onDemand: true }],
  ])("and one with %s gets its version where it is unpacked, or has it", (what, rest) => {
    const input: ResourceInput = { type, name: "one", bytes: whole.subarray(3, 6), ...rest };
    const made = createForPacking(input);
    expect(made.sum === 0n).toBe(what === "nothing uncommon");
    const unpacked = [...packInParts([made])].flatMap((part) => unpack(structuredClone(part)));
    expect(unpacked).toStrictEqual([createResource(input, contentDigest)]);
  });

  test("small bodies share 1 KiB, and large ones have their own", () => {
    const lengths = [...Array.from({ length: 400 }, (_, index) => index % 130), 1024, 1025, 5_000, 7];
    const sized = lengths.map((length, index) => make(`${index}`, { bytes: new Uint8Array(length).fill(index) }));
    const unpacked = [...packInParts(sized)].flatMap((part) => unpack(structuredClone(part)));
    expect(unpacked).toStrictEqual(sized);
    const buffers = [...new Set(unpacked.map(({ bytes }) => bytes.buffer))].map(({ byteLength }) => byteLength);
    expect(buffers.filter((length) => length > 1024)).toEqual([1025, 5_000]);
    expect(buffers.length).toBeLessThan(40);
  });

  test("in parts of 500, or of 256 KiB, and none is cut", () => {
    const small = Array.from({ length: 1001 }, (_, index) => make(`small-${index}`));
    const middle = Array.from({ length: 5 }, (_, index) => make(`middle-${index}`, { bytes: new Uint8Array(100_000) }));
    const large = make("large", { bytes: new Uint8Array(1_000_000) });
    const parts = [...packInParts([...small, ...middle, large, make("last")])];
    expect(parts.map(({ names }) => names.length)).toEqual([500, 500, 3, 2, 1, 1, 1]);
    expect(parts.flatMap(({ names }) => names)).toEqual(
      [...small, ...middle, large, make("last")].map(({ name }) => name),
    );
  });
});

test("nothing of a large file is read where the source is", async () => {
  const directory = temporaryDirectory({ "a.yaml": clusters(LARGE) });
  const threads = startedThreads();
  const calls: string[] = [];
  const counted = new Proxy(api, {
    get(target, name: keyof EnvoyApi) {
      const value = target[name];
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls.push(name);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  const { next } = watch(offThreadSource(directory, counted));
  expect((await next()).state?.resources).toBe(LARGE);
  expect(calls).toEqual([]);
  expect(threads).toHaveLength(1);
});

test("what did not change is the same object, and what is to be committed is what changed", async () => {
  const directory = temporaryDirectory({ "a.yaml": clusters(LARGE), "nodes/edge-7/b.yaml": clusters(3) });
  const { next } = watch(offThreadSource(directory));
  const before = (await next()).state;
  write(
    directory,
    "a.yaml",
    clusters(LARGE, (index) => (index === 77 ? "2s" : "1s")),
  );
  const after = (await next()).state;
  if (before === undefined || after === undefined) throw new Error("expected two states");
  expect(after.layers.get("node/edge-7")).toBe(before.layers.get("node/edge-7"));
  expect(after.settings).toBe(before.settings);
  expect(after.groups).toBe(before.groups);
  const old = new Set(before.layers.get("base"));
  const base = after.layers.get("base") ?? [];
  expect(base.filter((resource) => !old.has(resource))).toEqual([base[77]]);
  expect(transactionBetween(before, after)).toEqual({ changes: [{ layer: "base", puts: [base[77]] }] });
});

describe("a small directory", () => {
  test("is read without a thread until it has grown, and then nothing is told twice", async () => {
    const directory = temporaryDirectory({ "a.yaml": clusters(10) });
    const threads = startedThreads();
    const { next } = watch(offThreadSource(directory));
    const small = (await next()).state;
    expect(threads).toHaveLength(0);
    write(directory, "b.yaml", clusters(LARGE).replaceAll("name: c", "name: d"));
    const large = (await next()).state;
    expect(threads).toHaveLength(1);
    if (small === undefined || large === undefined) throw new Error("expected two states");
    const [change, ...others] = transactionBetween(small, large)?.changes ?? [];
    expect(others).toEqual([]);
    expect(change?.puts).toEqual(large.layers.get("base")?.filter(({ name }) => name.startsWith("d")));
    expect(change?.deletes).toBeUndefined();
  });

  test.each([
    ["one large file of settings", { "a.yaml": clusters(10), "xdskit.yaml": `${"# \n".repeat(50_000)}listen: ":1"\n` }],
    [
      "many small files",
      Object.fromEntries(
        Array.from({ length: 40 }, (_, index) => [
          `${index}.yaml`,
          clusters(30).replaceAll("name: c", `name: ${index}-`),
        ]),
      ),
    ],
  ])("is none with %s", async (_, files) => {
    const directory = temporaryDirectory(files);
    const threads = startedThreads();
    const source = offThreadSource(directory);
    const load = await source.load();
    expect(threads).toHaveLength(1);
    const here = await createDirectorySource({ directory, api }).load();
    expect(load).toEqual(here);
    await threads[0]?.terminate();
  });
});

describe("a thread that ends", () => {
  test("while it reads is a problem of that load, and the next reads everything again", async () => {
    const reading = workerReadingOf(temporaryDirectory({ "a.yaml": clusters(LARGE) }));
    const threads = startedThreads();
    const first = reading.look(everything, asPatient);
    await (await threadFrom(threads)).terminate();
    expect(await first).toEqual({
      load: {
        state: undefined,
        problems: [
          {
            code: "SOURCE_READER_ENDED",
            severity: "error",
            file: ".",
            message: "the thread that reads the files has ended",
            hint: "it is started again; if files are very large, split them or give Node more memory",
          },
        ],
      },
      changing: [],
    });
    expect((await reading.look(new Set(["other.yaml"]), asPatient)).load.state?.resources).toBe(LARGE);
    expect(threads).toHaveLength(2);
  });

  test("while nothing happens is told with the next look, and what was good stays: nothing is committed again", async () => {
    const directory = temporaryDirectory({ "a.yaml": clusters(LARGE) });
    const threads = startedThreads();
    const { next } = watch(offThreadSource(directory));
    const good = (await next()).state;
    await threads[0]?.terminate();
    write(directory, "b.yaml", clusters(1).replace("name: c", "name: d"));
    expect((await next()).problems.map(({ code }) => code)).toEqual(["SOURCE_READER_ENDED"]);
    const again = await next();
    expect(threads).toHaveLength(2);
    if (good === undefined || again.state === undefined) throw new Error("expected two states");
    const added = again.state.layers.get("base")?.at(-1);
    expect(transactionBetween(good, again.state)).toEqual({ changes: [{ layer: "base", puts: [added] }] });
  });
});

test("the end of the watch ends the thread, also while it reads", async () => {
  const directory = temporaryDirectory({ "a.yaml": clusters(LARGE) });
  const threads = startedThreads();
  const source = offThreadSource(directory);
  const abort = new AbortController();
  const first = source.watch(abort.signal)[Symbol.asyncIterator]().next();
  const exit = once(await threadFrom(threads), "exit");
  abort.abort();
  expect(await first).toEqual({ value: undefined, done: true });
  await exit;
  expect((await source.load()).state?.resources).toBe(LARGE);
  expect(threads).toHaveLength(2);
  await threads[1]?.terminate();
});

test("a source that is closed while it reads ends its thread, and says so to who waits", async () => {
  const threads = startedThreads();
  const source = offThreadSource(temporaryDirectory({ "a.yaml": clusters(LARGE) }));
  const load = source.load();
  const exit = once(await threadFrom(threads), "exit");
  source.close();
  await expect(load).rejects.toMatchObject({ name: "AbortError" });
  await exit;
});

test("a source that is closed before it knows that it needs a thread starts none, and one started ahead ends", async () => {
  const directory = temporaryDirectory({ "a.yaml": clusters(LARGE) });
  const threads = startedThreads();
  startReaderThread(directory);
  const exit = once(await threadFrom(threads), "exit");
  const source = offThreadSource(directory);
  const load = source.load();
  await nextTurn();
  source.close();
  await expect(load).rejects.toMatchObject({ name: "AbortError" });
  await exit;
  expect(threads).toHaveLength(1);
  expect((await source.load()).state?.resources).toBe(LARGE);
  await threads[1]?.terminate();
});

test("resources are told as they arrive, and the load has the same ones", async () => {
  const arrived: (readonly Resource[])[] = [];
  const reading = workerReadingOf(temporaryDirectory({ "a.yaml": clusters(LARGE) }));
  const { load } = await reading.look(everything, { isPatient: false, onResources: (some) => arrived.push(some) });
  expect(arrived.map(({ length }) => length)).toEqual([500, 500, 200]);
  const base = load.state?.layers.get("base") ?? [];
  expect(arrived.flat().map((resource, index) => resource === base[index])).toEqual(base.map(() => true));
});

describe("a thread that is started ahead", () => {
  test("reads for the first source that needs one, and is the only one", async () => {
    const directory = temporaryDirectory({ "below/a.yaml": clusters(LARGE) });
    const threads = startedThreads();
    startReaderThread(directory);
    startReaderThread(directory);
    const source = offThreadSource(directory);
    expect((await source.load()).state?.resources).toBe(LARGE);
    expect(threads).toHaveLength(1);
    source.close();
  });

  test("ends if nobody needs it", async () => {
    const threads = startedThreads();
    startReaderThread(temporaryDirectory({ "a.yaml": clusters(LARGE) }));
    const exit = once(await threadFrom(threads), "exit");
    expect((await offThreadSource(temporaryDirectory({ "a.yaml": clusters(3) })).load()).state?.resources).toBe(3);
    await exit;
  });

  test("is replaced if it ends before that", async () => {
    const directory = temporaryDirectory({ "a.yaml": clusters(LARGE) });
    const threads = startedThreads();
    startReaderThread(directory);
    await (await threadFrom(threads)).terminate();
    expect((await offThreadSource(directory).load()).state?.resources).toBe(LARGE);
    expect(threads).toHaveLength(2);
    await threads[1]?.terminate();
  });

  test.each([
    ["small", { "a.yaml": clusters(10) }],
    ["large only by what is no resource", { "notes.txt": clusters(LARGE), ".hidden/a.yaml": clusters(LARGE) }],
  ])("is none for a directory that is %s", (_, files) => {
    const threads = startedThreads();
    startReaderThread(temporaryDirectory(files));
    startReaderThread(join(temporaryDirectory({}), "missing"));
    expect(threads).toHaveLength(0);
  });
});

describe("where a resource is", () => {
  const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
  const asked = (name: string, ...layers: readonly string[]) => ({ layers, type, name });

  test.each([3, LARGE])("is found by layer, type and name, of %d resources", async (count) => {
    const directory = temporaryDirectory({
      "many.yaml": clusters(count),
      "groups/edge/one.json": JSON.stringify({ resources: [{ "@type": type, name: "c1", type: "EDS" }] }),
    });
    write(directory, "xdskit.yaml", "groups:\n  - name: edge\n    match: { cluster: edge }\n");
    const source = createDirectorySource({ directory, api, offThread: { descriptors: [] } });
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    await source.load();
    const watching = source.watch(stop.signal)[Symbol.asyncIterator]().next();
    const places = (): Promise<unknown> =>
      source.placesOf([
        ...[asked("c1", "base"), asked("c1", "group/edge", "base"), asked("c2", "group/edge", "base")],
        ...[asked("c2", "group/edge"), asked("none", "base")],
      ]);
    const inMany = (index: number) => ({ file: "many.yaml", line: 3 + index * 5 });
    const inGroup = { file: "groups/edge/one.json", line: 1 };
    expect(await places()).toEqual([inMany(1), inGroup, inMany(2), undefined, undefined]);
    write(directory, "many.yaml", `# a line more\n${clusters(count)}`);
    await source.load();
    expect(await source.placesOf([asked("c0", "base")])).toEqual([{ file: "many.yaml", line: 4 }]);
    stop.abort();
    await watching;
  });
});
