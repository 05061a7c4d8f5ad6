import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createEnvoyApi } from "@xdskit/envoy-api";
import {
  createDirectorySource,
  type DirectorySource,
  type DirectorySourceOptions,
  type Load,
  transactionBetween,
} from "@xdskit/source";
import { describe, expect, onTestFinished, test } from "vitest";
import { asOrdinaryUser } from "./support/ordinary-user.ts";
import { cluster, temporaryDirectory, write } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const DEADLINE_MS = 10_000;

/** Polling is off, unless a test is about it: what is seen was told by the system. */
const never = 3_600_000;

/** Loads one after the other, as a server would take them. */
class Watching {
  readonly source: DirectorySource;
  readonly #loads: AsyncIterator<Load>;
  #next: Promise<IteratorResult<Load>> | undefined;

  constructor(source: DirectorySource) {
    const abort = new AbortController();
    this.source = source;
    this.#loads = source.watch(abort.signal)[Symbol.asyncIterator]();
    onTestFinished(async () => {
      abort.abort();
      await this.#next;
      await this.#loads.return?.();
    });
    this.#next = this.#loads.next();
  }

  /** The next load; fails after ten seconds without one. */
  async next(): Promise<Load> {
    const deadline = new AbortController();
    const tooLate = sleep(DEADLINE_MS, undefined, { signal: deadline.signal }).then(() => {
      throw new Error("no load in time");
    });
    const arrived = await Promise.race([this.#next ?? this.#loads.next(), tooLate.catch(ignoreAbort)]);
    deadline.abort();
    this.#next = this.#loads.next();
    if (arrived === undefined || arrived.done === true) throw new Error("the watch has ended");
    return arrived.value;
  }

  /** The first load that is as wanted; those before it are what is there in between. */
  async until(isWanted: (load: Load) => boolean): Promise<Load> {
    for (;;) {
      const load = await this.next();
      if (isWanted(load)) return load;
    }
  }

  /** Everything that has arrived until nothing has for so long. */
  async settle(ms: number): Promise<readonly Load[]> {
    const loads: Load[] = [];
    for (;;) {
      const arrived = await Promise.race([this.#next, sleep(ms, undefined)]);
      if (arrived === undefined || arrived.done === true) return loads;
      loads.push(arrived.value);
      this.#next = this.#loads.next();
    }
  }
}

function ignoreAbort(error: unknown): undefined {
  if (!(error instanceof Error) || error.name !== "AbortError") throw error;
  return undefined;
}

async function watchFrom(
  directory: string,
  options: Partial<DirectorySourceOptions> = {},
): Promise<{ first: Load; watching: Watching }> {
  const source = createDirectorySource({ directory, api, pollMs: never, ...options });
  const first = await source.load();
  const watching = new Watching(source);
  // The watch is in place when the first look after it found nothing new.
  expect(await watching.settle(150)).toEqual([]);
  return { first, watching };
}

function names(load: Load, layer = "base"): readonly string[] {
  return (load.state?.layers.get(layer) ?? []).map(({ name }) => name);
}

function codes(load: Load): readonly string[] {
  return load.problems.map(({ code, file }) => `${code} ${file}`);
}

describe("a change is seen when a file", () => {
  test("is written in place", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const { first, watching } = await watchFrom(directory);
    write(directory, "a.yaml", cluster("a", "2s"));
    const second = await watching.next();
    expect(second.state && transactionBetween(first.state, second.state)).toMatchObject({
      changes: [{ layer: "base", puts: [{ name: "a" }] }],
    });
  });

  test("is renamed over the old one", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const { watching } = await watchFrom(directory);
    write(directory, ".a.yaml.new", cluster("b"));
    renameSync(join(directory, ".a.yaml.new"), join(directory, "a.yaml"));
    expect(names(await watching.next())).toEqual(["b"]);
  });

  test("is added, in a folder that is new as well", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const { watching } = await watchFrom(directory);
    write(directory, "nodes/n-1/deep/a.yaml", cluster("a", "3s"));
    expect(names(await watching.next(), "node/n-1")).toEqual(["a"]);
    write(directory, "nodes/n-1/deep/b.yaml", cluster("b"));
    expect(names(await watching.next(), "node/n-1")).toEqual(["a", "b"]);
  });

  test("is deleted, and when its folder is", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a"), "b.yaml": cluster("b"), "c/c.yaml": cluster("c") });
    const { first, watching } = await watchFrom(directory);
    unlinkSync(join(directory, "b.yaml"));
    expect(names(await watching.next())).toEqual(["a", "c"]);
    rmSync(join(directory, "c"), { recursive: true });
    const last = await watching.next();
    expect(last.state && transactionBetween(first.state, last.state)).toMatchObject({
      changes: [{ layer: "base", deletes: [{ name: "b" }, { name: "c" }] }],
    });
  });

  test("is in a folder that is replaced by another one of the same name", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a"), "c/c.yaml": cluster("c") });
    const { watching } = await watchFrom(directory);
    write(directory, ".next/c.yaml", cluster("d"));
    renameSync(join(directory, "c"), join(directory, ".old"));
    renameSync(join(directory, ".next"), join(directory, "c"));
    expect(names(await watching.until((load) => names(load).includes("d")))).toEqual(["a", "d"]);
    write(directory, "c/c.yaml", cluster("e"));
    expect(names(await watching.next())).toEqual(["a", "e"]);
  });

  test("keeps its size and its time of change, as some copying tools leave them", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const then = new Date(1_700_000_000_000);
    utimesSync(join(directory, "a.yaml"), then, then);
    const { watching } = await watchFrom(directory);
    write(directory, "a.yaml", cluster("b"));
    utimesSync(join(directory, "a.yaml"), then, then);
    expect(names(await watching.next())).toEqual(["b"]);
  });

  test("is swapped with all others by a link, as Kubernetes does it", async () => {
    const directory = temporaryDirectory({ "..1/a.yaml": cluster("a"), "..1/groups/g/x.yaml": cluster("x") });
    symlinkSync("..1", join(directory, "..data"));
    symlinkSync("..data/a.yaml", join(directory, "a.yaml"));
    symlinkSync("..data/groups", join(directory, "groups"));
    const { first, watching } = await watchFrom(directory);
    expect([names(first), names(first, "group/g")]).toEqual([["a"], ["x"]]);
    for (const round of ["2", "3"]) {
      write(directory, `..${round}/a.yaml`, cluster(`a-${round}`));
      write(directory, `..${round}/groups/g/x.yaml`, cluster(`x-${round}`));
      symlinkSync(`..${round}`, join(directory, "..data_tmp"));
      renameSync(join(directory, "..data_tmp"), join(directory, "..data"));
      const next = await watching.next();
      expect([names(next), names(next, "group/g")]).toEqual([[`a-${round}`], [`x-${round}`]]);
      rmSync(join(directory, `..${Number(round) - 1}`), { recursive: true });
    }
  });

  test("is below a link that is the directory itself, and the link is set to another one", async () => {
    const around = temporaryDirectory({ "one/a.yaml": cluster("a"), "two/a.yaml": cluster("b") });
    symlinkSync("one", join(around, "current"));
    const { watching } = await watchFrom(join(around, "current"));
    symlinkSync("two", join(around, "next"));
    renameSync(join(around, "next"), join(around, "current"));
    expect(names(await watching.next())).toEqual(["b"]);
    write(around, "two/a.yaml", cluster("c"));
    expect(names(await watching.next())).toEqual(["c"]);
  });

  test("is in a folder that a link leads to, and that is moved away", async () => {
    const around = temporaryDirectory({ "config/a.yaml": cluster("a"), "elsewhere/b.yaml": cluster("b") });
    symlinkSync("../elsewhere", join(around, "config/b.yaml"));
    const { first, watching } = await watchFrom(join(around, "config"));
    expect(names(first)).toEqual(["a", "b"]);
    renameSync(join(around, "elsewhere"), join(around, "away"));
    expect(codes(await watching.next())).toEqual(["SYMLINK_BROKEN b.yaml"]);
  });

  test("changes where nobody tells of it: it is looked for", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const elsewhere = temporaryDirectory({ "b.yaml": cluster("b") });
    symlinkSync(join(elsewhere, "b.yaml"), join(directory, "b.yaml")); // only the link's folder is watched
    const { watching } = await watchFrom(directory, { pollMs: 100 });
    write(elsewhere, "b.yaml", cluster("c"));
    expect(names(await watching.next())).toEqual(["a", "c"]);
  });
});

test("a folder that the system does not watch for us is told of, and looked at from time to time", async () => {
  const directory = temporaryDirectory({ "a.yaml": cluster("a"), "b/b.yaml": cluster("b") });
  chmodSync(join(directory, "b"), 0o111); // may be entered, not be listed or watched
  await asOrdinaryUser(async () => {
    const watching = new Watching(createDirectorySource({ directory, api }));
    const first = await watching.next();
    expect(codes(first)).toEqual(["SOURCE_UNWATCHED .", "FILE_UNREADABLE b"]);
    expect(first.problems[0]?.message).toContain("changes in one folder (EACCES)");
  });
});

describe("nothing is told when", () => {
  test("only times change, ignored files come and go, or a file is written as it was", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const { watching } = await watchFrom(directory);
    utimesSync(join(directory, "a.yaml"), new Date(), new Date());
    write(directory, ".a.yaml.swp", "x");
    write(directory, "a.yaml~", "x");
    write(directory, "notes.md", "x");
    write(directory, "a.yaml", cluster("a"));
    expect(await watching.settle(400)).toEqual([]);
    write(directory, "b.yaml", cluster("b"));
    expect(names(await watching.next())).toEqual(["a", "b"]);
  });
});

describe("what belongs together takes effect together", () => {
  test("a thousand writes are one load and one transaction", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    // A busy machine stops the writer for longer than the usual 30 ms.
    const { first, watching } = await watchFrom(directory, { patience: { quietMs: 400, longestMs: 2000 } });
    const writer = spawn(process.execPath, [
      "-e",
      `const fs = require("node:fs");
       for (let i = 0; i < 1000; i++) fs.writeFileSync(process.argv[1] + "/b" + i + ".yaml", process.argv[2].replaceAll("NAME", "b" + i));`,
      directory,
      cluster("NAME"),
    ]);
    const exited = once(writer, "exit");
    const second = await watching.next();
    expect(await exited).toEqual([0, null]);
    expect(second.state && transactionBetween(first.state, second.state)?.changes[0]?.puts?.length).toBe(1000);
    expect(await watching.settle(200)).toEqual([]);
  });

  test("whoever never stops writing is heard all the same", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const { watching } = await watchFrom(directory, { patience: { quietMs: 100, longestMs: 400 } });
    let count = 0;
    const timer = setInterval(() => write(directory, "a.yaml", cluster(`a-${count++}`)), 20);
    onTestFinished(() => clearInterval(timer));
    await watching.next();
    expect(names(await watching.next())).not.toEqual(["a"]);
    clearInterval(timer);
  });

  test("a file of which only the beginning is there does not take effect", async () => {
    const directory = temporaryDirectory({ "a.yaml": `resources:\n- ${indented(cluster("a"))}\n` });
    const { watching } = await watchFrom(directory);
    const whole = `resources:\n- ${indented(cluster("b"))}\n- ${indented(cluster("c"))}\n`;
    const file = openSync(join(directory, "a.yaml"), "w");
    for (const cut of [whole.indexOf("- ", 12) - 1, whole.length - 40, whole.length]) {
      writeSync(file, whole.slice(0, cut), 0);
      await sleep(120);
    }
    closeSync(file);
    const loads = [await watching.until(({ state }) => state !== undefined), ...(await watching.settle(700))];
    expect(loads.map((load) => names(load))).toEqual([["b", "c"]]);
  });

  test("a JSON file of which only the beginning is there is not a mistake yet", async () => {
    const resource = { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster" };
    const textOf = (...clusters: readonly string[]): string =>
      JSON.stringify(clusters.map((name) => ({ ...resource, name })));
    const directory = temporaryDirectory({ "a.json": textOf("a") });
    const { watching } = await watchFrom(directory);
    const whole = `${textOf("b", "c")}\n`;
    const file = openSync(join(directory, "a.json"), "w");
    for (const cut of [whole.length - 30, whole.length]) {
      writeSync(file, whole.slice(0, cut), 0);
      await sleep(120);
    }
    closeSync(file);
    const loads = [await watching.next(), ...(await watching.settle(700))];
    expect(loads.map((load) => names(load))).toEqual([["b", "c"]]);
  });

  test("a JSON file that stays without its end is a mistake after a while", async () => {
    const directory = temporaryDirectory({ "a.json": "[]", "b.yaml": cluster("b") });
    const { watching } = await watchFrom(directory);
    write(directory, "a.json", "[1,\n");
    const bad = await watching.next();
    expect([bad.state, codes(bad)]).toEqual([undefined, ["JSON_SYNTAX a.json"]]);
  });

  test("a file cut to nothing, to be written again, deletes nothing", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a"), "b.yaml": cluster("b") });
    const { watching } = await watchFrom(directory);
    write(directory, "a.yaml", "");
    const between = await watching.next();
    expect([between.state, codes(between)]).toEqual([undefined, ["FILE_EMPTY a.yaml"]]);
    appendFileSync(join(directory, "a.yaml"), cluster("c"));
    expect(names(await watching.next())).toEqual(["c", "b"]);
  });
});

describe("a bad load", () => {
  test("has no state, and what was good before needs no transaction to be good again", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a"), "b.yaml": cluster("b") });
    const { first, watching } = await watchFrom(directory);
    write(directory, "a.yaml", "name: [\n");
    write(directory, "b.yaml", cluster("b", "9s"));
    const bad = await watching.until((load) => load.state === undefined);
    expect(codes(bad)).toEqual(["YAML_SYNTAX a.yaml"]);
    write(directory, "a.yaml", cluster("a"));
    const good = await watching.until((load) => load.state !== undefined);
    expect(good.state && transactionBetween(first.state, good.state)).toMatchObject({
      changes: [{ layer: "base", puts: [{ name: "b" }] }],
    });
    write(directory, "b.yaml", cluster("b"));
    const asBefore = await watching.next();
    expect(asBefore.state && transactionBetween(first.state, asBefore.state)).toBeUndefined();
  });

  test("in the settings is told, and their change is", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a"), "groups/g/a.yaml": cluster("a", "5s") });
    const { first, watching } = await watchFrom(directory);
    expect(codes(first)).toEqual(["GROUP_UNREACHABLE groups/g"]);
    write(directory, "xdskit.yaml", "groups: [{ name: g, match: { id: 'x-*' } }]\n");
    const second = await watching.next();
    expect(codes(second)).toEqual([]);
    write(directory, "xdskit.yaml", "groups: [{ name: g, match: { idd: 'x-*' } }]\n");
    expect(codes(await watching.next())).toEqual(["SETTING_UNKNOWN xdskit.yaml"]);
    unlinkSync(join(directory, "xdskit.yaml"));
    expect(codes(await watching.next())).toEqual(["GROUP_UNREACHABLE groups/g"]);
  });
});

describe("a directory that vanishes", () => {
  test.each([
    ["by being renamed", (directory: string) => renameSync(directory, `${directory}-away`)],
    ["by being removed", (directory: string) => rmSync(directory, { recursive: true })],
  ])("%s is a failure and not an empty one, until it comes back", async (_, vanish) => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const { watching } = await watchFrom(directory, { pollMs: undefined as unknown as number });
    vanish(directory);
    const gone = await watching.until((load) => codes(load).includes("SOURCE_DIRECTORY_MISSING ."));
    expect(gone.state).toBeUndefined();
    mkdirSync(directory);
    writeFileSync(join(directory, "a.yaml"), cluster("b"));
    expect(names(await watching.until(({ state }) => state !== undefined))).toEqual(["b"]);
    write(directory, "c.yaml", cluster("c"));
    expect(names(await watching.next())).toEqual(["b", "c"]);
  });

  test("and one that is not there yet is waited for", async () => {
    const directory = join(dirname(temporaryDirectory()), "later");
    const watching = new Watching(createDirectorySource({ directory, api }));
    expect(codes(await watching.next())).toEqual(["SOURCE_DIRECTORY_MISSING ."]);
    mkdirSync(directory);
    write(directory, "a.yaml", cluster("a"));
    expect(names(await watching.until(({ state }) => state !== undefined))).toEqual(["a"]);
  });

  test("a directory that loses all its files is not emptied", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const { watching } = await watchFrom(directory);
    unlinkSync(join(directory, "a.yaml"));
    const empty = await watching.next();
    expect([empty.state, codes(empty)]).toEqual([undefined, ["SOURCE_EMPTY ."]]);
  });
});

test("only what changed is read again, and everything else stays the same object", async () => {
  const directory = temporaryDirectory({
    "a.yaml": cluster("a"),
    "many.yaml": [1, 2, 3].map((n) => `- ${indented(cluster(`m-${n}`))}\n`).join(""),
    "nodes/n/b.yaml": cluster("b"),
  });
  const source = createDirectorySource({ directory, api });
  const first = await source.load();
  const progress: number[] = [];
  expect(await source.load(({ filesTotal }) => progress.push(filesTotal))).toBe(first);
  expect(progress).toEqual([0]);
  write(
    directory,
    "many.yaml",
    [1, 2, 3].map((n) => `- ${indented(cluster(`m-${n}`, n === 2 ? "7s" : "1s"))}\n`).join(""),
  );
  const second = await source.load(({ filesTotal }) => progress.push(filesTotal));
  expect(progress).toEqual([0, 1]);
  const [before, after] = [first, second].map((load) => load.state?.layers.get("base") ?? []);
  expect(before?.map((resource, index) => resource === after?.[index])).toEqual([true, true, false, true]);
  expect(second.state?.layers.get("node/n")).toBe(first.state?.layers.get("node/n"));
});

test("the end of a watch leaves nothing behind", async () => {
  const directory = temporaryDirectory({ "a.yaml": cluster("a") });
  const abort = new AbortController();
  const loads: Load[] = [];
  const ended = (async () => {
    for await (const load of createDirectorySource({ directory, api }).watch(abort.signal)) {
      loads.push(load);
      abort.abort();
    }
  })();
  await ended;
  expect(loads.map((load) => names(load))).toEqual([["a"]]);
  const open = (): readonly string[] => process.getActiveResourcesInfo().filter((kind) => kind.startsWith("FSEvent"));
  await expect.poll(open, { timeout: DEADLINE_MS }).toEqual([]);
});

test("return ends a watch that waits for a change, and the source can be watched again", async () => {
  const directory = temporaryDirectory({ "a.yaml": cluster("a") });
  const source = createDirectorySource({ directory, api, pollMs: never });
  const { signal } = new AbortController();
  const loads = source.watch(signal)[Symbol.asyncIterator]();
  expect(names((await loads.next()).value as Load)).toEqual(["a"]);
  const waiting = loads.next();
  expect(await loads.return?.()).toEqual({ done: true, value: undefined });
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(await loads.next()).toEqual({ done: true, value: undefined });
  const again = new Watching(source);
  write(directory, "b.yaml", cluster("b"));
  expect(names(await again.next())).toEqual(["a", "b"]);
});

function indented(text: string): string {
  return text.trimEnd().replaceAll("\n", "\n  ");
}
