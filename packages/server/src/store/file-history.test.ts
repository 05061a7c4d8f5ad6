import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import type { Remembered } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FileHistory, type FileHistoryOptions } from "./file-history.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
let directory: string;
let problems: string[];

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), "xdskit-state-")), "state");
  problems = [];
});
afterEach(() => rmSync(join(directory, ".."), { recursive: true, force: true }));

function cluster(name: string, content = "1", size = 1): Resource {
  const bytes = Buffer.from(`${name}=${content}`.padEnd(size, "."));
  const more = name === "b" ? { aliases: ["c"], onDemand: true, ttlMs: 5_000 } : {};
  return createResource({ type: CLUSTER, name, bytes, ...more }, contentDigest);
}

const changed = (revision: number, puts: readonly Resource[], deletes: readonly string[] = []): Remembered => ({
  kind: "changed",
  revision,
  type: CLUSTER,
  layer: "base",
  puts,
  deletes,
});
const served = (revision: number, version: string, heldOver: readonly Resource[] = []): Remembered => ({
  kind: "served",
  revision,
  type: CLUSTER,
  layers: ["node/n", "base"],
  version,
  pendingRemovals: heldOver,
});

function open(options: Partial<FileHistoryOptions> = {}): FileHistory {
  return new FileHistory({
    directory,
    digest: contentDigest,
    holdsSecret: () => false,
    snapshot: () => [],
    onProblem: (message) => problems.push(message),
    ...options,
  });
}

/** What there is in memory: as equal as it was, in plain objects. */
const plain = (remembered: Iterable<Remembered>): unknown =>
  [...remembered].map((one) => JSON.parse(JSON.stringify(one, (_, value: unknown) => readable(value))) as unknown);
function readable(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
}

function remembers(history: FileHistory, what: readonly Remembered[]): void {
  for (const one of what) history.remember(one);
}

/** Without the sign that the holder of the lock lives. */
const files = (): readonly string[] =>
  readdirSync(directory)
    .filter((name) => !name.endsWith(".live"))
    .sort();

describe("a server that comes after another", () => {
  const said = [changed(1, [cluster("a"), cluster("b")]), served(1, "v1"), changed(2, [cluster("b", "2")], ["a"])];

  test("is told all that was remembered, as it was", () => {
    const before = open();
    remembers(before, [...said, served(2, "v2", [cluster("a")])]);
    before.close();
    const after = open();
    expect(plain(after.restored)).toEqual(plain([...said, served(2, "v2", [cluster("a")])]));
    after.close();
    expect(problems).toEqual([]);
  });

  test("is told who gets Clusters elsewhere", () => {
    const before = open();
    const elsewhere: readonly Remembered[] = [
      { kind: "clusters-elsewhere", node: "edge-1", isElsewhere: true },
      { kind: "clusters-elsewhere", node: "edge-2", isElsewhere: false },
    ];
    remembers(before, [served(1, "v1"), ...elsewhere]);
    before.close();
    const after = open();
    expect(plain(after.restored)).toEqual(plain([served(1, "v1"), ...elsewhere]));
    after.close();
    expect(problems).toEqual([]);
  });

  test("is told what was written before the first was killed, and goes on from there", () => {
    const before = open();
    remembers(before, said);
    before.flush();
    remembers(before, [served(2, "v2")]);
    const left = { directory: join(directory, "..", "left") };
    cpSync(directory, left.directory, { recursive: true, filter: (path) => !path.endsWith(".live") });
    // It names this process, which lives.
    rmSync(join(left.directory, "lock"));
    before.close();
    const path = join(left.directory, "clusters-1.log");
    truncateSync(path, statSync(path).size - 1);
    const after = open(left);
    expect(plain(after.restored)).toEqual(plain(said.slice(0, 2)));
    remembers(after, [served(3, "v3")]);
    after.close();
    const last = open(left);
    expect(plain(last.restored)).toEqual(plain([...said.slice(0, 2), served(3, "v3")]));
    last.close();
    expect(problems).toEqual([]);
  });

  test("is told nothing of what holds a secret", () => {
    const before = open({ holdsSecret: ({ name }) => name === "a" });
    remembers(before, [changed(1, [cluster("a"), cluster("b")]), served(1, "v1", [cluster("a")])]);
    before.close();
    expect(readFileSync(join(directory, "clusters-1.log"), "utf8")).not.toContain(
      Buffer.from("a=1").toString("base64"),
    );
    const after = open();
    expect(plain(after.restored)).toEqual(plain([changed(1, [cluster("b")]), served(1, "v1")]));
    after.close();
  });
});

describe("a state directory", () => {
  test("is made if need be, and nobody else may read it", () => {
    open().close();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, "clusters-1.log")).mode & 0o777).toBe(0o600);
    expect(files()).toEqual(["clusters-1.log"]);
  });

  test("is used by one server at a time", () => {
    const first = open();
    const second = open();
    expect(problems).toEqual([`${directory} cannot be used: another server of this process uses it`]);
    remembers(second, [served(1, "v1")]);
    second.close();
    first.close();
    expect(existsSync(join(directory, "lock"))).toBe(false);
  });

  test("that a server left when it was killed is taken over", () => {
    open().close();
    // No process has that id.
    writeFileSync(join(directory, "lock"), "4194304999 - - 0123456789abcdef\n");
    open().close();
    expect(problems).toEqual([]);
  });

  test("of a server that lives is left alone", () => {
    open().close();
    writeFileSync(join(directory, "lock"), `${process.ppid} - - 0123456789abcdef\n`);
    open().close();
    expect(problems).toEqual([`${directory} cannot be used: the server with process id ${process.ppid} uses it`]);
    expect(files()).toEqual(["clusters-1.log", "lock"]);
  });

  test("that cannot be made is reported, and nothing else", () => {
    writeFileSync(directory, "a file");
    const history = open();
    remembers(history, [served(1, "v1")]);
    history.close();
    expect(history.restored).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(/cannot be used: EEXIST/)]);
  });

  test.runIf(existsSync("/proc/self"))("where there can be none is reported, and nothing else", () => {
    open({ directory: "/proc/state/xds" }).close();
    expect(problems).toEqual([expect.stringMatching(/^\/proc\/state\/xds cannot be used: ENOENT/)]);
  });

  test.runIf(existsSync("/dev/full"))("on a disk that is full is reported, and nothing else", () => {
    open().close();
    rmSync(join(directory, "clusters-1.log"));
    symlinkSync("/dev/full", join(directory, "clusters-1.log.new"));
    const history = open();
    remembers(history, [changed(1, [cluster("a")])]);
    history.close();
    expect([history.restored, problems]).toEqual([[], [expect.stringMatching(/cannot be used: ENOSPC/)]]);
  });

  test("of another version is reported and left aside", () => {
    open().close();
    writeFileSync(join(directory, "clusters-1.log"), "xdskit clusters 99\n");
    const history = open();
    expect(history.restored).toEqual([]);
    remembers(history, [changed(1, [cluster("a")])]);
    history.close();
    expect(problems).toEqual([
      `${join(directory, "clusters-1.log")} is not of this version ("xdskit clusters 1"): ignored`,
    ]);
    const after = open();
    expect(plain(after.restored)).toEqual(plain([changed(1, [cluster("a")])]));
    after.close();
  });

  test("that is damaged is used up to there, with the line, and is whole again at the next start", async () => {
    const before = open();
    remembers(before, [changed(1, [cluster("a")]), changed(2, [cluster("b")]), served(2, "v2")]);
    before.close();
    const path = join(directory, "clusters-1.log");
    writeFileSync(path, readFileSync(path, "utf8").replace('"revision":2', '"revision":3'));
    const after = open({ snapshot: () => [changed(5, [cluster("a"), cluster("c")])] });
    expect(plain(after.restored)).toEqual(plain([changed(1, [cluster("a")])]));
    expect(problems).toEqual([`${path}:4 is damaged: what stands before that line is used`]);
    remembers(after, [changed(5, [cluster("c")])]);
    await written(() => files().includes("clusters-3.log"));
    after.close();
    expect(files()).toEqual(["clusters-2.log", "clusters-3.log"]);
    const last = open();
    expect(plain(last.restored)).toEqual(plain([changed(5, [cluster("a"), cluster("c")])]));
    last.close();
    expect(problems.length).toBe(1);
  });

  test("is begun anew when it has grown, and never holds more than two files", async () => {
    const all = [cluster("a"), cluster("b")];
    const history = open({ snapshot: () => [changed(9, all)] });
    const large = cluster("large", "x", 700_000);
    for (let round = 1; round <= 16; round++) {
      remembers(history, [changed(round, [large]), served(round, `v${round}`)]);
      await written(() => logs().some((name) => readFileSync(join(directory, name)).includes(`"v${round}"`)));
      expect(files().length).toBeLessThanOrEqual(3);
    }
    await written(() => logs().length === 2);
    history.close();
    const after = open();
    const versions = [...after.restored].flatMap((one) => (one.kind === "served" ? [one.version] : []));
    expect(versions.at(-1)).toBe("v16");
    expect(new Set(versions).size).toBe(versions.length);
    after.close();
    // Of the file before the newest nothing is needed but what happened since it was begun.
    rmSync(join(directory, files()[0] ?? ""));
    const alone = open();
    expect(plain([...alone.restored].slice(0, 1))).toEqual(plain([changed(9, all)]));
    alone.close();
    expect(problems).toEqual([]);
  });

  test("is not begun anew for a first load, which is all there is, whether it is continued or not", async () => {
    const all = Array.from({ length: 8 }, (_, index) => cluster(`c${index}`, "x", 700_000));
    const options = { snapshot: () => [changed(9, all)] };
    const first = open(options);
    remembers(first, [changed(1, all)]);
    first.close();
    const next = open(options);
    remembers(next, [changed(2, all.slice(0, 1)), served(2, "v2")]);
    await written(() => readFileSync(join(directory, "clusters-1.log")).includes('"v2"'));
    next.flush();
    expect(files().filter((name) => name !== "lock")).toEqual(["clusters-1.log"]);
    remembers(next, [changed(3, all)]);
    remembers(next, [changed(4, all)]);
    await written(() => logs().length === 2);
    next.close();
    expect(problems).toEqual([]);
  });

  const logs = (): readonly string[] => files().filter((name) => name.endsWith(".log"));
});

/** Files are written in the turns of the event loop that follow. */
async function written(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !isSo(); turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(isSo()).toBe(true);
}
