import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const cleanups: (() => Promise<unknown>)[] = [];
let keys = "";

beforeAll(async () => {
  keys = await mkdtemp(join(tmpdir(), "xds-cli-tls-"));
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "a.key"];
  const names = ["-subj", "/CN=a", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", "-days", "2", ...names, ...key, "-out", "a.crt"], { cwd: keys });
});
afterAll(() => rm(keys, { recursive: true }));
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(...flags: readonly string[]): Promise<Serving> {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  cleanups.push(() => site.remove());
  const serving = await Serving.start(site, flags);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  return serving;
}

function tlsFlags(): readonly string[] {
  return ["--tls-cert", join(keys, "a.crt"), "--tls-key", join(keys, "a.key")];
}

describe("a connection that fails says what may be wrong", () => {
  test("over TLS", async () => {
    const serving = await serve(...tlsFlags());
    const hintOf = async (...flags: readonly string[]): Promise<string> => {
      const { code, stderr } = await serving.xds("get", "cds", ...flags);
      expect(code).toBe(69);
      return stderr.split("\n").find((line) => line.startsWith("hint: ")) ?? stderr;
    };
    expect(await hintOf()).toContain("does it speak TLS?");
    expect(await hintOf("--tls")).toContain("with --ca FILE");
    expect(await hintOf("--ca", join(keys, "a.crt"), "--server-name", "b.example")).toContain("--server-name says");
    expect((await serving.xds("get", "cds", "--ca", join(keys, "a.crt"))).code).toBe(0);
  });

  test("without the certificate that the server asks for", async () => {
    const serving = await serve(...tlsFlags(), "--tls-ca", join(keys, "a.crt"));
    const { code, stderr } = await serving.xds("get", "cds", "--ca", join(keys, "a.crt"));
    expect([code, stderr]).toEqual([69, expect.stringContaining("it may want a client certificate: --cert")]);
  }, 15_000);

  test("with the two ports mixed up, or TLS where there is none", async () => {
    const serving = await serve();
    const wrong = await serving.xds("get", "cds", "--server", serving.admin);
    expect([wrong.code, wrong.stderr]).toEqual([69, expect.stringContaining("is that its admin port?")]);
    const nodes = await serving.xds("nodes", "--admin", serving.address);
    expect([nodes.code, nodes.stderr]).toEqual([1, expect.stringContaining("is it the port for clients?")]);
    const tls = await serving.xds("get", "cds", "--tls");
    expect([tls.code, tls.stderr]).toEqual([69, expect.stringContaining("does it speak TLS at all?")]);
  });
});

test("without a host, an address is on this machine", async () => {
  const serving = await serve();
  const at = (address: string): string => `:${address.split(":").at(-1)}`;
  expect((await serving.xds("get", "cds", "--server", at(serving.address))).code).toBe(0);
  const io = new CapturedIo({ env: { XDS_ADMIN_SERVER: at(serving.admin) } });
  expect(await run(["nodes"], io)).toBe(0);
});

test.each([
  ["no port", ["--server", "localhost"], '--server: expected host:port, got "localhost"'],
  ["a port that is none", ["--server", "localhost:65536"], '--server: expected host:port, got "localhost:65536"'],
  ["the same in XDS_SERVER", [], 'XDS_SERVER: expected host:port, got "localhost:99999"'],
  ["a key alone", ["--server", "localhost:1", "--key", "a.key"], "--cert and --key go together"],
  ["a certificate alone", ["--server", "localhost:1", "--cert", "a.crt"], "--cert and --key go together"],
])("a connection with %s is not begun", async (_, flags, message) => {
  const io = new CapturedIo({ env: { XDS_SERVER: "localhost:99999" } });
  expect([await run(["get", "cds", ...flags], io), io.stderr.text]).toEqual([2, `xds: ${message}\n`]);
});

test.each(["get", "watch"])("an interruption ends %s while it connects", async (command) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket));
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const bound = silent.address();
  const port = typeof bound === "object" ? bound?.port : undefined;
  const io = new CapturedIo();
  const connected = once(silent, "connection");
  const running = run([command, "cds", "--server", `127.0.0.1:${port}`], io);
  await connected;
  io.interrupt();
  // Whoever waited for the connection would say that nobody answered.
  expect([await running, io.stderr.text]).toEqual([130, ""]);
});

test("commands to try are told when there is somebody to try them on", async () => {
  const site = await Site.make({ "bad.yaml": '"@type": nothing\n' });
  cleanups.push(() => site.remove());
  const serving = await Serving.start(site, ["--no-color"], { isTerminal: true });
  cleanups.push(() => serving.stop());
  await until("the load has failed", () => serving.io.stderr.text.includes("resources have errors"));
  expect(serving.io.stdout.text).not.toContain("Try");
  await site.write("bad.yaml", clusters("one"));
  await until("commands are suggested", () => serving.io.stdout.text.includes("Try, in another terminal"));
  expect((await serving.xds("get", "cds")).code).toBe(0);
});

test("a name that never was there is not called removed, and a type's name is pointed out", async () => {
  const serving = await serve();
  const io = new CapturedIo();
  const watching = run(["watch", "cds", "one", "eds", "--server", serving.address], io);
  await until("it is told", () => io.stdout.text.includes("eds is not there"));
  expect(io.stdout.text).not.toContain("removed");
  expect(io.stderr.text).toBe("xds: watching cds named eds; for each other type, run a watch of its own\n");
  io.interrupt();
  expect(await watching).toBe(130);
});

test("every file that a setting names and that is not there is told at once", async () => {
  const text = "tls: { cert: a.crt, key: a.key }\ndescriptors: [none.binpb]\n";
  const site = await Site.make({ "clusters.yaml": clusters("one"), "xdskit.yaml": text });
  cleanups.push(() => site.remove());
  const io = new CapturedIo();
  expect(await run(["serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "off"], io)).toBe(1);
  const lines = io.stderr.text.split("\n").map((line) => line.replace(/: ENOENT.*/, ""));
  expect(lines).toEqual([
    "xds: xdskit.yaml:2:14: descriptors",
    "xdskit.yaml:1:14: tls.cert",
    "xdskit.yaml:1:26: tls.key",
    "",
  ]);
});

test("the log says the address that is listened at", async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  cleanups.push(() => site.remove());
  const io = new CapturedIo();
  const serving = run(["serve", site.directory, "--listen", "0.0.0.0:0", "--admin", "off"], io);
  await until("it listens", () => io.stderr.text.includes('"serving"'));
  expect(io.stderr.text).toMatch(/"address":"0\.0\.0\.0:\d+"/);
  io.interrupt("SIGTERM");
  expect(await serving).toBe(0);
});

test("a type may be called by its full name, and a node described by metadata and locality", async () => {
  const site = await Site.make({
    "clusters.yaml": clusters("one"),
    "xdskit.yaml": "groups:\n- { name: edge, match: { metadata: { role: edge }, locality: { region: eu } } }\n",
  });
  cleanups.push(() => site.remove());
  await mkdir(join(site.directory, "groups", "edge"), { recursive: true });
  await site.write("groups/edge/clusters.yaml", clusters("two"));
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  const names = async (...flags: readonly string[]): Promise<readonly string[]> =>
    [...(await serving.xds("get", "clusters", ...flags)).stdout.matchAll(/^name: (.*)$/gm)].map(
      ([, name]) => name ?? "",
    );
  expect(await names()).toEqual(["one"]);
  expect(await names("--metadata", "role=edge")).toEqual(["one"]);
  const edge = ["--metadata", "role=edge", "--locality", "eu/eu-1"];
  expect(await names(...edge)).toEqual(["one", "two"]);
  // So is one that a bootstrap speaks of, and one whose resources are dumped or watched.
  const { stdout: bootstrap } = await serving.xds("bootstrap", "envoy", "--server", serving.address);
  await site.write("envoy.bootstrap", bootstrap);
  const asBootstrap = ["--bootstrap", join(site.directory, "envoy.bootstrap")];
  expect(await names(...asBootstrap)).toEqual(["one"]);
  expect(await names(...asBootstrap, ...edge)).toEqual(["one", "two"]);
  const dumped = (await serving.xds("dump", ...edge)).stdout;
  expect(dumped.match(/name: "\w+"/g)).toEqual(['name: "one"', 'name: "two"']);
  const io = new CapturedIo({ env: { XDS_SERVER: serving.address } });
  const watching = run(["watch", "clusters", ...edge], io);
  await until("the watch tells both", () => /^name: two$/m.test(io.stdout.text) && /^name: one$/m.test(io.stdout.text));
  io.interrupt();
  expect(await watching).toBe(130);
}, 20_000);
