import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Site, until } from "./serving.ts";

const listener = `"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: http
address: { socket_address: { address: 127.0.0.1, port_value: 80 } }
filter_chains:
- filters:
  - name: hcm
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: http
      rds: { route_config_name: web, config_source: { ads: {}, resource_api_version: V3 } }
`;
const routes = `"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: web
vhds: { config_source: { ads: {}, resource_api_version: V3 } }
`;

let site: Site;
let out: Site;

beforeEach(async () => {
  site = await Site.make({ "clusters.yaml": clusters("one"), "http.yaml": listener, "routes.yaml": routes });
  out = await Site.make();
});
afterEach(async () => {
  await site.remove();
  await out.remove();
});

/** The command with everything that it prints; the two directories under short names. */
async function exported(...flags: readonly string[]): Promise<string> {
  const io = new CapturedIo();
  const code = await run(["export", site.directory, out.directory, "--validation", "off", ...flags], io);
  // Warnings about the directory are those of `xds validate`, and tested there.
  const said = io.stderr.text
    .split("\n")
    .filter((line) => /^xds: |\[RESOURCE_DUPLICATE\]|nothing is written/.test(line));
  const text = [io.stdout.text, "--- stderr", ...said, `--- exit ${code}`].join("\n");
  return text.replaceAll(out.directory, "OUT").replaceAll(site.directory, "DIR");
}

test("once: a summary, what goes into the bootstrap, and what cannot come from files", async () => {
  expect(await exported("--rewrite-sources", "--symlinks", "--format", "json")).toBe(
    `# OUT: 3 resources, 4 files written
# 1 config source rewritten:
#   http: filter_chains[0].filters[0].typed_config.rds.config_source -> OUT/rds/web.json
# in the bootstrap of Envoy:
dynamic_resources:
  lds_config:
    resource_api_version: V3
    path_config_source:
      path: OUT/lds.json
      watched_directory:
        path: OUT
  cds_config:
    resource_api_version: V3
    path_config_source:
      path: OUT/cds.json
      watched_directory:
        path: OUT

--- stderr
xds: warning: RouteConfiguration web: vhds.config_source still asks a server: Envoy asks for a VirtualHost over delta only
--- exit 0`,
  );
  expect(JSON.parse(readFileSync(join(out.directory, "rds", "web.json"), "utf8"))).toMatchObject({
    typeUrl: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
    resources: [{ name: "web" }],
  });
});

test("files of v2 come with a bootstrap of v2", async () => {
  expect((await exported("--v2")).split("# in the bootstrap of Envoy:\n")[1]?.split("\n--- stderr")[0]).toBe(
    `dynamic_resources:
  lds_config:
    path: OUT/lds.yaml
  cds_config:
    path: OUT/cds.yaml
`,
  );
});

test("bad input: the problems of validate, nothing written, exit 1", async () => {
  await site.write("clusters.yaml", clusters("one", "one"));
  const text = await exported();
  expect(text).toContain("[RESOURCE_DUPLICATE]");
  expect(text).toContain(": nothing is written");
  expect(text).toMatch(/--- exit 1$/);
  expect(existsSync(join(out.directory, "cds.yaml"))).toBe(false);
});

test("a directory that cannot be written to: a sentence, exit 1", async () => {
  await out.write("file", "");
  const io = new CapturedIo();
  const code = await run(["export", site.directory, join(out.directory, "file"), "--validation", "off"], io);
  expect({ code, says: io.stderr.text.includes("xds: cannot write files to") }).toEqual({ code: 1, says: true });
});

test("--watch: a line for each change in a pipe, until it is interrupted; a second writer is refused", async () => {
  const io = new CapturedIo();
  const flags = ["--validation", "off", "--watch", "--settle", "0s", "--log-level", "error"];
  const ended = run(["export", site.directory, out.directory, ...flags], io);
  const lines = (): readonly { event: string; written?: readonly string[] }[] =>
    io.stdout.text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  await until("all is written", () => lines().some(({ event }) => event === "in-sync"));
  expect(await exported()).toContain("cannot write files to OUT");
  await site.write("clusters.yaml", clusters("one", "two"));
  await until("the change is written", () => readFileSync(join(out.directory, "cds.yaml"), "utf8").includes('"two"'));
  await until("it is told", () => lines().at(-1)?.event === "written");
  expect(lines().at(-1)).toMatchObject({ event: "written", written: ["cds.yaml"], removed: [] });
  io.interrupt();
  expect(await ended).toBe(0);
  expect(await exported()).toContain("0 files written");
}, 30_000);

test("serve writes files beside its port, as its settings say", async () => {
  const settings = { directory: out.directory, format: "pb_text", "rewrite-sources": true };
  await site.write("xdskit.yaml", `export: ${JSON.stringify(settings)}\n`);
  const io = new CapturedIo();
  const argv = ["serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "off", "--state-dir", "off"];
  const ended = run([...argv, "--validation", "off", "--export-settle", "0s"], io);
  await until("files are written", () => existsSync(join(out.directory, "lds.pb_text")));
  expect(readFileSync(join(out.directory, "lds.pb_text"), "utf8")).toContain(join(out.directory, "rds", "web.pb_text"));
  io.interrupt();
  expect(await ended).toBe(0);
}, 30_000);
