import { mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import type { ReplicasAnswer } from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { EtcdMember } from "../../store-etcd/test/support/etcd.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

async function xds(...args: readonly string[]): Promise<string> {
  const io = new CapturedIo();
  expect([await run(args, io), io.stderr.text]).toEqual([0, ""]);
  return io.stdout.text;
}

/** What `xds status` says of each server: address, role, record, lag. */
async function rows(answer: () => Promise<string>): Promise<readonly (readonly unknown[])[]> {
  const read = JSON.parse(await answer()) as ReplicasAnswer & { readonly replicas: ReplicasAnswer };
  const { replicas } = Array.isArray(read.replicas) ? read : read.replicas;
  return replicas.map(({ address, role, number, lag }) => [address, role, number, lag]).toSorted();
}

describeWith("etcd", "xds status of servers that share a store", () => {
  let member: EtcdMember;
  let site: Site;
  const servings: Serving[] = [];
  const url = (): string => `etcd://${member.endpoint}/mesh`;
  beforeEach(async () => {
    member = await EtcdMember.start();
    site = await Site.make({ "clusters.yaml": clusters("a") });
  });
  afterEach(async () => {
    for (const serving of servings.splice(0)) await serving.stop();
    await member.end();
    await site.remove();
  });
  const start = async (source: Site | undefined): Promise<Serving> => {
    const serving = await Serving.start(source, ["--store", url(), "--state-dir", "off"]);
    servings.push(serving);
    return serving;
  };

  test("lists all of them, at each of them and at the store, until they go", async () => {
    const publisher = await start(site);
    const follower = await start(undefined);
    await until("it follows", async () => (await follower.ask("/api/v1/server"))["revision"] === 1);
    const expected = [
      [publisher.address, "publisher", 1, 0],
      [follower.address, "follower", 1, 0],
    ].toSorted();
    const atStore = (): Promise<string> => xds("status", "--store", url(), "-o", "json");
    await until("both have told it", async () => JSON.stringify(await rows(atStore)) === JSON.stringify(expected));
    for (const { admin } of [publisher, follower])
      expect(await rows(() => xds("status", "--admin", admin, "-o", "json"))).toEqual(expected);
    const text = await xds("status", "--admin", follower.admin);
    expect(text).toMatch(/^REPLICA +ADDRESS +VERSION +ROLE +UP +RECORD +BEHIND +NODES +HAVE IT$/m);
    expect(text).toContain(`${hostname()} `);
    await servings.shift()?.stop();
    await until("it is gone", async () => (await rows(atStore)).length === 1);
  });

  test("shows the one that is asked while the engine is away", async () => {
    const follower = await start(undefined);
    await member.kill();
    await until("it knows", async () => (await xds("status", "--admin", follower.admin)).includes("unreachable"));
    expect(await xds("status", "--admin", follower.admin)).toMatch(/^others are not known: etcd: .*\nREPLICA /m);
  });
});

test("a server with a store in a directory is the only one, and the store knows of none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "xds-replicas-"));
  const site = await Site.make({ "clusters.yaml": clusters("a") });
  const store = `file:${join(folder, "ledger")}`;
  const serving = await Serving.start(site, ["--store", store, "--state-dir", "off"]);
  await until("it is published", async () => (await serving.ask("/api/v1/server"))["revision"] === 1);
  expect(await serving.ask("/api/v1/replicas")).toMatchObject({
    ...{
      head: 1,
      replicas: [{ address: serving.address, role: "publisher", number: 1, lag: 0, nodes: 0, deployed: 0 }],
    },
  });
  expect(await xds("status", "--store", store)).toBe("store     newest record 1\n\nno server follows the store\n");
  await serving.stop();
  await site.remove();
  await rm(folder, { recursive: true });
});
