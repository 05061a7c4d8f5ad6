import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http2";
import { join } from "node:path";
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
async function served(site: Site, ...flags: readonly string[]): Promise<{ serving: Serving; cwd: string }> {
  cleanups.push(() => site.remove());
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  const { stdout } = await serving.xds("bootstrap", "envoy", "--server", serving.address, ...flags);
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
  return text.replaceAll(/ +\d+ ms/g, "  N ms").replaceAll(/(?<=\S) {2,}/g, "  ");
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
  test("says why endpoints over ADS are out of reach of an Envoy that only polls", async () => {
    const site = await Site.make({ "clusters.yaml": edsCluster("a"), "endpoints.yaml": endpoints("a", 1) });
    const { cwd } = await served(site, "--transport", "rest");
    const { code, stdout } = await check(cwd);
    expect([code, stdout.split("\n").find((line) => line.startsWith("  eds"))]).toEqual([
      1,
      "  eds a: its source cannot be used: the resource says `ads: {}`, and the bootstrap has no ads_config",
    ]);
  });

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
      "TYPE  RESOURCES  FIRST ANSWER  SLOWEST  SOURCE",
      "cds  2  N ms  *  N ms  ads-delta:xds_server",
      expect.stringMatching(/^eds {2}2 {2}N ms {2}[ab] {2}N ms {2}ads-delta:xds_server$/),
      "lds  1  N ms  *  N ms  ads-delta:xds_server",
      "rds  1  N ms  main  N ms  ads-delta:xds_server",
      "sds  1  N ms  cert  N ms  ads-delta:xds_server",
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

  test("tells which answers are slow, with figures; a limit that is set fails it", async () => {
    const { cwd } = await served(await wholeSite());
    const strict = await check(cwd, "--slow", "0s");
    const slow = strict.stdout.split("\n").filter((line) => line.includes("ANSWER_SLOW"));
    const steadied = slow.map((line) => line.replace(/ [\d.]+ s /, " N s "));
    expect([strict.code, steadied.sort()]).toEqual([
      1,
      [
        "error: cds: the first answer took N s [ANSWER_SLOW]",
        "error: eds a: the answer took N s [ANSWER_SLOW]",
        "error: eds b: the answer took N s [ANSWER_SLOW]",
        "error: lds: the first answer took N s [ANSWER_SLOW]",
        "error: rds main: the answer took N s [ANSWER_SLOW]",
        "error: sds cert: the answer took N s [ANSWER_SLOW]",
      ],
    ]);
    expect((await check(cwd, "--slow", "1h")).code).toBe(0);
  });

  test("of two servers of which one is away, tells what the other has, and what is missing; fails", async () => {
    const site = await wholeSite();
    // Who has no clusters is given no routes, and this client can have none.
    await site.write("xdskit.yaml", "make-before-break: false\n");
    const { serving } = await served(site);
    const text = twoServers("127.0.0.1:1", serving.address);
    const elsewhere = await Site.make({ "envoy.yaml": text });
    cleanups.push(() => elsewhere.remove());
    const { code, stdout, stderr } = await check(elsewhere.directory, "--slow", "1h");
    const lines = stdout.split("\n");
    expect([code, stderr]).toEqual([1, ""]);
    expect(lines.filter((line) => /^(lds|error)/.test(line))).toEqual([
      "lds ingress: ready",
      expect.stringMatching(/^lds +1 .* grpc-delta:second$/),
      expect.stringMatching(
        /^error: cds: .*never answered: UNAVAILABLE: first: connect ECONNREFUSED 127\.0\.0\.1:1 \[NO_ANSWER\]$/,
      ),
      "error: rds main needs cds a: there is none [NAME_DANGLING]",
      "error: rds main needs cds b: there is none [NAME_DANGLING]",
    ]);
    expect(lines.at(-2)).toMatch(/^envoy\.yaml: 3 errors, \d warnings$/);
  });

  test("of two servers that are both away, tells why of each", async () => {
    const site = await Site.make({ "envoy.yaml": twoServers("127.0.0.1:1", "127.0.0.1:2") });
    cleanups.push(() => site.remove());
    const { code, stderr } = await check(site.directory);
    const lines = stderr.split("\n");
    expect([code, lines[0], lines.slice(1, 3).sort()]).toEqual([
      69,
      "xds: no server can be asked:",
      [expect.stringMatching(/first.*127\.0\.0\.1:1$/), expect.stringMatching(/second.*127\.0\.0\.1:2$/)],
    ]);
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

const HTTP = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** A Listener as clients of gRPC want it. */
function apiListener(name: string, table: string): string {
  return `- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: ${name}
  api_listener:
    api_listener:
      "@type": ${HTTP}
      stat_prefix: ${name}
      rds: { route_config_name: ${table}, config_source: { ads: {}, resource_api_version: V3 } }
      http_filters:
      - name: router
        typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
`;
}

/** A bootstrap with Clusters from one server, and Listeners from another. */
function twoServers(first: string, second: string): string {
  const cluster = (name: string, server: string): string => {
    const [address, port] = server.split(":");
    const endpoint = `{ endpoint: { address: { socket_address: { address: ${address}, port_value: ${port} } } } }`;
    const assignment = `{ cluster_name: ${name}, endpoints: [{ lb_endpoints: [${endpoint}] }] }`;
    return `  - { name: ${name}, type: STATIC, connect_timeout: 1s, load_assignment: ${assignment} }\n`;
  };
  const api = (server: string): string =>
    `{ api_type: DELTA_GRPC, transport_api_version: V3, grpc_services: [{ envoy_grpc: { cluster_name: ${server} } }] }`;
  const source = (server: string): string => `{ resource_api_version: V3, api_config_source: ${api(server)} }`;
  return `node: { id: edge, cluster: c }
static_resources:
  clusters:
${cluster("first", first)}${cluster("second", second)}dynamic_resources:
  ads_config: ${api("second")}
  cds_config: ${source("first")}
  lds_config: ${source("second")}
`;
}

describe("xds check of what stands in a bootstrap", () => {
  const source = "{ ads: {}, resource_api_version: V3 }";
  /** A Listener, and Clusters, in the bootstrap; what they lead to comes from the server. */
  function ownBootstrap(server: string, dynamic = ""): string {
    const indented = listener("ingress", "main")
      .replace(/^- "@type": .*\n {2}/, "- ")
      .replaceAll(/^/gm, "  ");
    const [address, port] = server.split(":");
    const endpoint = `{ endpoint: { address: { socket_address: { address: ${address}, port_value: ${port} } } } }`;
    return `node: { id: edge, cluster: c }
static_resources:
  listeners:
${indented}
  clusters:
  - name: xds
    type: STATIC
    load_assignment: { cluster_name: xds, endpoints: [{ lb_endpoints: [${endpoint}] }] }
  - { name: own, type: ORIGINAL_DST, lb_policy: CLUSTER_PROVIDED }
  - { name: found, type: EDS, eds_cluster_config: { eds_config: ${source} } }
dynamic_resources:
  ads_config: { api_type: GRPC, transport_api_version: V3, grpc_services: [{ envoy_grpc: { cluster_name: xds } }] }
${dynamic}`;
  }

  async function checked(
    dynamic: string,
    { server, clusters = edsCluster("a") }: { readonly server?: string; readonly clusters?: string } = {},
  ): Promise<readonly [number, readonly string[], string]> {
    const { serving } = await served(
      await Site.make({
        "routes.yaml": routes("main", "own", "found", "a"),
        "clusters.yaml": clusters,
        "endpoints.yaml": endpoints("a", 1, 2) + endpoints("found", 3),
        "secrets.yaml": secret("cert"),
      }),
    );
    const site = await Site.make({ "envoy.yaml": ownBootstrap(server ?? serving.address, dynamic) });
    cleanups.push(() => site.remove());
    const { code, stdout, stderr } = await check(site.directory, "--timeout", "5s", "--slow", "1h");
    const lines = stdout
      .split("\n")
      .filter((line) => !/^(?:warning(?!.*\[NAME_OVERRULED\])|[a-z.]+:\d|TYPE|$| {4}(?:at |hint: set ))/.test(line));
    return [code, steady(lines.join("\n")).split("\n"), stderr];
  }

  test("shows it, marked, with all that it leads to", async () => {
    const [code, lines, stderr] = await checked(`  cds_config: ${source}\n`);
    expect([code, stderr]).toEqual([0, ""]);
    expect(lines.slice(0, 8)).toEqual([
      "lds ingress: ready, static",
      "  rds main: ready",
      "    cds own: ready, static",
      "    cds found: ready, 1 endpoint, static",
      "      eds found: ready",
      "    cds a: ready, 2 endpoints",
      "      eds a: ready",
      "  sds cert: ready",
    ]);
  });

  test("what a server gives under the name of something else in it is told", async () => {
    const [code, lines] = await checked(`  cds_config: ${source}\n`, {
      clusters: edsCluster("a") + edsCluster("own") + edsCluster("found"),
    });
    expect(code).toBe(0);
    expect(lines.slice(0, 6)).toEqual([
      "lds ingress: ready, static",
      "  rds main: ready",
      "    cds own: ready, static",
      "    cds found: ready, 1 endpoint, static",
      "      eds found: ready",
      "    cds a: ready, 2 endpoints",
    ]);
    const stands = "the bootstrap has one of that name, which stands; that of the server is not used [NAME_OVERRULED]";
    expect(lines.filter((line) => line.startsWith("warning"))).toEqual([
      `warning: cds found: ${stands}`,
      `warning: cds own: ${stands}`,
    ]);
  });

  test("a bootstrap that asks for nothing else asks only for what that leads to", async () => {
    const [code, lines] = await checked("");
    expect(code).toBe(1);
    expect(lines.slice(0, 7)).toEqual([
      "lds ingress: ready, static",
      "  rds main: ready",
      "    cds own: ready, static",
      "    cds found: ready, 1 endpoint, static",
      "      eds found: ready",
      "    cds a: missing",
      "  sds cert: ready",
    ]);
    expect(lines).toContain("error: rds main needs cds a: there is none [NAME_DANGLING]");
  });

  test("a server that is not there is told, though something stands in the bootstrap", async () => {
    const [code, , stderr] = await checked("", { server: "127.0.0.1:1" });
    expect([code, stderr]).toEqual([69, expect.stringContaining("127.0.0.1:1")]);
  });

  test("without any server there is nobody to be asked", async () => {
    const cluster = "{ name: own, type: ORIGINAL_DST, lb_policy: CLUSTER_PROVIDED }";
    const site = await Site.make({
      "envoy.yaml": `node: { id: n, cluster: c }\nstatic_resources: { clusters: [${cluster}] }\n`,
    });
    cleanups.push(() => site.remove());
    const { code, stderr } = await check(site.directory);
    expect([code, stderr]).toEqual([0, ""]);
  });
});

/** What gRPC wants of a group of endpoints. */
const GROUP = "locality: { region: r }, load_balancing_weight: 1";

describe("xds check of a gRPC bootstrap", () => {
  async function grpcSite(): Promise<{ cwd: string }> {
    const site = await Site.make({
      "listeners.yaml":
        ["shop", "bare"].map((name) => apiListener(name, name)).join("") +
        listener("envoys-only", "shop") +
        apiListener("other", "none"),
      "routes.yaml": routes("shop", "a") + routes("bare", "b"),
      "clusters.yaml": ["a", "b", "unused"].map((name) => edsCluster(name)).join(""),
      "endpoints.yaml": endpoints("a", 1).replace("lb_endpoints", `${GROUP}, lb_endpoints`) + endpoints("b", 2),
      "secrets.yaml": secret("cert"),
    });
    const { serving, cwd } = await served(site);
    const { stdout } = await serving.xds("bootstrap", "grpc", "--server", serving.address);
    await writeFile(join(cwd, "grpc.json"), stdout);
    return { cwd };
  }

  async function xds(
    cwd: string,
    argv: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<readonly [code: number, stdout: string, stderr: string]> {
    const io = new CapturedIo({ cwd, env });
    const code = await run(["check", ...argv], io);
    return [code, io.stdout.text, io.stderr.text];
  }

  test("follows what its targets lead to, and nothing else", async () => {
    const { cwd } = await grpcSite();
    const [code, stdout, stderr] = await xds(cwd, ["grpc.json", "xds:///shop"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").slice(0, 5)).toEqual([
      "lds shop: ready",
      "  rds shop: ready",
      "    cds a: ready, 1 endpoint",
      "      eds a: ready",
      "",
    ]);
    expect(stdout).not.toMatch(/unused|envoys-only|other/);
  });

  test("fails where there is nothing for a target", async () => {
    const { cwd } = await grpcSite();
    const [code, stdout] = await xds(cwd, ["grpc.json", "xds:///nobody", "--slow", "1h"]);
    expect([code, stdout.split("\n").filter((line) => line.includes("nobody"))]).toEqual([
      1,
      [
        "lds nobody: missing",
        expect.stringMatching(/^lds .* never .* nobody \d+ ms /),
        "error: lds nobody: there is none [NAME_DANGLING]",
      ],
    ]);
  }, 30_000);

  test("tells what gRPC refuses and Envoy takes", async () => {
    const { cwd } = await grpcSite();
    const [code, stdout] = await xds(cwd, ["grpc.json", "xds:///bare", "xds:///envoys-only", "--timeout", "5s"]);
    expect([code, stdout.split("\n").filter((line) => line.includes("GRPC_REFUSES"))]).toEqual([
      1,
      [
        "error: lds envoys-only: expected an api_listener, as Listeners for clients have [GRPC_REFUSES]",
        "error: eds b: expected a locality and a load_balancing_weight in endpoints[0] [GRPC_REFUSES]",
      ],
    ]);
  });

  test("without a target, or of an Envoy with one, says what is wrong", async () => {
    const { cwd } = await grpcSite();
    expect(await xds(cwd, ["grpc.json"])).toEqual([
      2,
      "",
      "xds: grpc.json is of a gRPC client, which asks only for what it dials\nhint: name what it dials, such as xds:///my-service\n",
    ]);
    expect(await xds(cwd, ["envoy.yaml", "xds:///shop"])).toEqual([
      2,
      "",
      "xds: envoy.yaml is of an Envoy, which dials no targets\nhint: an Envoy asks for everything: leave them out\n",
    ]);
    expect(await xds(cwd, ["xds:///shop"])).toEqual([
      2,
      "",
      "xds: which bootstrap?\nhint: xds check FILE, or set GRPC_XDS_BOOTSTRAP\n",
    ]);
  });

  test("is that of the environment where none is named, whatever server is set; a path goes before a text", async () => {
    const { cwd } = await grpcSite();
    const path = join(cwd, "grpc.json");
    const text = await readFile(path, "utf8");
    for (const [env, says] of [
      [
        { GRPC_XDS_BOOTSTRAP: path, GRPC_XDS_BOOTSTRAP_CONFIG: "{", XDS_SERVER: "127.0.0.1:1" },
        `GRPC_XDS_BOOTSTRAP (${path})`,
      ],
      [{ GRPC_XDS_BOOTSTRAP_CONFIG: text }, "GRPC_XDS_BOOTSTRAP_CONFIG"],
    ] as const) {
      const [code, stdout, stderr] = await xds(cwd, ["xds:///shop"], env);
      expect([code, stderr, stdout.split("\n")[0]]).toEqual([
        0,
        `xds: asks as the bootstrap in ${says} says\n`,
        "lds shop: ready",
      ]);
    }
  });
});
