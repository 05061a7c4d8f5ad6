import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "../../server/test/support/authority.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site } from "./serving.ts";

const settings = `admin-operators: ["dns:ops.example", "email:ops@example.org"]
admin-viewers: ["uri:spiffe://prod/dashboard"]
admin-tls: { cert: server.crt, key: server.key, ca: ca.crt }
`;
const holders = {
  ops: "DNS:ops.example",
  mail: "email:ops@example.org",
  dashboard: "URI:spiffe://prod/dashboard",
  other: "DNS:other.example",
} as const;

/** Certificates are judged at the time at which they were made. */
class TimedIo extends CapturedIo {
  override now(): Date {
    return new Date();
  }
}

let site: Site;
let ruled: Site;
let authority: Authority;
const servers: Serving[] = [];
let sockets: readonly string[] = [];

beforeAll(async () => {
  authority = new Authority("authority");
  const own = authority.issue("IP:127.0.0.1");
  const files = { "a.yaml": clusters("one"), "ca.crt": authority.cert, "server.crt": own.cert, "server.key": own.key };
  site = await Site.make({ ...files, "xdskit.yaml": settings });
  // A rule about something else leaves the roles as they are.
  const rules = `access: { rules: [{ identities: ["spiffe://prod/{node}"], nodes: ["{node}"] }] }\n`;
  ruled = await Site.make({ ...files, "xdskit.yaml": `${settings}${rules}` });
  for (const [name, alternatives] of Object.entries(holders))
    await writeFile(join(site.directory, `${name}.pem`), authority.issue(alternatives).cert);
  sockets = [site, ruled].map(({ directory }) => join(directory, "admin.sock"));
  for (const [index, one] of [site, ruled].entries())
    servers.push(await Serving.start(one, ["--admin-socket", sockets[index] ?? ""]));
});
afterAll(async () => {
  for (const server of servers) await server.stop();
  for (const one of [site, ruled]) await one.remove();
  authority[Symbol.dispose]();
});

/** What a directory's files say, and what a server with them says. */
async function explain(name: keyof typeof holders, entry: string): Promise<readonly string[]> {
  const texts: string[] = [];
  const asked = [[site.directory], [ruled.directory], ...sockets.map((path) => ["--admin", `unix:${path}`])];
  for (const by of asked) {
    const io = new TimedIo();
    const certificate = ["--cert", join(site.directory, `${name}.pem`), "--entry", entry];
    const code = await run(["access", "explain", ...by, ...certificate], io);
    texts.push(`${code} ${io.stdout.text.split("\n")[0]}${io.stderr.text}`);
  }
  return texts;
}

test.each([
  ["ops", "admin", "operator"],
  ["ops", "admin-change", "operator"],
  ["mail", "admin-change", "operator"],
  ["dashboard", "admin", "viewer"],
] as const)("the role of a certificate counts, by files and by the server: %s at %s", async (name, entry, role) => {
  const [usual, byRules, ...served] = await explain(name, entry);
  expect([usual, byRules]).toEqual(served);
  expect([usual, byRules]).toEqual(
    ["0 allowed: its role is ROLE", "0 allowed: its role is ROLE"].map((text) => text.replace("ROLE", role)),
  );
});

test.each([
  ["dashboard", "admin-change"],
  ["other", "admin"],
] as const)("a certificate without the role is denied, by files and by the server: %s at %s", async (name, entry) => {
  const [usual, byRules, ...served] = await explain(name, entry);
  expect([usual, byRules]).toEqual(served);
  expect([usual, byRules]).toEqual([expect.stringMatching(/^1 denied: /), expect.stringMatching(/^1 denied: /)]);
});
