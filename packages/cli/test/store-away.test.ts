import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { EtcdMember } from "../../store-etcd/test/support/etcd.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

describeWith("etcd", "xds serve --store etcd://", () => {
  let member: EtcdMember;
  let site: Site;
  let folder: string;
  let serving: Serving | undefined;
  const many = Array.from({ length: 3 }, (_, index) => `c${index}`);
  const url = (): string => `etcd://${member.endpoint}/mesh`;

  beforeEach(async () => {
    member = await EtcdMember.start();
    site = await Site.make({ "clusters.yaml": clusters(...many) });
    folder = await mkdtemp(join(tmpdir(), "xds-away-"));
  });
  afterEach(async () => {
    await serving?.stop();
    serving = undefined;
    await member.end();
    await site.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const publish = async (): Promise<number> =>
    await run(["publish", site.directory, "--validation", "off", "--store", url()], new CapturedIo());
  const start = async (...flags: readonly string[]): Promise<Serving> => {
    serving = await Serving.start(undefined, ["--store", url(), "--state-dir", folder, ...flags]);
    return serving;
  };
  /** The names that a new client gets. */
  const served = async ({ address }: Serving): Promise<readonly string[]> => {
    const io = new CapturedIo();
    await run(["get", "cds", "--server", address, "-o", "json"], io);
    return [...new Set(io.stdout.text.match(/"c\d"/g))].toSorted();
  };
  const storeOf = async (of: Serving): Promise<Readonly<Record<string, unknown>>> =>
    ((await of.ask("/api/v1/server"))["ledger"] as { store: Readonly<Record<string, unknown>> }).store;

  /** A server that has copied what was published, and is started again while etcd is away. */
  const startFromCopy = async (): Promise<Serving> => {
    await publish();
    const first = await start();
    await until("it is copied", async () => JSON.stringify(await storeOf(first)).includes('"copy":{"number":1'));
    await first.stop();
    await member.kill();
    return start();
  };

  test("serves new clients while etcd is away since its start, and what is published once it is back", async () => {
    const again = await startFromCopy();
    expect((await again.ask("/api/v1/server"))["ready"]).toBe(true);
    expect(await served(again)).toEqual(['"c0"', '"c1"', '"c2"']);
    expect(await storeOf(again)).toMatchObject({
      ...{ role: "follower", head: 1, lag: 0, copy: { number: 1, inPlace: true } },
      awayReason: expect.stringMatching(/./),
    });
    const { stdout } = await again.xds("status");
    expect(stdout).toContain("serving the local copy, up to record 1, since the start");
    const metrics = await (await fetch(`http://${again.admin}/metrics`)).text();
    expect(metrics).toContain("xds_server_store_copy_in_place 1");
    expect(metrics).toMatch(/^xds_server_store_unchecked_total\{reason="away"\} [1-9]/m);
    expect(again.io.stderr.text).toContain('"event":"store-copy-in-place"');
    await member.start();
    await site.write("clusters.yaml", clusters(...many, "c3"));
    expect(await publish()).toBe(0);
    await until("it is in force", async () => (await again.ask("/api/v1/server"))["revision"] === 2);
    expect(await served(again)).toEqual(['"c0"', '"c1"', '"c2"', '"c3"']);
    expect((await storeOf(again))["awaySince"]).toBeUndefined();
  });

  test("stops at another ledger under the same address, and serves on", async () => {
    const again = await startFromCopy();
    await rm(member.data, { recursive: true });
    await member.start();
    await until("it stops", async () => (await storeOf(again))["stoppedSince"] !== undefined);
    expect(await served(again)).toEqual(['"c0"', '"c1"', '"c2"']);
    const { stdout } = await again.xds("status");
    expect(stdout).toContain("not applied for");
  });

  test("says that a history cannot be read, and does not report a change as deployed that is not published", async () => {
    serving = await Serving.start(site, ["--store", url(), "--state-dir", folder]);
    const publisher = serving;
    const revision = async (): Promise<unknown> => (await publisher.ask("/api/v1/server"))["revision"];
    await until("it is published", async () => (await revision()) === 1);
    await member.kill();
    await until("it is away", () => publisher.logged("store-away").length > 0);
    for (const command of [["history"], ["show", "1"], ["diff", "0", "1"]]) {
      const { code, stderr } = await publisher.xds(...command);
      expect([code, stderr]).toEqual([69, expect.stringMatching(/^xds: the store is unreachable: etcd: .*[^ ]\n$/)]);
    }
    expect(publisher.logged("invariant-broken")).toEqual([]);
    await site.write("clusters.yaml", clusters(...many, "c3"));
    await member.start();
    const codes: number[] = [];
    await until("it is published", async () => {
      const [before, { code }] = [await revision(), await publisher.xds("wait", "--min-nodes", "0")];
      if (before === 1 && (await revision()) === 1) codes.push(code);
      return before === 2;
    });
    expect([...new Set(codes)]).toEqual([3]);
    expect((await publisher.xds("wait", "--min-nodes", "0")).code).toBe(0);
  }, 90_000);

  test("on standby, says that its files differ from what is in force", async () => {
    serving = await Serving.start(site, ["--store", url(), "--state-dir", folder]);
    await until("it is published", async () => (await serving?.ask("/api/v1/server"))?.["revision"] === 1);
    const theirs = await Site.make({ "clusters.yaml": clusters(...many) });
    const standby = await Serving.start(theirs, ["--store", url(), "--state-dir", "off"]);
    await until("it follows", async () => (await standby.ask("/api/v1/server"))["revision"] === 1);
    expect((await standby.xds("wait", "--min-nodes", "0")).code).toBe(0);
    await theirs.write("clusters.yaml", clusters(...many, "c3"));
    const why = "the files differ from what is in force: this server is on standby, without the lease to publish them";
    expect(await standby.xds("wait", "--min-nodes", "0")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(why),
    });
    expect((await standby.xds("status")).stdout).toContain(why);
    await site.write("clusters.yaml", clusters(...many, "c3"));
    await until("it is deployed", async () => (await standby.xds("wait", "--min-nodes", "0")).code === 0);
    await standby.stop();
    await theirs.remove();
  }, 30_000);

  test("without a copy does not start", async () => {
    await member.kill();
    const io = new CapturedIo();
    const flags = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--state-dir", folder];
    expect(await run(["serve", "--store", url(), ...flags], io)).toBe(69);
    expect(io.stderr.text).toContain("the store cannot be used");
  }, 30_000);
});
