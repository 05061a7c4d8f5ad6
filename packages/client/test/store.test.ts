import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatTypeUrl } from "@xdskit/protocol";
import type { KeptResource } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createResourceStore, type ResourceStore, type ResourceStoreOptions } from "../src/store/resource-store.ts";
import { readStore } from "../src/store/store-file.ts";
import { CLUSTER, SECRET, testApi } from "./support/sources.ts";
import { until } from "./support/until.ts";

let directory: string;
let path: string;
let problems: string[];
const stores: ResourceStore[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-client-store-"));
  path = join(directory, "kept", "resources");
  problems = [];
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  rmSync(directory, { recursive: true, force: true });
});

function store(changes: Partial<ResourceStoreOptions> = {}): ResourceStore {
  const onProblem = (problem: string): void => {
    problems.push(problem);
  };
  const made = createResourceStore({ path, api: testApi(), onProblem, ...changes });
  stores.push(made);
  return made;
}

function cluster(name: string, json: object = {}): KeptResource {
  const { bytes } = testApi().readMessage("envoy.config.cluster.v3.Cluster", { name, ...json });
  if (bytes === undefined) throw new Error("expected a cluster");
  return { type: CLUSTER, name, aliases: [], version: "1", bytes };
}

/** What another life finds. */
async function found(): Promise<Record<string, readonly KeptResource[]>> {
  const one = store();
  await one.load();
  const content = await readStore(path, Number.POSITIVE_INFINITY);
  const sources = content === undefined || "problem" in content ? [] : content.sources;
  return Object.fromEntries(sources.map(({ id }) => [id, (one.restore(id) ?? []).map(plain)]));
}

const plain = (resource: KeptResource): KeptResource => ({ ...resource, bytes: Uint8Array.from(resource.bytes) });

async function keep(
  resources: Record<string, readonly KeptResource[]>,
  options: Partial<ResourceStoreOptions> = {},
): Promise<void> {
  const one = store(options);
  for (const [id, list] of Object.entries(resources)) one.save(id, () => list);
  await one.close();
}

describe("C-CLI-06 the last configuration that was good", () => {
  test("is there in the next life, as it was", async () => {
    const all: KeptResource = {
      ...cluster("b"),
      aliases: ["b2", "b3"],
      version: "7",
      bodyType: formatTypeUrl("envoy.service.discovery.v3.Resource"),
    };
    expect(await found()).toEqual({});
    await keep({ one: [cluster("a"), all], two: [] });
    expect(await found()).toEqual({ one: [cluster("a"), all].map(plain), two: [] });
    expect(problems).toEqual([]);
  });

  // Each run waits for the disk four times.
  test("any of it", { timeout: 60_000 }, async () => {
    const resource = fc.record({
      type: fc.constantFrom(CLUSTER, formatTypeUrl("my.Own")),
      name: fc.string({ unit: "binary" }),
      aliases: fc.array(fc.string()),
      version: fc.string(),
      bytes: fc.uint8Array({ maxLength: 300 }),
    });
    const sources = fc.dictionary(fc.string({ minLength: 1 }), fc.array(resource), { noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(sources, async (kept) => {
        rmSync(path, { force: true });
        await keep(kept, { secrets: "keep" });
        expect(await found()).toEqual(
          Object.fromEntries(Object.entries(kept).map(([id, list]) => [id, list.map(plain)])),
        );
      }),
      { numRuns: 50 },
    );
  });

  test("of other sources stays when one is saved", async () => {
    await keep({ one: [cluster("a")], two: [cluster("b")] });
    await keep({ two: [cluster("c")] });
    expect(await found()).toEqual({ one: [plain(cluster("a"))], two: [plain(cluster("c"))] });
  });

  test("is written after a while, as it is then, and once for many changes", async () => {
    const one = store({ delayMs: 20 });
    let snapshots = 0;
    let now = [cluster("a")];
    const save = (): void =>
      one.save("one", () => {
        snapshots++;
        return now;
      });
    for (let i = 0; i < 100; i++) save();
    now = [cluster("b")];
    await until("it is written", () => existsSync(path));
    expect(snapshots).toBe(1);
    expect(await found()).toEqual({ one: [plain(cluster("b"))] });
    now = [cluster("c")];
    save();
    await one.flush();
    expect(await found()).toEqual({ one: [plain(cluster("c"))] });
  });

  test("what changes while it is written is written the next time", async () => {
    const one = store({ delayMs: 1 });
    one.save("one", () => [cluster("a")]);
    const flushed = one.flush();
    one.save("one", () => [cluster("b")]);
    await flushed;
    expect(await found()).toEqual({ one: [plain(cluster("b"))] });
  });
});

test("only its owner may read it, and nothing is left beside it", async () => {
  await keep({ one: [cluster("a")] });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(directory, "kept")).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(directory, "kept"))).toEqual(["resources"]);
});

describe("Secrets", () => {
  const secret: KeptResource = { ...cluster("s"), type: SECRET, bytes: new Uint8Array() };
  const socket = {
    name: "tls",
    typedConfig: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      commonTlsContext: { tlsCertificates: [{ privateKey: { inlineString: "hunter2" } }] },
    },
  };
  const holding = cluster("h", { transportSocket: socket });

  test("are not kept, and neither is what holds one", async () => {
    await keep({ one: [cluster("a"), secret, holding] });
    expect(await found()).toEqual({ one: [plain(cluster("a"))] });
    expect(readFileSync(path, "utf8")).not.toContain(Buffer.from(holding.bytes).toString("base64"));
  });

  test("are kept if that is wanted", async () => {
    await keep({ one: [secret, holding] }, { secrets: "keep" });
    expect(await found()).toEqual({ one: [plain(secret), plain(holding)] });
  });
});

describe("a file that cannot be used", () => {
  const damages: readonly (readonly [string, () => void, string])[] = [
    ["is damaged", () => writeFileSync(path, readFileSync(path, "utf8").replace('"a"', '"b"')), "it is damaged"],
    ["is cut short", () => truncateSync(path, statSync(path).size - 10), "it is damaged"],
    ["is empty", () => truncateSync(path), "it is none of ours"],
    ["is somebody else's", () => writeFileSync(path, "127.0.0.1 localhost\n"), "it is none of ours"],
    [
      "is of an earlier version",
      () => writeFileSync(path, "xdskit resources 1\n"),
      "it is of another version of the format",
    ],
    [
      "is of a later version",
      () => writeFileSync(path, "xdskit resources 3\n"),
      "it is of another version of the format",
    ],
    [
      "is too large",
      () => writeFileSync(path, Buffer.alloc(70 * 1024 * 1024)),
      "it has 73400320 bytes, more than 67108864",
    ],
  ];
  test.each(damages)(
    "because it %s is told, left as it is, and replaced by the next good one",
    async (_, damage, problem) => {
      await keep({ one: [cluster("a")] });
      damage();
      const before = readFileSync(path);
      expect(await found()).toEqual({});
      expect(problems).toEqual([`${path} is not used: ${problem}`]);
      await store().close();
      expect(readFileSync(path).equals(before)).toBe(true);
      await keep({ one: [cluster("c")] });
      expect(await found()).toEqual({ one: [plain(cluster("c"))] });
    },
  );

  test("whatever stands in it", async () => {
    await keep({ one: [cluster("a")] });
    const good = readFileSync(path);
    const flipped = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, by]) => {
      const bytes = Buffer.from(good);
      bytes[at] = (bytes[at] ?? 0) ^ by;
      return bytes;
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array().map((one) => Buffer.from(one)),
          flipped,
        ),
        async (bytes) => {
          writeFileSync(path, bytes);
          expect(await found()).toEqual({});
        },
      ),
      { numRuns: 200 },
    );
  });

  test("because it is a directory", async () => {
    mkdirSync(path, { recursive: true });
    await keep({ one: [cluster("a")] });
    expect(problems.length).toBe(2);
    expect(problems[1]).toMatch(/cannot be written/);
    expect(readdirSync(join(directory, "kept"))).toEqual(["resources"]);
  });

  test.runIf(existsSync("/proc/self"))("because there can be no directory for it", async () => {
    await keep({ one: [cluster("a")] }, { path: "/proc/kept/xds/resources" });
    expect(problems).toEqual([expect.stringMatching(/^\/proc\/kept\/xds\/resources cannot be written: ENOENT/)]);
  });

  test("because nothing can be written there", async () => {
    writeFileSync(join(directory, "kept"), "");
    await keep({ one: [cluster("a")] });
    expect(problems.at(-1)).toMatch(/cannot be written/);
  });
});

describe("a store that is full", () => {
  const large = (name: string): readonly KeptResource[] =>
    Array.from({ length: 100 }, (_, i) => cluster(`${name}-${i}`.padEnd(100, "x")));

  test("what does not fit is left out, source by source, the oldest first, and told once", async () => {
    const maxBytes = 50_000;
    await keep({ old: large("a") }, { maxBytes, now: () => 1 });
    await keep({ small: [cluster("s")] }, { maxBytes, now: () => 2 });
    const one = store({ maxBytes, now: () => 3 });
    for (let i = 0; i < 3; i++) {
      one.save("fresh", () => large("b"));
      await one.flush();
    }
    await one.close();
    expect(problems).toEqual([`${path}: the source "old" does not fit into ${maxBytes} bytes, and is not kept`]);
    expect(Object.keys(await found())).toEqual(["fresh", "small"]);
    expect(statSync(path).size).toBeLessThanOrEqual(maxBytes);
  });

  test("what is in use goes before what was saved later", async () => {
    const maxBytes = 50_000;
    await keep({ used: large("a") }, { maxBytes, now: () => 1 });
    await keep({ small: [cluster("s")] }, { maxBytes, now: () => 2 });
    const one = store({ maxBytes, now: () => 3 });
    await one.load();
    one.restore("used");
    one.save("more", () => large("b").slice(0, 10));
    await one.close();
    expect(Object.keys(await found())).toEqual(["more", "used", "small"]);
  });

  test("what is left out after a part of it was written leaves nothing behind", async () => {
    const maxBytes = 600_000;
    await keep({ small: [cluster("s")] }, { maxBytes, now: () => 1 });
    const huge = Array.from({ length: 10_000 }, (_, i) => cluster(`huge-${i}`));
    await keep({ huge }, { maxBytes, now: () => 2 });
    expect(problems).toEqual([`${path}: the source "huge" does not fit into ${maxBytes} bytes, and is not kept`]);
    expect(await found()).toEqual({ small: [plain(cluster("s"))] });
  });
});

describe("a source that nobody asked for any more", () => {
  const DAY_MS = 24 * 60 * 60 * 1_000;

  test("is dropped after 30 days, counted from when it was in use", async () => {
    await keep({ gone: [cluster("a")], used: [cluster("b")] }, { now: () => 0 });
    const atDay20 = store({ now: () => 20 * DAY_MS });
    await atDay20.load();
    expect(atDay20.restore("used")?.map(plain)).toEqual([plain(cluster("b"))]);
    expect(atDay20.restore("never there")).toBe(undefined);
    await atDay20.close();
    expect(Object.keys(await found()).sort()).toEqual(["gone", "used"]);
    await keep({ fresh: [cluster("c")] }, { now: () => 40 * DAY_MS });
    expect(Object.keys(await found()).sort()).toEqual(["fresh", "used"]);
  });

  test("is there, however old, for a life that comes back to it before anything is written", async () => {
    await keep({ one: [cluster("a")] }, { now: () => 0 });
    const late = store({ now: () => 1_000 * DAY_MS });
    await late.load();
    late.restore("one");
    late.save("two", () => []);
    await late.close();
    expect(await found()).toEqual({ one: [plain(cluster("a"))], two: [] });
  });

  test("is dropped after the time that was set, and a clock that went wrong does not keep it for ever", async () => {
    await keep({ one: [cluster("a")] }, { now: () => 1_000 * DAY_MS });
    await keep({ two: [] }, { now: () => 1_000 });
    await keep({ three: [] }, { now: () => 1_101, unusedMs: 100 });
    expect(Object.keys(await found())).toEqual(["three"]);
  });
});

test("a store that is closed writes no more, whatever is asked of it", async () => {
  const DAY_MS = 24 * 60 * 60 * 1_000;
  await keep({ one: [cluster("a")] }, { now: () => 0 });
  const closed = store({ now: () => 2 * DAY_MS, delayMs: 0 });
  await closed.load();
  await closed.close();
  expect(closed.restore("one")?.map(plain)).toEqual([plain(cluster("a"))]);
  await closed.flush();
  const content = await readStore(path, Number.POSITIVE_INFINITY);
  expect(content).toMatchObject({ sources: [{ id: "one", usedAtMs: 0 }] });
  expect(readdirSync(join(directory, "kept"))).toEqual(["resources"]);
});

describe("one writes at a time", () => {
  test("in a process", async () => {
    const first = store();
    first.save("one", () => [cluster("a")]);
    await first.flush();
    const second = store();
    second.save("one", () => [cluster("b")]);
    await second.flush();
    expect(problems).toEqual([`${path} is written by another client of this process; nothing is kept`]);
    expect(await found()).toEqual({ one: [plain(cluster("a"))] });
    await first.close();
    second.save("one", () => [cluster("b")]);
    await second.close();
    expect(await found()).toEqual({ one: [plain(cluster("b"))] });
  });

  test("among processes, of which one that was killed is none", async () => {
    mkdirSync(join(directory, "kept"));
    writeFileSync(`${path}.lock`, `${process.ppid} - - 0123456789abcdef\n`);
    await keep({ one: [cluster("a")] });
    expect(problems).toEqual([`${path} is written by the process with id ${process.ppid}; nothing is kept`]);
    writeFileSync(`${path}.lock`, "999999999 - - 0123456789abcdef\n");
    await keep({ one: [cluster("a")] });
    expect(await found()).toEqual({ one: [plain(cluster("a"))] });
    expect(readdirSync(join(directory, "kept"))).toEqual(["resources"]);
  });

  test("what was refused is written when the other is gone, though nothing changes any more", async () => {
    const first = store();
    first.save("one", () => [cluster("a")]);
    await first.flush();
    const second = store({ retryMs: 5 });
    second.save("two", () => [cluster("b")]);
    await second.flush();
    await first.close();
    await until("it is written", () => readFileSync(path, "utf8").includes('"two"'));
  });
});
