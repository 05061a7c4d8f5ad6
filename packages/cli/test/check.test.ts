import { createServer } from "node:http2";
import { afterEach, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { edsCluster, endpoints, listener, routes, secret, wholeSite } from "./mesh-site.ts";
import { Serving, Site, until } from "./serving.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server of a site, and a directory with the bootstrap of an Envoy that it serves. */
async function served(site: Site): Promise<{ serving: Serving; cwd: string }> {
  cleanups.push(() => site.remove());
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  const { stdout } = await serving.xds("bootstrap", "envoy", "--server", serving.address);
  const elsewhere = await Site.make({ "envoy.yaml": stdout });
  cleanups.push(() => elsewhere.remove());
  return { serving, cwd: elsewhere.directory };
}

async function check(
  cwd: string,
  ...flags: readonly string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = new CapturedIo({ cwd });
  const code = await run(["check", "envoy.yaml", ...flags], io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

/** Without what differs from run to run. */
function steady(text: string): string {
  return text
    .replaceAll(/ +\d+ ms/g, "  N ms")
    .replaceAll(/ads:\S+/g, "ads:SERVER")
    .replaceAll(/(?<=\S) {2,}/g, "  ");
}

async function faultySite(): Promise<Site> {
  return Site.make({
    "listeners.yaml": listener("ingress", "main") + listener("lost", "nowhere", 10_001),
    "routes.yaml": routes("main", "a", "b", "gone"),
    "clusters.yaml": edsCluster("a") + edsCluster("b"),
    "endpoints.yaml": endpoints("a", 1, 2) + endpoints("b"),
    "secrets.yaml": secret("cert"),
  });
}

describe("xds check", () => {
  test("tells what an Envoy receives, and that all of it resolves", async () => {
    const { cwd } = await served(await wholeSite());
    const { code, stdout, stderr } = await check(cwd);
    expect([code, stderr]).toEqual([0, ""]);
    expect(steady(stdout).split("\n")).toEqual([
      "lds ingress: ready",
      "  rds main: ready",
      "    cds a: ready, 2 endpoints",
      "      eds a: ready",
      "    cds b: ready, 1 endpoint",
      "      eds b: ready",
      "  sds cert: ready",
      "",
      "TYPE  RESOURCES  FIRST ANSWER  SOURCE",
      "cds  2  N ms  ads:SERVER",
      "eds  2  N ms  ads:SERVER",
      "lds  1  N ms  ads:SERVER",
      "rds  1  N ms  ads:SERVER",
      "sds  1  N ms  ads:SERVER",
      "",
      "envoy.yaml: no problems",
      "",
    ]);
  });

  test("tells names that lead nowhere, and clusters without endpoints", async () => {
    const { cwd } = await served(await faultySite());
    const { code, stdout } = await check(cwd, "--timeout", "3s");
    const lines = stdout.split("\n");
    expect(code).toBe(1);
    expect(lines.filter((line) => /^(error|warning)/.test(line))).toEqual([
      "error: rds main needs cds gone: there is none [NAME_DANGLING]",
      expect.stringMatching(/^error: lds lost needs rds nowhere: .* \[NAME_DANGLING\]$/),
      "warning: cds b: has no endpoint to send to [NO_ENDPOINTS]",
    ]);
    expect(lines).toContain("    cds gone: missing");
    expect(lines.at(-2)).toMatch(/^envoy\.yaml: 2 errors, 1 warning/);
  });

  test("as JSON has the same, for programs", async () => {
    const { cwd } = await served(await faultySite());
    const { code, stdout } = await check(cwd, "--timeout", "3s", "-o", "json");
    const { ok, bootstrap, findings, tree, types } = JSON.parse(stdout);
    expect([code, ok, bootstrap]).toEqual([1, false, []]);
    expect(findings.map(({ code: what, name }: { code: string; name: string }) => [what, name])).toEqual([
      ["NAME_DANGLING", "main"],
      ["NAME_DANGLING", "lost"],
      ["NO_ENDPOINTS", "b"],
    ]);
    expect(tree.map(({ name }: { name: string }) => name)).toEqual(["ingress", "lost"]);
    expect(types.map(({ resources }: { resources: number }) => resources)).toContain(2);
  });

  test("tells what a client refuses", async () => {
    const site = await wholeSite();
    await site.write("listeners.yaml", listener("ingress", "main").replace("stat_prefix: ingress", 'stat_prefix: ""'));
    const { cwd } = await served(site);
    const { code, stdout } = await check(cwd, "--timeout", "2s");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^error: lds \S+: a client refuses it: .*stat_prefix.* \[UPDATE_REFUSED\]$/m);
    expect((await check(cwd, "--unchecked")).code).toBe(0);
  });

  test("warnings fail it with --strict", async () => {
    const site = await wholeSite();
    await site.write("endpoints.yaml", endpoints("a", 1) + endpoints("b"));
    const { cwd } = await served(site);
    expect((await check(cwd)).code).toBe(0);
    expect((await check(cwd, "--strict")).code).toBe(1);
  });

  test("tells mistakes in the bootstrap with their places, and asks nobody then", async () => {
    const site = await Site.make({ "envoy.yaml": "dynamic_resources:\n  lds_config: { ads: {} }\n" });
    cleanups.push(() => site.remove());
    const { code, stdout, stderr } = await check(site.directory);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout.split("\n")).toEqual([
      "envoy.yaml:2:17: error: expected an ads_config in dynamic_resources, which ads stands for",
      "    at dynamic_resources.lds_config.ads",
      "envoy.yaml: the bootstrap cannot be used",
      "",
    ]);
    const json = JSON.parse((await check(site.directory, "-o", "json")).stdout);
    expect([json.ok, json.bootstrap[0].line]).toEqual([false, 2]);
  });

  test("a server that is not there is told at once", async () => {
    const { serving, cwd } = await served(await wholeSite());
    await serving.stop();
    const { code, stdout, stderr } = await check(cwd);
    expect([code, stdout]).toEqual([69, ""]);
    expect(stderr).toMatch(/^xds: .*ECONNREFUSED.*\nhint: is a server running at that address\?\n$/);
    const json = await check(cwd, "-o", "json");
    expect([json.code, JSON.parse(json.stdout).unreachable]).toEqual([69, expect.stringContaining("ECONNREFUSED")]);
  });

  test("a server that takes the question and is silent is told when the time is over", async () => {
    const silent = createServer();
    silent.on("stream", (stream) => stream.respond({ ":status": 200, "content-type": "application/grpc" }));
    silent.on("session", (session) => cleanups.push(async () => session.destroy()));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    cleanups.push(async () => void silent.close());
    const bound = silent.address();
    const port = typeof bound === "object" ? bound?.port : undefined;
    const io = new CapturedIo();
    expect(await run(["bootstrap", "envoy", "--server", `127.0.0.1:${port}`], io)).toBe(0);
    const site = await Site.make({ "envoy.yaml": io.stdout.text });
    cleanups.push(() => site.remove());
    const { code, stderr } = await check(site.directory, "--timeout", "300ms");
    expect([code, stderr]).toEqual([69, "xds: the server takes the question, and does not answer in time\n"]);
  });
});
