import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Site } from "./serving.ts";

let site: Site;

beforeEach(async () => {
  site = await Site.make({ "clusters.yaml": clusters("one") });
});
afterEach(() => site.remove());

/** The exit code and everything that is printed, with the directory as DIR. */
async function xds(...argv: readonly string[]): Promise<string> {
  const io = new CapturedIo({ env: { NO_COLOR: "1", HOME: site.directory }, cwd: site.directory });
  const code = await run(argv, io);
  return `${io.stdout.text}${io.stderr.text}exit ${code}`.replaceAll(site.directory, "DIR");
}

test.each([".", "out", "out/deeper"])("serve does not export into its source: --export-directory %s", async (out) => {
  expect(await xds("serve", site.directory, "--export-directory", out)).toBe(
    "xds: --export-directory: the output directory is inside the directory to read (write to another one)\nexit 2",
  );
});

test("the same in xdskit.yaml is a problem there, for validate too", async () => {
  await site.write("xdskit.yaml", "export:\n  directory: .\n");
  const problem = `xdskit.yaml:2:14: error: the output directory is inside the directory to read [SETTING_INVALID]`;
  expect(await xds("validate", ".")).toContain(problem);
  expect(await xds("serve", ".")).toContain(problem);
  expect(await xds("serve", ".")).toMatch(/exit 1$/);
});

test.each([
  ["history: {revisions: 0}", "1:22: error: expected a whole number from 1, got 0"],
  ["load-reports: {interval: 10ms}", '1:26: error: expected a duration from 1s, or off, got "10ms"'],
  ["admin-viewers: [foo]", '1:16: error: expected uri:, dns:, ip:, email: or cn: and a glob, got "foo"'],
  ["listen: off", '1:9: error: expected host:port, got "off"'],
  ["store: nonsense", "1:8: error: expected etcd://HOST:PORT,…/PREFIX or file:DIR as the store, got nonsense"],
  ["store: etcd:///mesh", "1:8: error: expected HOST:PORT after etcd://"],
  [
    "store: 'etcd://a:1?cret=c.pem'",
    "1:8: error: expected ca, cert, key, encryption-key, user, password-file in the URL, got cret",
  ],
  ["store: 'etcd://a:1?user=u&password=p'", "1:8: error: a password does not belong in a URL"],
  ["tls.cert: a.pem", "1:11: error: TLS needs both a certificate and its key"],
  ["tls: {cert: a, key: b, crl: c}", "1:29: error: client certificates need CAs to be checked against"],
  ["admin-tls: {cert: a, key: b}", "1:19: error: client certificates need CAs to be checked against"],
  ["admin-viewers: ['dns:a']", "1:16: error: names of certificates need TLS of the admin API"],
  [
    "listeners: [{address: ':1', tls: {cert: a, key: b, require-client-certificate: true}}]",
    "1:29: error: client certificates need CAs to be checked against",
  ],
])("validate and serve refuse %s in xdskit.yaml alike", async (text, problem) => {
  await site.write("xdskit.yaml", `${text}\n`);
  const validated = await xds("validate", ".");
  expect(validated).toContain(`xdskit.yaml:${problem} [SETTING_INVALID]`);
  expect(validated).toMatch(/exit 1$/);
  const served = await xds("serve", ".");
  expect(served).toContain(`xdskit.yaml:${problem} [SETTING_INVALID]`);
  expect(served).toMatch(/exit 1$/);
  const answer = JSON.parse((await xds("validate", ".", "-o", "json")).replace(/exit 1$/, ""));
  expect(answer.problems).toContainEqual(
    expect.objectContaining({ code: "SETTING_INVALID", file: "xdskit.yaml", line: 1 }),
  );
});

test.each([
  [["--load-reports-interval", "10ms"], '--load-reports-interval: expected a duration from 1s, or off, got "10ms"'],
  [["--listen", "off"], '--listen: expected host:port, got "off" (such as 127.0.0.1:18000, [::1]:18000 or :18000)'],
  [["--history-days", "0"], '--history-days: expected a whole number from 1, got "0"'],
])("serve refuses %j as a mistake in the command line", async (flags, says) => {
  expect(await xds("serve", ".", ...flags)).toBe(`xds: ${says}\nexit 2`);
});

test.each([
  ["redis://user:hunter2/@hunter2@a:1/0?token=hunter2", "redis://***@a:1/0?token=***"],
  ["redis:hunter2@a", "redis:***@a"],
  ["etdc://a:1/mesh?password=hunter2&user=u", "etdc://a:1/mesh?password=***&user=***"],
])("no command prints the secrets of the store %s", async (url, shown) => {
  const message = `expected etcd://HOST:PORT,…/PREFIX or file:DIR as the store, got ${shown}`;
  for (const command of [["serve", "."], ["publish", "."], ["status"], ["store", "export", "file"]]) {
    const out = await xds(...command, "--store", url);
    expect(out).toContain(message);
    expect(out).not.toContain("hunter2");
    expect(out).toMatch(/exit 2$/);
  }
  await site.write("xdskit.yaml", `store: '${url}'\n`);
  expect(await xds("validate", ".")).toContain(`xdskit.yaml:1:8: error: ${message} [SETTING_INVALID]`);
});

test("parameters in the URL of a directory are refused without their values", async () => {
  const out = await xds("status", "--store", "file:none?token=hunter2");
  expect(out).toMatch(/^xds: file:none: only a store on etcd takes parameters after "\?"\n/);
  expect(out).not.toContain("hunter2");
});

test.each(["serve", "publish"])("%s says which parameter of the store may have been meant", async (command) => {
  const out = await xds(command, ".", "--store", "etcd://a:1/mesh?cret=c.pem");
  expect(out).toMatch(/^xds: --store: expected ca, .*, password-file in the URL, got cret/m);
  expect(out).toContain('did you mean "cert"?');
  expect(out).toMatch(/exit 2$/);
});

test("a symbolic link into the source is the source", async () => {
  await mkdir(join(site.directory, "config"));
  await symlink(join(site.directory, "config"), join(site.directory, "link"));
  const refused = /the output directory is inside the directory to read/;
  expect(await xds("export", "config", "link/out")).toMatch(refused);
  expect(await xds("serve", "config", "--export-directory", "link/out")).toMatch(refused);
});
