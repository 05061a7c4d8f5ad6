import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import type { ManagementServerOptions } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type AdminCaller, namesByKind, roleOf } from "../../src/admin/access.ts";
import { hasNameKind } from "../../src/certificate-name.ts";
import { until } from "../support/raw-peer.ts";
import { startWorld, type World } from "../support/test-server.ts";

let made: string;
const worlds: World[] = [];

beforeAll(() => {
  made = mkdtempSync(join(tmpdir(), "xdskit-admin-"));
  makeAuthority("authority");
  makeAuthority("stranger");
  makeCertificate("server", "authority", "DNS:localhost,IP:127.0.0.1");
  makeCertificate("operator", "authority", "URI:spiffe://prod/ns/ops/sa/alice");
  makeCertificate("viewer", "authority", "DNS:grafana.example");
  makeCertificate("nobody", "authority", "DNS:spiffe.example,URI:spiffe://prod/ns/web/sa/web");
  makeCertificate("impostor", "stranger", "URI:spiffe://prod/ns/ops/sa/alice");
});
afterAll(() => rmSync(made, { recursive: true }));
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: made, stdio: "pipe" });
}

const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

function makeAuthority(name: string): void {
  const files = ["-keyout", `${name}.key`, "-out", `${name}.crt`];
  openssl("req", "-x509", "-days", "2", "-subj", `/CN=${name}`, ...CURVE, ...files);
}

function makeCertificate(name: string, authority: string, alternatives: string): void {
  openssl("req", "-subj", "/CN=one of them", ...CURVE, "-keyout", `${name}.key`, "-out", `${name}.csr`);
  writeFileSync(join(made, `${name}.ext`), `subjectAltName=${alternatives}\n`);
  const signer = ["-CA", `${authority}.crt`, "-CAkey", `${authority}.key`, "-CAcreateserial"];
  const files = ["-in", `${name}.csr`, "-extfile", `${name}.ext`, "-out", `${name}.crt`];
  openssl("x509", "-req", "-days", "2", ...signer, ...files);
}

const pathOf = (file: string): string => join(made, file);

async function start(options: Partial<ManagementServerOptions>): Promise<World> {
  const world = await startWorld(options);
  worlds.push(world);
  return world;
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

async function ask(options: RequestOptions, certificate?: string): Promise<Answer> {
  const request =
    certificate === undefined
      ? httpRequest({ agent: false, ...options })
      : httpsRequest({
          ...{ agent: false, servername: "localhost", ...options, ca: readFileSync(pathOf("authority.crt")) },
          ...(certificate !== "" && {
            cert: readFileSync(pathOf(`${certificate}.crt`)),
            key: readFileSync(pathOf(`${certificate}.key`)),
          }),
        });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, text: Buffer.concat(chunks).toString() };
}

const REFUSED = "you may read health and metrics only";

describe("the local socket", () => {
  test.each<[string, Partial<ManagementServerOptions>]>([
    ["without a port", {}],
    ["beside a port", { admin: {} }],
  ])("answers everything to the user of the server only, %s", async (_, options) => {
    const adminSocket = pathOf("admin.sock");
    const world = await start({ ...options, adminSocket });
    expect(statSync(adminSocket).mode & 0o777).toBe(0o600);
    const at = { socketPath: adminSocket, headers: { host: "any.example" } };
    const read = await ask({ ...at, path: "/api/v1/nodes" });
    expect([read.status, JSON.parse(read.text)]).toEqual([200, { items: [], total: 0 }]);
    expect((await ask({ ...at, path: "/api/v1/nodes", method: "POST" })).status).toBe(405);
    expect(world.adminAddress === undefined).toBe(options.admin === undefined);
    await world.close();
    expect(existsSync(adminSocket)).toBe(false);
  });

  test("takes the place of one that was left behind, and of no other", async () => {
    const adminSocket = pathOf("left.sock");
    const script = `require("node:net").createServer().listen(${JSON.stringify(adminSocket)}, () => process.kill(process.pid, "SIGKILL"))`;
    expect(() => execFileSync(process.execPath, ["-e", script], { stdio: "pipe" })).toThrow();
    expect(existsSync(adminSocket)).toBe(true);
    await start({ adminSocket });
    await expect(start({ adminSocket })).rejects.toMatchObject({ code: "LISTEN_FAILED" });
    expect((await ask({ socketPath: adminSocket, path: "/livez" })).status).toBe(200);
    const file = pathOf("file");
    writeFileSync(file, "mine");
    await expect(start({ adminSocket: file })).rejects.toMatchObject({ code: "LISTEN_FAILED" });
    expect(readFileSync(file, "utf8")).toBe("mine");
  });
});

describe("over TLS", () => {
  const tls = (): object => ({
    cert: pathOf("server.crt"),
    key: pathOf("server.key"),
    ca: pathOf("authority.crt"),
  });

  test.each([
    ["operator", 200, 405],
    ["viewer", 200, 403],
    ["nobody", 403, 403],
    ["impostor", 403, 403],
    ["", 403, 403],
  ])("the certificate %j reads with %i and changes with %i, on loopback too", async (certificate, reads, changes) => {
    const admin = { tls: tls(), viewers: ["dns:grafana.example"], operators: ["uri:spiffe://prod/ns/ops/*"] } as const;
    const world = await start({ admin } as Partial<ManagementServerOptions>);
    const refused: object[] = [];
    world.server.on("admin-refused", ({ path, names }) => refused.push({ path, names }));
    const at = { host: "127.0.0.1", port: world.adminAddress?.port ?? 0 };
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      expect([path, (await ask({ ...at, path }, certificate)).status]).toEqual([path, 200]);
    }
    expect(refused).toEqual([]);
    const read = await ask({ ...at, path: "/api/v1/nodes" }, certificate);
    const unknown = await ask({ ...at, path: "/api/v1/nothing" }, certificate);
    const changed = await ask({ ...at, path: "/livez", method: "POST" }, certificate);
    expect([read.status, unknown.status, changed.status]).toEqual([reads, reads === 200 ? 404 : 403, changes]);
    if (reads === 200) return;
    // Nothing tells what there is.
    expect([JSON.parse(read.text).error, unknown.text]).toEqual([REFUSED, read.text]);
    const names =
      certificate === "nobody" ? ["dns:spiffe.example", "uri:spiffe://prod/ns/web/sa/web", "cn:one of them"] : [];
    expect(refused).toEqual(["/api/v1/nodes", "/api/v1/nothing", "/livez"].map((path) => ({ path, names })));
  });

  test.each([
    ["operator", 200],
    ["viewer", 200],
    ["nobody", 403],
    ["", 403],
  ])("the certificate %j gets the console and what it asks for with %i", async (certificate, status) => {
    const admin = { tls: tls(), viewers: ["dns:grafana.example"], operators: ["uri:spiffe://prod/ns/ops/*"] } as const;
    const world = await start({ admin } as Partial<ManagementServerOptions>);
    const at = { host: "127.0.0.1", port: world.adminAddress?.port ?? 0, method: "HEAD" };
    const asked = ["graph?type=cds&name=a", "holders?type=cds&name=a", "events", "samples", "nodes", "resources"];
    for (const path of ["/console/", "/console/icon.svg", ...asked.map((route) => `/api/v1/${route}`)])
      expect([path, (await ask({ ...at, path }, certificate)).status]).toEqual([path, status]);
  });

  test("other host names than those configured are refused as they are over plaintext", async () => {
    const world = await start({ admin: { tls: tls() } } as Partial<ManagementServerOptions>);
    const at = { host: "127.0.0.1", port: world.adminAddress?.port ?? 0, path: "/livez" };
    expect((await ask({ ...at, headers: { host: "evil.example" } }, "")).status).toBe(403);
  });
});

describe("the audit", () => {
  test("has one line for each request that is no read: who, as what, what, and with which result", async () => {
    const adminSocket = pathOf("audited.sock");
    const tls = { cert: pathOf("server.crt"), key: pathOf("server.key"), ca: pathOf("authority.crt") };
    const admin = { tls, operators: ["uri:spiffe://prod/ns/ops/*"] };
    const world = await start({ admin, adminSocket } as Partial<ManagementServerOptions>);
    const audited: object[] = [];
    world.server.on("admin-change", ({ caller, role, method, path, status }) =>
      audited.push({ caller, role, method, path, status }),
    );
    const at = { host: "127.0.0.1", port: world.adminAddress?.port ?? 0 };
    const path = `/api/v1/${"a".repeat(300)}?token=1`;
    await ask({ ...at, path, method: "POST" }, "operator");
    await ask({ socketPath: adminSocket, path: "/livez?a=b", method: "DELETE" });
    for (const certificate of ["operator", "nobody"]) await ask({ ...at, path: "/api/v1/nodes" }, certificate);
    await ask({ ...at, path: "/livez", method: "POST" }, "nobody");
    await until("both are told", () => audited.length >= 2);
    const names = expect.stringContaining("uri:spiffe://prod/ns/ops/");
    expect(audited).toEqual([
      { caller: names, role: "operator", method: "POST", path: path.slice(0, 200), status: 404 },
      { caller: "local socket", role: "operator", method: "DELETE", path: "/livez", status: 405 },
    ]);
  });

  test("a refused caller is told with the beginning of its path", async () => {
    const world = await start({
      admin: { tls: { cert: pathOf("server.crt"), key: pathOf("server.key"), ca: pathOf("authority.crt") } },
    });
    const paths: string[] = [];
    world.server.on("admin-refused", (refused) => paths.push(refused.path));
    await ask({ host: "127.0.0.1", port: world.adminAddress?.port ?? 0, path: `/${"a".repeat(9_000)}` }, "nobody");
    expect(paths).toEqual([`/${"a".repeat(199)}`]);
  });
});

const outer = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

test.runIf(outer !== undefined).each([
  [false, 403, 403],
  [true, 200, 403],
])("beyond loopback over plaintext, insecure %s: reads with %i, changes with %i", async (insecure, reads, changes) => {
  const world = await start({ admin: { host: "0.0.0.0" }, insecure });
  const at = { host: outer, port: world.adminAddress?.port ?? 0 };
  for (const path of ["/livez", "/readyz", "/metrics"]) expect((await ask({ ...at, path })).status).toBe(200);
  expect((await ask({ ...at, path: "/api/v1/resources" })).status).toBe(reads);
  expect((await ask({ ...at, path: "/api/v1/resources", method: "DELETE" })).status).toBe(changes);
  expect((await ask({ ...at, host: "127.0.0.1", path: "/api/v1/resources" })).status).toBe(200);
});

test.each<[AdminCaller, string | undefined, string | undefined]>([
  [{ kind: "socket" }, "operator", "operator"],
  [{ kind: "plaintext", isLoopback: true }, "operator", "operator"],
  [{ kind: "plaintext", isLoopback: false }, undefined, "viewer"],
  [{ kind: "tls", names: [] }, undefined, undefined],
  [{ kind: "tls", names: ["cn:a", "dns:a.example"] }, "viewer", "viewer"],
  [{ kind: "tls", names: ["cn:dns:a.example"] }, undefined, undefined],
  [{ kind: "tls", names: ["dns:a.example", "uri:spiffe://prod/x"] }, "operator", "operator"],
])("%j has the role %s, and %s where insecure is set", (caller, role, insecureRole) => {
  const rules = { viewers: ["dns:*.example"], operators: ["uri:spiffe://prod/*"] };
  expect([false, true].map((insecure) => roleOf(caller, { ...rules, insecure }))).toEqual([role, insecureRole]);
});

test("names in a certificate keep their kind, whatever they contain", () => {
  const text =
    'DNS:a.example, URI:"spiffe://prod/a, DNS:b.example", IP Address:10.0.0.1, email:a@b.example, othername:<x>';
  expect(namesByKind(text)).toEqual([
    "dns:a.example",
    "uri:spiffe://prod/a, DNS:b.example",
    "ip:10.0.0.1",
    "email:a@b.example",
  ]);
  expect(["dns:a", "uri:spiffe://a/b", "cn:a", "a", "host:a", "dns:"].map(hasNameKind)).toEqual([
    ...[true, true, true],
    ...[false, false, false],
  ]);
});

test.each(["a port", "a local socket"])(
  "%s has 256 connections for operators, and a place once one of them is gone",
  async (kind) => {
    const adminSocket = pathOf("full.sock");
    const world = await start(kind === "a port" ? { admin: {} } : { adminSocket });
    const address = world.adminAddress ?? { path: adminSocket };
    const held = Array.from({ length: 256 }, () => connect(address).on("error", () => undefined));
    for (const socket of held) socket.write("GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await Promise.all(held.map(async (socket) => await once(socket, "data")));
    const tooMany = connect(address)
      .on("error", () => undefined)
      .resume();
    await once(tooMany, "close");
    expect(held.filter((socket) => socket.closed)).toEqual([]);
    const asking = kind === "a port" ? world.adminAddress : { socketPath: adminSocket };
    for (const socket of held) socket.destroy();
    const asked = async (): Promise<number | undefined> =>
      await ask({ ...asking, path: "/livez" }).then(
        ({ status }) => status,
        () => undefined,
      );
    // The server notices a moment later that they are gone.
    let status = await asked();
    for (let attempt = 0; attempt < 100 && status === undefined; attempt++) status = await asked();
    expect(status).toBe(200);
  },
);

test("the port with TLS closes at once with connections whose handshake is not over", async () => {
  const admin = { tls: { cert: pathOf("server.crt"), key: pathOf("server.key"), ca: pathOf("authority.crt") } };
  const world = await startWorld({ admin } as Partial<ManagementServerOptions>);
  const silent = connect(world.adminAddress as { port: number; host: string }).resume();
  const gone = once(silent, "close");
  await once(silent, "connect");
  await world.close();
  await gone;
});
