import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openCopiedStore } from "../../src/ledger/copied-store.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { compact } from "./support/publishing.ts";
import { cluster, openReplica, type Replica, secret } from "./support/replica.ts";
import { type LedgerConnection, SharedLedger } from "./support/shared-ledger.ts";

const URL = "etcd://a:2379/mesh";

let directory: string;
let ledger: SharedLedger;
let isAway = false;
let problems: string[] = [];
const replicas = new Set<Replica>();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-copy-"));
  ledger = new SharedLedger();
  isAway = false;
  problems = [];
});
afterEach(async () => {
  for (const { publisher } of replicas) await publisher.close();
  replicas.clear();
  rmSync(directory, { recursive: true });
});

async function replica(store: LedgerStore): Promise<Replica> {
  const opened = await openReplica(store);
  replicas.add(opened);
  return opened;
}

/** A server with a copy in the directory. */
interface Copied {
  readonly replica: Replica;
  readonly store: LedgerStore;
  /** Undefined: the engine is away since the start. */
  readonly connection: LedgerConnection | undefined;
}

async function start(url = URL): Promise<Copied> {
  let connection: LedgerConnection | undefined;
  const open = (): Promise<LedgerStore> => {
    if (isAway) return Promise.reject(new Error("the engine is away"));
    connection = ledger.connect();
    return Promise.resolve(connection);
  };
  const store = await openCopiedStore({ directory, url, open, onProblem: (message) => problems.push(message) });
  const opened = await replica(store);
  return {
    ...{ replica: opened, store },
    get connection() {
      return connection;
    },
  };
}

async function stop({ replica: { publisher } }: Copied): Promise<void> {
  for (const one of replicas) if (one.publisher === publisher) replicas.delete(one);
  await publisher.close();
}

const copies = ({ store }: Copied, number: number): Promise<void> =>
  vi.waitFor(() => expect(store.copy?.number).toBe(number), { interval: 5, timeout: 10_000 });
const reaches = ({ replica: { publisher } }: Copied, number: number): Promise<void> =>
  vi.waitFor(() => expect(publisher.number).toBe(number), { interval: 5, timeout: 10_000 });
const stops = ({ replica: { publisher } }: Copied): Promise<void> =>
  vi.waitFor(() => expect(publisher.stop).toMatchObject({ why: "other-history" }), { interval: 5, timeout: 10_000 });

/** Publishes up to a number, and leaves a copy with that. */
async function leaveCopy(): Promise<Replica> {
  const writer = await replica(ledger.connect());
  await writer.publish(cluster("a", "1"), secret("key", "a private key"));
  const copied = await start();
  await copies(copied, 1);
  await writer.publish(cluster("a", "2"), secret("key", "a private key"));
  await copies(copied, 2);
  await stop(copied);
  return writer;
}

function ledgerOfCopy(): string {
  const [name = ""] = readdirSync(directory).filter((each) => each.startsWith("ledger-"));
  return join(directory, name);
}

describe("a server that starts while the engine is away", () => {
  test("serves its copy, refuses to record, and applies in order what was published meanwhile", async () => {
    const writer = await leaveCopy();
    isAway = true;
    const copied = await start();
    expect([copied.replica.states, copied.replica.recorded]).toEqual([["a=2"], ["resumed 2 1 1"]]);
    expect(copied.store.copy).toEqual({ number: 2, isInPlace: true, problem: undefined });
    expect(copied.store.outage).toEqual({ since: expect.any(Date), reason: "the engine is away" });
    expect(await copied.replica.publish(cluster("b"))).toEqual({ kind: "unavailable", reason: "the engine is away" });
    await writer.publish(cluster("a", "3"), secret("key", "a private key"));
    await writer.publish(cluster("a", "4"), secret("key", "a private key"));
    isAway = false;
    await reaches(copied, 4);
    expect(copied.replica.states).toEqual(["a=2", "a=3", "a=4"]);
    expect([copied.store.outage, copied.store.copy?.isInPlace]).toEqual([undefined, false]);
    await copies(copied, 4);
    expect(problems).toEqual([]);
  });

  test("may come back away as often as it likes", async () => {
    await leaveCopy();
    isAway = true;
    for (let i = 0; i < 3; i++) {
      const copied = await start();
      expect(copied.replica.states).toEqual(["a=2"]);
      await stop(copied);
    }
  });

  test("and does not answer at all begins with its copy, and takes the answer when it comes", async () => {
    await leaveCopy();
    let answer = (_: LedgerStore): void => undefined;
    const opening = new Promise<LedgerStore>((resolve) => {
      answer = resolve;
    });
    const store = await openCopiedStore({
      ...{ directory, url: URL, waitMs: 1, open: () => opening },
      onProblem: (message) => problems.push(message),
    });
    const { states, publisher } = await replica(store);
    expect([states, store.outage?.reason]).toEqual([["a=2"], "the store does not answer"]);
    answer(ledger.connect());
    await vi.waitFor(() => expect(store.outage).toBeUndefined());
    await publisher.publish({ layers: new Map([["base", [cluster("b")]]]), origin: { writer: "directory" } });
    expect([states, problems]).toEqual([["a=2", "b="], []]);
  });

  test("has no content of Secrets in its copy", async () => {
    await leaveCopy();
    const text = readdirSync(ledgerOfCopy())
      .map((name) => readFileSync(join(ledgerOfCopy(), name), "latin1"))
      .join("");
    expect([text.includes("a private key"), text.includes(Buffer.from("a private key").toString("base64"))]).toEqual([
      ...[false, false],
    ]);
    expect(text).toContain(" record 2 ");
  });

  test("does not start without a copy, or with one of another store", async () => {
    isAway = true;
    await expect(start()).rejects.toThrow(/^the engine is away$/);
    isAway = false;
    await leaveCopy();
    isAway = true;
    await expect(start("etcd://a:2379/other")).rejects.toThrow(
      `the engine is away; and the copy of the store cannot be used: ${directory} has a copy of ${URL}`,
    );
    expect((await start()).replica.states).toEqual(["a=2"]);
  });

  test("with a copy that is torn at its end starts with what is whole", async () => {
    await leaveCopy();
    const path = join(ledgerOfCopy(), "records-0.log");
    writeFileSync(path, readFileSync(path).subarray(0, -30));
    isAway = true;
    const copied = await start();
    expect([copied.replica.states, problems]).toEqual([["a=1"], [expect.stringContaining("was cut off")]]);
  });

  test.each([
    ["ledger is damaged", () => join(ledgerOfCopy(), "records-0.log"), / is damaged/],
    ["identity is damaged", () => join(directory, "copy.json"), /copy\.json is damaged, or of a newer version$/],
  ])("with a copy whose %s does not start, and makes it again once the engine is there", async (_, path, why) => {
    const writer = await leaveCopy();
    await writer.publish(cluster("a", "3"), secret("key", "a private key"));
    const bytes = readFileSync(path());
    bytes[path().endsWith("json") ? 1 : 250] = 0x7f;
    writeFileSync(path(), bytes);
    isAway = true;
    await expect(start()).rejects.toThrow(why);
    isAway = false;
    const copied = await start();
    expect(problems).toEqual([expect.stringContaining("cannot be used, and is made again: ")]);
    await copies(copied, 3);
    await stop(copied);
    isAway = true;
    expect((await start()).replica.states).toEqual(["a=3"]);
  });
});

describe("a store that is not the one of the copy", () => {
  test("that is an older backup is not applied until it is adopted, and then it is copied", async () => {
    await leaveCopy();
    isAway = true;
    const copied = await start();
    await ledger.restore(1);
    isAway = false;
    await stops(copied);
    expect([copied.replica.states, copied.replica.publisher.stop?.reason]).toEqual([
      ["a=2"],
      "its newest record is 1, but 2 is in force",
    ]);
    expect(copied.store.copy?.number).toBe(2);
    await copied.replica.publisher.adopt();
    expect(copied.replica.states).toEqual(["a=2", "a=1"]);
    await copies(copied, 1);
  });

  test.each([
    ["shows by its records", false, "its record 3 does not follow the 2 in force"],
    ["shows by its epoch, when those are compacted", true, "it is another ledger than the one of which 2 is in force"],
  ])("%s", async (_, isCompacted, reason) => {
    await leaveCopy();
    isAway = true;
    const copied = await start();
    ledger = new SharedLedger();
    const other = await replica(ledger.connect());
    for (const text of ["5", "6", "7", "8"]) await other.publish(cluster("other", text));
    if (isCompacted) {
      const { head } = ledger.store;
      await compact(ledger.store);
      const { text = "" } = (await ledger.store.snapshot()) ?? {};
      await ledger.store.compact({ head, text }, { completeAfter: 4, records: new Set(), bodies: await bodies() });
    }
    isAway = false;
    await stops(copied);
    expect([copied.replica.states, copied.replica.publisher.stop?.reason]).toEqual([["a=2"], reason]);
    await copied.replica.publisher.adopt();
    expect(copied.replica.states.at(-1)).toBe("other=8");
    await copies(copied, 4);
  });

  test("is put in force at a start with the engine at hand, and copied", async () => {
    await leaveCopy();
    await ledger.restore(1);
    const copied = await start();
    expect(copied.replica.states).toEqual(["a=1"]);
    await copies(copied, 1);
    await stop(copied);
    isAway = true;
    expect((await start()).replica.states).toEqual(["a=1"]);
  });

  /** The bodies that the newest snapshot names. */
  async function bodies(): Promise<ReadonlySet<string>> {
    return new Set(((await ledger.store.snapshot())?.text ?? "").match(/[0-9a-f]{32}/g));
  }
});

test("a copy that breaks off while it is begun again leaves the one before", async () => {
  await leaveCopy();
  await ledger.restore(1);
  const before = ledgerOfCopy();
  const copied = await start();
  copied.connection?.cut();
  await vi.waitFor(() => expect(copied.store.outage).toBeDefined());
  await stop(copied);
  expect(existsSync(before)).toBe(true);
  isAway = true;
  expect((await start()).replica.states).toEqual(["a=2"]);
});

test("an option that cannot be used ends the start, copy or not", async () => {
  await leaveCopy();
  const open = (): Promise<LedgerStore> => Promise.reject(new TypeError("endpoints: expected host:port, got x"));
  await expect(openCopiedStore({ directory, url: URL, open, onProblem: () => undefined })).rejects.toThrow(TypeError);
});
