import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const bin = fileURLToPath(new URL("../bin/xds.js", import.meta.url));
const cleanups: (() => Promise<unknown>)[] = [];
/** Its name needs quotes in a shell. */
let keys = "";
/** Where the other terminal is. */
let elsewhere = "";

beforeAll(() => {
  keys = join(mkdtempSync(join(tmpdir(), "xds-cli-hint-")), "the server's keys");
  elsewhere = mkdtempSync(join(tmpdir(), "xds-cli-elsewhere-"));
  mkdirSync(keys);
  selfSigned("authority", "DNS:authority.example");
  selfSigned("self", "IP:127.0.0.1");
  signed("local", "DNS:localhost");
  signed("named", "DNS:xds.example");
  signed("client", "DNS:edge-7.example");
});
afterAll(() => {
  rmSync(join(keys, ".."), { recursive: true });
  rmSync(elsewhere, { recursive: true });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: keys, stdio: "pipe" });
}

function newKey(name: string): readonly string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", `${name}.key`];
}

function selfSigned(name: string, names: string): void {
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${names}`];
  openssl("req", "-x509", "-days", "2", ...subject, ...newKey(name), "-out", `${name}.crt`);
}

function signed(name: string, names: string): void {
  openssl("req", "-subj", `/CN=${name}`, ...newKey(name), "-out", `${name}.csr`);
  writeFileSync(join(keys, `${name}.ext`), `subjectAltName=${names}\n`);
  const signer = ["-CA", "authority.crt", "-CAkey", "authority.key", "-CAcreateserial", "-extfile", `${name}.ext`];
  openssl("x509", "-req", "-days", "2", "-in", `${name}.csr`, ...signer, "-out", `${name}.crt`);
}

/** Serves over TLS in a terminal; the lines that are suggested there, without the comments. */
async function suggested(name: string, ...flags: readonly string[]): Promise<readonly string[]> {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  cleanups.push(() => site.remove());
  const tls = ["--tls-cert", join(keys, `${name}.crt`), "--tls-key", join(keys, `${name}.key`)];
  const serving = await Serving.start(site, ["--no-color", ...tls, ...flags], { isTerminal: true });
  cleanups.push(() => serving.stop());
  await until("commands are suggested", () => serving.io.stdout.text.includes("Try, in another terminal"));
  return [...serving.io.stdout.text.matchAll(/^ {2}(\S.*?) +# /gm)].map(([, line]) => line ?? "");
}

/** What the lines do in a shell somewhere else. */
async function pasted(...lines: readonly (string | undefined)[]): Promise<string> {
  const script = [`xds() { "${process.execPath}" "${bin}" "$@"; }`, ...lines].join("\n");
  return (await promisify(execFile)("sh", ["-ec", script], { cwd: elsewhere })).stdout;
}

const lineOf = (lines: readonly string[], command: string): string =>
  lines.find((line) => line.startsWith(`xds ${command}`)) ?? "";

test("over TLS with a certificate that signed itself, what is suggested works in any directory", async () => {
  const lines = await suggested("self");
  const output = await pasted(lineOf(lines, "get"), lineOf(lines, "bootstrap"), "cat envoy.yaml");
  expect(output).toContain("name: one");
  expect(output).toContain(`filename: ${join(keys, "self.crt")}`);
}, 30_000);

test("the authority is taken from the server's files, and a name from the certificate", async () => {
  const flags = ["--tls-ca", join(keys, "authority.crt"), "--no-tls-require-client-certificate"];
  const get = lineOf(await suggested("local", ...flags), "get");
  expect(get).toContain(" --server localhost:");
  expect(await pasted(get)).toContain("name: one");
}, 30_000);

test("what the server does not have is a variable to set", async () => {
  const lines = await suggested("named");
  expect(lines[0]).toBe("CA=ca.crt");
  const get = lineOf(lines, "get");
  expect(get).toContain(' --ca "$CA" --server-name xds.example');
  copyFileSync(join(keys, "authority.crt"), join(elsewhere, "ca.crt"));
  expect(await pasted(lines[0], get)).toContain("name: one");
}, 30_000);

test("so is the certificate that clients have to show", async () => {
  const lines = await suggested("self", "--tls-ca", join(keys, "authority.crt"));
  expect(lines[0]).toBe("CERT=client.crt KEY=client.key");
  for (const kind of ["crt", "key"]) copyFileSync(join(keys, `client.${kind}`), join(elsewhere, `client.${kind}`));
  const output = await pasted(lines[0], lineOf(lines, "get"), lineOf(lines, "bootstrap"));
  expect(output).toContain("name: one");
  expect(readFileSync(join(elsewhere, "envoy.yaml"), "utf8")).toContain(`filename: ${join(elsewhere, "client.key")}`);
}, 30_000);

test("the admin API over TLS is asked with the certificate of an operator, and each mistake has its hint", async () => {
  const of = (name: string, kind: string): string => join(keys, `${name}.${kind}`);
  const tls = ["--admin-tls-cert", of("local", "crt"), "--admin-tls-key", of("local", "key")];
  const operators = ["--admin-tls-ca", of("authority", "crt"), "--admin-operators", "dns:edge-7.example"];
  const lines = await suggested("self", ...tls, ...operators);
  expect(lines[0]).toBe("CERT=client.crt KEY=client.key");
  for (const kind of ["crt", "key"]) copyFileSync(of("client", kind), join(elsewhere, `client.${kind}`));
  const nodes = lineOf(lines, "nodes");
  expect(JSON.parse(await pasted(lines[0], `${nodes} -o json`))).toEqual({ items: [], total: 0 });
  const curl = lines.find((line) => line.startsWith("curl")) ?? "";
  expect(await pasted(lines[0], `${curl}livez`)).toContain("ok");

  const [, url = ""] = /--admin (\S+)/.exec(nodes) ?? [];
  const { host } = new URL(url);
  const ca = ["--admin-ca", of("authority", "crt")];
  const identity = ["--admin-cert", of("client", "crt"), "--admin-key", of("client", "key")];
  const mistakes: readonly (readonly [flags: readonly string[], code: number, says: RegExp])[] = [
    [["--admin", url, ...identity], 69, /hint: --admin-ca names the CA of its certificate/],
    [["--admin", url, "--admin-ca", of("self", "crt"), ...identity], 69, /hint: --admin-ca names another CA/],
    [["--admin", url, ...ca], 1, /403: you may read health and metrics only\nhint: name your client certificate/],
    [["--admin", url, ...ca, "--admin-cert", of("self", "crt"), "--admin-key", of("self", "key")], 1, /403: you may/],
    [["--admin", url.replace("localhost", "127.0.0.1"), ...ca, ...identity], 69, /hint: .* is for another name/],
    [["--admin", host], 69, /hint: is it a port with TLS\? write https:/],
    [["--admin", `http://${host}`, ...ca], 2, /without TLS.*\nhint: write https:/],
    [["--admin", url, ...ca, "--admin-cert", of("client", "crt")], 2, /--admin-cert and --admin-key go together/],
    [["--admin", url, "--admin-ca", of("none", "crt")], 2, /no such file or directory/],
    [["--admin", "ftp://somewhere"], 2, /expected host:port, https:\/\/host:port or unix:PATH, got "ftp:/],
  ];
  for (const [flags, code, says] of mistakes) {
    const io = new CapturedIo({ env: { NO_COLOR: "1" } });
    expect([flags, await run(["nodes", ...flags], io), io.stderr.text]).toEqual([
      flags,
      code,
      expect.stringMatching(says),
    ]);
  }
  const env = {
    ...{ NO_COLOR: "1", XDS_ADMIN_SERVER: host, XDS_ADMIN_CA: of("authority", "crt") },
    ...{ XDS_ADMIN_CERT: of("client", "crt"), XDS_ADMIN_KEY: of("client", "key") },
  };
  const io = new CapturedIo({ env });
  expect([await run(["nodes", "-o", "json"], io), JSON.parse(io.stdout.text)]).toEqual([0, { items: [], total: 0 }]);
}, 30_000);

test("a local socket is suggested in place of an admin port", async () => {
  const socket = join(elsewhere, "admin.sock");
  const lines = await suggested("self", "--admin-socket", socket);
  expect(lineOf(lines, "nodes")).toBe(`xds nodes --admin unix:${socket}`);
  expect(JSON.parse(await pasted(`${lineOf(lines, "nodes")} -o json`))).toEqual({ items: [], total: 0 });
}, 30_000);
