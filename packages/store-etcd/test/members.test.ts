import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerStore } from "@xdskit/server";
import { openEtcdStore } from "@xdskit/store-etcd";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { EtcdMember } from "./support/etcd.ts";

describeWith("etcd", "what processes tell of themselves in etcd", () => {
  let member: EtcdMember;
  beforeAll(async () => {
    member = await EtcdMember.start();
  });
  afterAll(() => member.end());
  const open = (prefix: string, keyFile?: string): Promise<LedgerStore> =>
    openEtcdStore({ endpoints: [member.endpoint], prefix, ...(keyFile !== undefined && { keyFile }) });
  const list = async (store: LedgerStore): Promise<readonly (readonly [string, string])[]> => [
    ...((await store.members?.list()) ?? []),
  ];

  test("is known to all of a ledger, the newest of each, and goes with the process", async () => {
    const [one, other, elsewhere] = [await open("a"), await open("a"), await open("b")];
    await one.members?.announce("1", "first");
    await other.members?.announce("2", "second");
    await one.members?.announce("1", "first again");
    const both = [
      ["1", "first again"],
      ["2", "second"],
    ];
    expect([await list(one), await list(other), await list(elsewhere)]).toEqual([both, both, []]);
    await one.close();
    expect(await list(other)).toEqual([["2", "second"]]);
    await Promise.all([other.close(), elsewhere.close()]);
  });

  test("goes some seconds after a process that was killed, and is told again by one that was only cut off", async () => {
    const store = await open("c");
    await store.members?.announce("1", "here");
    const leases = member.ctl("lease", "list").match(/^[0-9a-f]{10,}$/gm) ?? [];
    const isShort = (one: string): boolean => /granted with TTL\(15s\)/.test(member.ctl("lease", "timetolive", one));
    const [lease = "", ...others] = leases.filter(isShort);
    expect(others).toEqual([]);
    member.ctl("lease", "revoke", lease);
    expect(await list(store)).toEqual([]);
    await vi.waitFor(async () => expect(await list(store)).toEqual([["1", "here"]]), {
      interval: 100,
      timeout: 15_000,
    });
    await store.close();
  });

  test("is kept for an hour of a process that did not close the store, and not of one that did", async () => {
    const [killed, ended, other] = [await open("e"), await open("e"), await open("e")];
    await killed.members?.announce("1", "killed");
    await ended.members?.announce("2", "ended");
    const kept = async () => [...((await other.members?.listKept?.()) ?? [])];
    expect(await kept()).toEqual([
      ["1", "killed"],
      ["2", "ended"],
    ]);
    const leases = member.ctl("lease", "list").match(/^[0-9a-f]{10,}$/gm) ?? [];
    const told = leases.map((lease) => [lease, member.ctl("lease", "timetolive", lease, "--keys")] as const);
    const ofKilled = told.filter(([, text]) => text.includes("members/1"));
    expect(ofKilled.map(([, text]) => /granted with TTL\((\d+)s\)/.exec(text)?.[1]).toSorted()).toEqual(["15", "3600"]);
    for (const [lease, text] of ofKilled) if (text.includes("TTL(15s)")) member.ctl("lease", "revoke", lease);
    await ended.close();
    expect([await list(other), await kept()]).toEqual([[], [["1", "killed"]]]);
    await Promise.all([killed.close(), other.close()]);
    const after = await open("e");
    expect([...((await after.members?.listKept?.()) ?? [])]).toEqual([]);
    await after.close();
  });

  /** Ids of the leases that etcd has. */
  const leaseIds = (): readonly string[] => member.ctl("lease", "list").match(/^[0-9a-f]{10,}$/gm) ?? [];
  const leasesSince = (before: readonly string[]): readonly string[] =>
    leaseIds().filter((one) => !before.includes(one));

  test("is the newest also if it is told twice at the same time, under one lease of each kind", async () => {
    const before = leaseIds();
    const store = await open("f");
    await Promise.all([store.members?.announce("1", "first"), store.members?.announce("1", "second")]);
    expect(await list(store)).toEqual([["1", "second"]]);
    expect(leasesSince(before)).toHaveLength(2);
    await store.close();
    expect(leasesSince(before)).toEqual([]);
  });

  test("leaves no lease behind if the store is closed while it is told, or before", async () => {
    const before = leaseIds();
    const [closing, closed] = [await open("g"), await open("g")];
    const told = closing.members?.announce("1", "late");
    await new Promise((resolve) => setImmediate(resolve));
    await closing.close();
    await told;
    await closed.close();
    await expect(closed.members?.announce("2", "later")).rejects.toThrow("the ledger is closed");
    expect(leasesSince(before)).toEqual([]);
  });

  test("a lease that is acquired while the store closes is not kept", async () => {
    const before = leaseIds();
    const { signal } = new AbortController();
    const [closing, closed] = [await open("h"), await open("h")];
    const acquired = closing.lease?.("one").acquire(signal);
    await closing.close();
    await closed.close();
    expect([await acquired, await closed.lease?.("one").acquire(signal)]).toEqual([undefined, undefined]);
    expect(leasesSince(before)).toEqual([]);
  });

  test("cannot be read in an etcd of an encrypted ledger", async () => {
    const keyFile = join(member.directory, "key");
    writeFileSync(keyFile, randomBytes(32));
    const store = await open("d", keyFile);
    await store.members?.announce("1", "readable");
    expect(member.ctl("get", "d/", "--prefix", "--print-value-only")).not.toContain("readable");
    expect(await list(store)).toEqual([["1", "readable"]]);
    await store.close();
  });
});
