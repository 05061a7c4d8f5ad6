import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as elapsed, setImmediate as nextTurn } from "node:timers/promises";
import { createServer, type ManagementServer, type ManagementServerOptions } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

let made: string;
let directory: string;
const servers: ManagementServer[] = [];

beforeAll(() => {
  made = mkdtempSync(join(tmpdir(), "xdskit-close-"));
  const subject = ["-subj", "/CN=localhost", "-days", "2", "-nodes", "-newkey", "rsa:2048"];
  execFileSync("openssl", ["req", "-x509", ...subject, "-keyout", "key.pem", "-out", "cert.pem"], {
    cwd: made,
    stdio: "pipe",
  });
});
afterAll(() => rmSync(made, { recursive: true }));
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-close-"));
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  rmSync(directory, { recursive: true });
});

const loopback = { host: "127.0.0.1", port: 0 };

/** Options with their files in the directory of the test. */
const kinds: readonly [string, () => ManagementServerOptions][] = [
  ["in plaintext", () => ({ admin: false })],
  ["over TLS", () => ({ admin: false, tls: { cert: join(made, "cert.pem"), key: join(made, "key.pem") } })],
  ["with an admin API", () => ({ admin: loopback })],
  ["that writes files", () => ({ admin: false, files: [{ directory: join(directory, "out"), node: { id: "a" } }] })],
  ["with a ledger", () => ({ admin: loopback, stateDir: directory, ledger: { directory: join(directory, "ledger") } })],
];

const moments: readonly [string, () => Promise<unknown>][] = [
  ["at once", async () => undefined],
  ["a turn later", async () => await nextTurn()],
  ["two turns later", async () => await nextTurn().then(() => nextTurn())],
  ["a millisecond later", async () => await elapsed(1)],
  ["some milliseconds later", async () => await elapsed(5)],
];

function open(options: ManagementServerOptions): ManagementServer {
  const server = createServer({ listen: loopback, ...options });
  servers.push(server);
  return server;
}

/** How many ports this process listens at. */
function listening(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;
}

describe.each(kinds)("a server %s that is closed while it starts", (_, optionsOf) => {
  describe.each(moments)("%s", (__, moment) => {
    test.each(["close", "drain"] as const)(
      "by %s listens at nothing, and says so to whoever started it",
      async (end) => {
        const before = listening();
        const server = open(optionsOf());
        const started = server.listen().then(
          () => "started",
          (error: unknown) => error,
        );
        await moment();
        await server[end]();
        expect([expect.objectContaining({ code: "SERVER_STATE" }), "started"]).toContainEqual(await started);
        await expect.poll(listening).toBe(before);
      },
    );
  });
});

test("close resolves once everything is closed, however often it is called", async () => {
  const problems: unknown[] = [];
  const options = { admin: false, stateDir: directory, ledger: { directory: join(directory, "ledger") } } as const;
  const first = open(options);
  await first.listen();
  void first.close();
  await first.close();
  const second = open(options);
  second.on("ledger-problem", (event) => problems.push(event));
  await second.listen();
  expect(problems).toEqual([]);
});
