import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

let site: Site;
let serving: Serving;
beforeEach(async () => {
  site = await Site.make({ "clusters.yaml": clusters("one") });
  serving = await Serving.start(site);
  await until("it is ready", () => serving.isReady());
});
afterEach(async () => {
  await serving.stop();
  await site.remove();
});

/** What `xds bootstrap` prints for a client of the server. */
async function bootstrapOf(...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await serving.xds("bootstrap", ...flags, "--server", serving.address);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

async function inSite(...argv: readonly string[]): Promise<readonly [code: number, stdout: string, stderr: string]> {
  const io = new CapturedIo({ cwd: site.directory });
  const code = await run(argv, io);
  return [code, io.stdout.text, io.stderr.text];
}

describe("xds get --bootstrap", () => {
  test.each([
    ["envoy", ["envoy", "--transport", "ads"]],
    ["envoy by itself", ["envoy", "--transport", "grpc"]],
    ["envoy over REST", ["envoy", "--transport", "rest"]],
    ["envoy in v2", ["envoy", "--transport", "ads", "--v2"]],
    ["grpc", ["grpc"]],
  ])("asks as the client with a bootstrap of %s does", async (_what, flags) => {
    await site.write("client.boot", await bootstrapOf(...flags));
    const [code, stdout, stderr] = await inSite("get", "cds", "--bootstrap", "client.boot", "-o", "json");
    expect([code, stderr]).toEqual([0, ""]);
    const [cluster] = JSON.parse(stdout) as readonly Record<string, unknown>[];
    expect(cluster?.["name"]).toBe("one");
  });

  test("asks as the node of the bootstrap, or as the one that is given", async () => {
    await site.write("client.yaml", await bootstrapOf("envoy", "--node", "edge-7"));
    const isSeen = async (id: string): Promise<boolean> =>
      JSON.stringify(await serving.ask("/api/v1/nodes")).includes(`"${id}"`);
    for (const [flags, id] of [
      [[], "edge-7"],
      [["--node", "edge-8"], "edge-8"],
    ] as const) {
      const io = new CapturedIo({ cwd: site.directory });
      const watching = run(["watch", "cds", "--bootstrap", "client.yaml", ...flags], io);
      await until("it is seen", () => isSeen(id));
      io.interrupt();
      expect(await watching).toBe(130);
    }
  });

  test("tells every mistake in a bootstrap with its place", async () => {
    const text = "dynamic_resources:\n  cds_config: { ads: {} }\n  lds_confg: {}\n";
    await site.write("client.yaml", text);
    const [code, stdout, stderr] = await inSite("get", "cds", "--bootstrap", "client.yaml");
    expect([code, stdout]).toEqual([1, ""]);
    const lines = stderr.split("\n").filter((line) => !line.startsWith(" "));
    expect(lines).toEqual([
      "xds: the bootstrap cannot be used",
      "client.yaml:2:17: error: expected an ads_config in dynamic_resources, which ads stands for",
      'client.yaml:3:3: error: expected a field of envoy.config.bootstrap.v3.Bootstrap.DynamicResources, got "lds_confg"',
      "",
    ]);
  });

  test("does not take what says how a server is asked, too", async () => {
    const [code, , stderr] = await inSite("get", "cds", "--bootstrap", "client.yaml", "--rest");
    expect([code, stderr]).toEqual([2, expect.stringContaining("cannot be used with option '--rest'")]);
  });
});

describe("the bootstrap in the environment", () => {
  async function get(env: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<readonly unknown[]> {
    const io = new CapturedIo({ cwd: site.directory, env });
    const code = await run(["get", "cds", "-o", "table", ...flags], io);
    return [code, io.stdout.text.split("\n")[1]?.split(" ")[0], io.stderr.text];
  }

  test("is asked as where nothing else is said, and that is told", async () => {
    const text = await bootstrapOf("grpc");
    const says = "xds: asks as the bootstrap in GRPC_XDS_BOOTSTRAP_CONFIG says\n";
    expect(await get({ GRPC_XDS_BOOTSTRAP_CONFIG: text })).toEqual([0, "one", says]);
    const bad = await get({ GRPC_XDS_BOOTSTRAP_CONFIG: "{" });
    expect(bad).toEqual([1, undefined, expect.stringContaining("GRPC_XDS_BOOTSTRAP_CONFIG:1:")]);
  });

  test("gives way to a server, a file, a bootstrap, and flags that it leaves no room for", async () => {
    const env = { GRPC_XDS_BOOTSTRAP: "/nothing.json" };
    await site.write("client.yaml", await bootstrapOf("envoy"));
    expect(await get(env, "--server", serving.address)).toEqual([0, "one", ""]);
    expect(await get({ ...env, XDS_SERVER: serving.address })).toEqual([0, "one", ""]);
    expect(await get({ ...env, XDS_SERVER: serving.address }, "--sotw")).toEqual([0, "one", ""]);
    expect(await get(env, "--bootstrap", "client.yaml")).toEqual([0, "one", ""]);
    expect((await get(env, "--sotw"))[2]).not.toContain("/nothing.json");
    expect((await get(env))[2]).toContain("/nothing.json");
  });
});
