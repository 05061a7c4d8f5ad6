import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createXdsClient } from "@xdskit/client";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { afterEach, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { edsCluster, endpoints, wholeSite } from "./mesh-site.ts";
import { Serving, Site, until } from "./serving.ts";

const api = createEnvoyApi();
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(site: Site): Promise<Serving> {
  cleanups.push(() => site.remove());
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  return serving;
}

/** Every resource of a server, by type and name. */
async function everythingAt(serving: Serving): Promise<Readonly<Record<string, string>>> {
  const client = await createXdsClient({
    api,
    server: serving.address,
    mode: "proxy",
    transport: { variant: "delta" },
  });
  try {
    const { all } = await client.mesh({ snapshots: "complete" }).ready;
    const found = [...all.values()].map(({ type, name, resource }) => [
      `${type} ${name}`,
      Buffer.from(resource?.bytes ?? []).toString("base64"),
    ]);
    return Object.fromEntries(found.sort());
  } finally {
    await client.close();
  }
}

async function xds(
  where: { readonly cwd: string; readonly server: string; readonly columns?: number },
  ...argv: readonly string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const terminal = where.columns === undefined ? {} : { terminalColumns: where.columns };
  const io = new CapturedIo({ cwd: where.cwd, env: { XDS_SERVER: where.server, NO_COLOR: "1" }, ...terminal });
  const code = await run(argv, io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

async function scratch(): Promise<string> {
  const site = await Site.make();
  cleanups.push(() => site.remove());
  return site.directory;
}

const asJson = ["--summary", "json"];
const dumpByBootstrap = ["dump", "--bootstrap", "envoy.yaml", "-o", "dump", "--show-secrets", ...asJson];

describe("xds dump", () => {
  test("tells a pipe of its files in plain text, as it tells a terminal", async () => {
    const site = await Site.make({ "endpoints.yaml": endpoints("a", 1), "clusters.yaml": edsCluster("a") });
    cleanups.push(() => site.remove());
    const serving = await serve(site);
    const { code, stdout } = await xds({ cwd: await scratch(), server: serving.address }, "dump", "-o", "out");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^TYPE +RESOURCES +BYTES +FILE\ncds +1 +\d+ +cds\.yaml\neds +1 +\d+ +eds\.yaml\n2 resources in out\n$/,
    );
  });

  test.each(["yaml", "json", "pb", "pb_text"])(
    "a dump in %s that is served again is the same to the byte",
    async (format) => {
      const serving = await serve(await wholeSite());
      const cwd = await scratch();
      const flags = ["-o", "dump", "--format", format, "--show-secrets", "--summary", "json"];
      const { code, stdout, stderr } = await xds({ cwd, server: serving.address }, "dump", ...flags);
      expect([code, stderr]).toEqual([0, ""]);
      const answer = JSON.parse(stdout);
      expect(
        answer.types.map((one: { name: string; resources: number; file: string }) => [
          one.name,
          one.resources,
          one.file,
        ]),
      ).toEqual([
        ["cds", 2, `cds.${format}`],
        ["eds", 2, `eds.${format}`],
        ["lds", 1, `lds.${format}`],
        ["rds", 1, `rds.${format}`],
        ["sds", 1, `sds.${format}`],
      ]);
      expect([answer.ok, answer.dangling, answer.refused, answer.notes]).toEqual([true, [], [], []]);
      expect((await stat(join(cwd, "dump", `sds.${format}`))).mode & 0o777).toBe(0o600);

      const again = await Site.make();
      for (const file of await readdir(join(cwd, "dump"))) {
        await writeFile(join(again.directory, file), await readFile(join(cwd, "dump", file)));
      }
      const before = await everythingAt(serving);
      expect(Object.values(before).every((bytes) => bytes !== "")).toBe(true);
      expect(Object.keys(before)).toHaveLength(7);
      expect(await everythingAt(await serve(again))).toEqual(before);
    },
  );

  test("writes what servers give, not what stands in the bootstrap", async () => {
    const serving = await serve(await wholeSite());
    const where = { cwd: await scratch(), server: serving.address };
    const { stdout: bootstrap } = await serving.xds("bootstrap", "envoy", "--server", serving.address);
    await writeFile(join(where.cwd, "envoy.yaml"), bootstrap);
    const { code, stdout } = await xds(where, ...dumpByBootstrap);
    const { types } = JSON.parse(stdout);
    expect([code, types.map((one: { name: string; resources: number }) => [one.name, one.resources])]).toEqual([
      0,
      [
        ["cds", 2],
        ["eds", 2],
        ["lds", 1],
        ["rds", 1],
        ["sds", 1],
      ],
    ]);
    expect(await readFile(join(where.cwd, "dump", "cds.yaml"), "utf8")).not.toContain("xds_server");
  });

  test("leaves out, with a word, what something of the bootstrap stands in the place of", async () => {
    const site = await wholeSite();
    await site.write("own.yaml", edsCluster("xds_server"));
    const serving = await serve(site);
    const where = { cwd: await scratch(), server: serving.address };
    const { stdout: bootstrap } = await serving.xds("bootstrap", "envoy", "--server", serving.address);
    await writeFile(join(where.cwd, "envoy.yaml"), bootstrap);
    const { code, stdout, stderr } = await xds(where, ...dumpByBootstrap);
    const note =
      "cds xds_server is left out: the bootstrap has one of that name, which stands; that of the server is not used";
    expect([code, JSON.parse(stdout).notes, stderr]).toEqual([0, [note], `xds: ${note}\n`]);
    expect(await readFile(join(where.cwd, "dump", "cds.yaml"), "utf8")).not.toContain("xds_server");
  });

  test("to standard output, without secrets; in a terminal with a table of what it was", async () => {
    const serving = await serve(await wholeSite());
    const where = { cwd: await scratch(), server: serving.address };
    const piped = await xds(where, "dump");
    expect([piped.code, piped.stderr]).toEqual([0, ""]);
    expect(piped.stdout).toContain("[redacted]");
    expect(piped.stdout).not.toContain("very private");
    expect(piped.stdout.match(/^typeUrl: /gm)).toHaveLength(5);
    const shown = await xds({ ...where, columns: 100 }, "dump");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the line that draws over itself
    const table = shown.stderr.replaceAll(/\r\u001b\[2K[^\r\n]*?(?=\r|TYPE)/g, "").replaceAll(/\r\u001b\[2K/g, "");
    expect(table.replaceAll(/ \d+\n/g, " N\n").split("\n")).toEqual([
      "TYPE  RESOURCES  BYTES",
      "cds   2          N",
      "eds   2          N",
      "lds   1          N",
      "rds   1          N",
      "sds   1          N",
      "7 resources",
      "",
    ]);
  });

  test("writes nothing that would serve [redacted]", async () => {
    const where = { cwd: await scratch(), server: (await serve(await wholeSite())).address };
    const { code, stdout, stderr } = await xds(where, "dump", "-o", "out");
    expect([code, stdout, stderr, existsSync(join(where.cwd, "out"))]).toEqual([
      1,
      "",
      `xds: sds cert holds secrets, which would be served as "[redacted]": nothing is written
hint: --show-secrets writes them, to files readable only by you; -o - prints them redacted
`,
      false,
    ]);
    expect((await xds(where, "dump", "-o", "out", "--show-secrets")).code).toBe(0);
  });

  test("tells what did not come, and fails", async () => {
    const site = await wholeSite();
    await site.write("clusters.yaml", edsCluster("a"));
    await site.write("endpoints.yaml", endpoints("a", 1));
    const serving = await serve(site);
    const { code, stdout, stderr } = await xds(
      { cwd: await scratch(), server: serving.address },
      "dump",
      "-o",
      "out",
      "--show-secrets",
      ...asJson,
    );
    expect([code, stderr]).toEqual([1, "xds: cds b, which rds main needs: there is none\n"]);
    const { ok, dangling } = JSON.parse(stdout);
    expect([ok, dangling]).toEqual([
      false,
      [
        {
          from: { type: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", name: "main" },
          to: { type: "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "b" },
          why: "absent",
        },
      ],
    ]);
  });

  test("leaves a directory alone that is not empty; with --force replaces what another dump left", async () => {
    const serving = await serve(await wholeSite());
    const cwd = await scratch();
    await mkdir(join(cwd, "out"));
    await writeFile(join(cwd, "out", "rtds.json"), "{}");
    await writeFile(join(cwd, "out", "notes.txt"), "mine");
    const where = { cwd, server: serving.address };
    const refused = await xds(where, "dump", "-o", "out");
    expect([refused.code, refused.stderr]).toEqual([
      2,
      "xds: out is not empty\nhint: say another directory, or --force\n",
    ]);
    expect((await xds(where, "dump", "-o", "out", "--force", "--show-secrets")).code).toBe(0);
    expect((await readdir(join(cwd, "out"))).sort()).toEqual([
      "cds.yaml",
      "eds.yaml",
      "lds.yaml",
      "notes.txt",
      "rds.yaml",
      "sds.yaml",
    ]);
  });

  test("of a bootstrap, as its node", async () => {
    const serving = await serve(await wholeSite());
    const cwd = await scratch();
    const { stdout } = await serving.xds("bootstrap", "envoy", "--server", serving.address);
    await writeFile(join(cwd, "envoy.yaml"), stdout);
    const { code, stderr } = await xds(
      { cwd, server: "127.0.0.1:1" },
      "dump",
      "--bootstrap",
      "envoy.yaml",
      "-o",
      "out",
      "--show-secrets",
    );
    expect([code, stderr]).toEqual([0, ""]);
    expect(await readdir(join(cwd, "out"))).toHaveLength(5);
  });

  test("from nobody fails at once, and says why", async () => {
    const { code, stdout, stderr } = await xds({ cwd: await scratch(), server: "127.0.0.1:1" }, "dump");
    expect([code, stdout, stderr]).toEqual([
      69,
      "",
      "xds: 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1\nhint: is a server running at 127.0.0.1:1?\n",
    ]);
  });

  test("of a server that has nothing is nothing", async () => {
    const site = await Site.make({ "xdskit.yaml": "allow-empty: true\n" });
    const serving = await serve(site);
    const cwd = await scratch();
    const { code, stdout, stderr } = await xds({ cwd, server: serving.address }, "dump", "-o", "out", ...asJson);
    expect([code, stderr, JSON.parse(stdout).types]).toEqual([0, "", []]);
    expect(await readdir(cwd)).toEqual([]);
  });

  test("in binary form is nothing for standard output", async () => {
    const { code, stderr } = await xds({ cwd: await scratch(), server: "127.0.0.1:1" }, "dump", "--format", "pb");
    expect([code, stderr]).toEqual([2, "xds: --format pb is not for standard output\nhint: say a directory: -o DIR\n"]);
  });

  test("has every variant of a name, as it came", async () => {
    const cwd = await scratch();
    const variant = (
      key: string,
      timeout: string,
    ): string => `- "@type": type.googleapis.com/envoy.service.discovery.v3.Resource
  resource_name:
    name: web
    dynamic_parameter_constraints: { not_constraints: { constraint: { key: ${key}, value: a } } }
  resource:
    "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
    name: web
    connect_timeout: ${timeout}
`;
    const given = join(cwd, "given.yaml");
    await writeFile(given, `version_info: "1"\nresources:\n${variant("env", "1s")}${variant("zone", "2s")}`);
    const source = `{ resource_api_version: V3, path_config_source: { path: ${given} } }`;
    await writeFile(
      join(cwd, "envoy.yaml"),
      `node: { id: a, cluster: b }\ndynamic_resources: { cds_config: ${source} }\n`,
    );
    const { code, stderr } = await xds(
      { cwd, server: "127.0.0.1:1" },
      ...["dump", "--bootstrap", "envoy.yaml", "-o", "out", "--format", "json"],
    );
    expect([code, stderr]).toEqual([0, ""]);
    const { resources } = JSON.parse(await readFile(join(cwd, "out", "cds.json"), "utf8"));
    const wrapped = (key: string, connectTimeout: string): object => ({
      "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
      resource: { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "web", connectTimeout },
      resourceName: {
        name: "web",
        dynamicParameterConstraints: { notConstraints: { constraint: { key, value: "a" } } },
      },
    });
    expect(resources).toEqual([wrapped("env", "1s"), wrapped("zone", "2s")]);
  });

  test("of what a gRPC client dials is what that leads to", async () => {
    const serving = await serve(await wholeSite());
    const where = { cwd: await scratch(), server: serving.address };
    const all = await xds(where, "dump", "nobody", "--timeout", "3s");
    expect([all.code, all.stdout, all.stderr]).toEqual([1, "", "xds: lds nobody: there is none\n"]);
    const { code, stdout } = await xds(where, "dump", "ingress");
    expect([code, stdout.match(/^typeUrl: /gm)?.length]).toEqual([0, 5]);
    // Without a bootstrap a target is the name of the Listener.
    expect(await xds(where, "dump", "xds:///ingress", "ingress")).toEqual({ code, stdout, stderr: "" });
  });

  test("into what is no directory, or cannot be written to, is a mistake and no bug", async () => {
    const serving = await serve(await wholeSite());
    const cwd = await scratch();
    await writeFile(join(cwd, "file"), "");
    const where = { cwd, server: serving.address };
    const direct = await xds(where, "dump", "-o", "file");
    expect([direct.code, direct.stderr]).toEqual([2, "xds: file is not a directory\n"]);
    const forced = await xds(where, "dump", "-o", "file", "--force", "--show-secrets");
    expect([forced.code, forced.stderr]).toEqual([1, "xds: file cannot be written to: it is not a directory\n"]);
  });

  test.runIf(existsSync("/proc/self"))("into where there can be no directory is an error", async () => {
    const serving = await serve(await wholeSite());
    const where = { cwd: await scratch(), server: serving.address };
    const { code, stderr } = await xds(where, "dump", "-o", "/proc/dump", "--show-secrets");
    expect([code, stderr]).toEqual([1, "xds: /proc/dump cannot be written to: ENOENT\n"]);
  });
});
