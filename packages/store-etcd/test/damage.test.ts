import type { LedgerStore } from "@xdskit/server";
import { openEtcdStore } from "@xdskit/store-etcd";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { add, texts } from "../../server/test/ledger/support/describe-ledger-store.ts";
import { cluster, openReplica, type Replica } from "../../server/test/ledger/support/replica.ts";
import { EtcdMember } from "./support/etcd.ts";

const SOON = { timeout: 10_000 };
const RECORD_3 = "xdskit/records/0000000000000003";

describeWith("etcd", "a ledger in etcd with a damaged value", () => {
  let member: EtcdMember;
  let stores: LedgerStore[] = [];
  let replicas: Replica[] = [];
  const open = async (): Promise<LedgerStore> => {
    const store = await openEtcdStore({ endpoints: [member.endpoint], timeoutMs: 3_000 });
    stores.push(store);
    return store;
  };
  const openServer = async (): Promise<{ readonly store: LedgerStore; readonly replica: Replica }> => {
    const store = await open();
    const replica = await openReplica(store);
    replicas.push(replica);
    return { store, replica };
  };
  const readKey = (key: string): string => member.ctl("get", key, "--print-value-only").replace(/\n$/, "");

  beforeEach(async () => {
    member = await EtcdMember.start();
  });
  afterEach(async () => {
    await Promise.all(replicas.map(({ publisher }) => publisher.close()));
    await Promise.all(stores.map((store) => store.close()));
    [stores, replicas] = [[], []];
    await member.end();
  });

  test.each([
    ["head", "zzz nonsense"],
    ["head", ""],
    ["head", "1"],
    ["snapshot", "{}"],
  ])("as its %s, %j, is an outage with the reason, and what is in force stays", async (name, value) => {
    const [writer, follower] = [await openServer(), await openServer()];
    await writer.replica.publish(cluster("a", "1"));
    await vi.waitFor(() => expect(follower.replica.states).toEqual(["a=1"]), SOON);
    const before = readKey("xdskit/head");
    member.ctl("put", `xdskit/${name}`, "--", value);
    const reason = expect.stringContaining(`the value of xdskit/${name} in etcd cannot be read: expected`);
    for (const { store } of [writer, follower])
      await vi.waitFor(() => expect(store.outage?.reason).toEqual(reason), SOON);
    expect(await writer.replica.publish(cluster("b", "1"))).toEqual({ kind: "unavailable", reason });
    expect([writer.replica.states, follower.replica.states]).toEqual([["a=1"], ["a=1"]]);
    await expect(open()).rejects.toThrow(`the value of xdskit/${name} in etcd cannot be read`);

    if (name === "head") member.ctl("put", "xdskit/head", before);
    else member.ctl("del", "xdskit/snapshot");
    for (const { store } of [writer, follower]) await vi.waitFor(() => expect(store.outage).toBeUndefined(), SOON);
    await writer.replica.publish(cluster("b", "1"));
    await vi.waitFor(() => expect(follower.replica.states).toEqual(["a=1", "b=1"]), SOON);
  });

  test("as its head, which names a record that is not there, is not taken for an empty ledger", async () => {
    const { replica } = await openServer();
    await replica.publish(cluster("a", "1"));
    member.ctl("put", "xdskit/head", `7 ${"0".repeat(64)}`);
    await vi.waitFor(() => expect(replica.problems).not.toEqual([]), SOON);
    const reason = "the ledger cannot be read: the ledger in etcd ends at record 1, but its head is 7";
    expect(replica.problems[0]).toBe(reason);
    expect(await replica.publish(cluster("b", "1"))).toEqual({ kind: "unavailable", reason });
    expect(replica.states).toEqual(["a=1"]);
  });

  test.each([
    ["garbage{", "expected a value that begins with the byte 0 or 1, got 103"],
    ["\u0005", "it is of a newer version"],
  ])("as a record, %j, is named, and what is in force stays", async (value, why) => {
    const { store, replica } = await openServer();
    for (const text of ["1", "2", "3"]) await replica.publish(cluster("a", text));
    member.ctl("put", RECORD_3, value);
    await expect(texts(store)).rejects.toThrow(`the value of ${RECORD_3} in etcd cannot be read: ${why}`);
    await expect(openServer()).rejects.toThrow(`the value of ${RECORD_3} in etcd cannot be read: ${why}`);
    expect(replica.states).toEqual(["a=1", "a=2", "a=3"]);
  });

  test("as a body is named", async () => {
    const store = await open();
    await add(store, ["a"], ["A"]);
    member.ctl("put", "xdskit/bodies/A", "garbage{");
    await expect(store.body("A")).rejects.toThrow("the value of xdskit/bodies/A in etcd cannot be read: expected");
  });
});
