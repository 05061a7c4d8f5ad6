import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { decodeSotwResponse, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { type AccessRules, anonymousNode, type Node, type Peer } from "@xdskit/protocol";
import { createServer, type ManagementServer } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { closed, RawPeer, until, within } from "../support/raw-peer.ts";
import { secret } from "../support/secret.ts";
import { ADS_SOTW, CLUSTER, cluster, put, SECRET, sotwRequest, testApi } from "../support/test-server.ts";

/** Certificates made for this run. */
let made: string;
/** The files that a server of a test watches. */
let inUse: string;
let server: ManagementServer | undefined;
const peers: RawPeer[] = [];

beforeAll(() => {
  made = mkdtempSync(join(tmpdir(), "xdskit-tls-"));
  makeAuthority("authority");
  makeAuthority("stranger");
  makeCertificate("one", "authority", "one.example", "IP:127.0.0.1,DNS:localhost");
  makeCertificate("two", "authority", "two.example", "IP:127.0.0.1,DNS:localhost");
  makeCertificate("client", "authority", "edge-7", "DNS:edge-7.example,URI:spiffe://example/edge,IP:10.0.0.7");
  makeCertificate("impostor", "stranger", "edge-7", "DNS:edge-7.example");
});
afterAll(() => rmSync(made, { recursive: true }));

beforeEach(() => {
  inUse = mkdtempSync(join(tmpdir(), "xdskit-tls-"));
  use("one");
});
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
  await server?.close();
  server = undefined;
  rmSync(inUse, { recursive: true });
});

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: made, stdio: "pipe" });
}

function makeAuthority(name: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", `${name}.key`];
  openssl("req", "-x509", "-days", "2", "-subj", `/CN=${name}`, ...key, "-out", `${name}.crt`);
}

function makeCertificate(name: string, authority: string, commonName: string, alternatives: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", `${name}.key`];
  openssl("req", "-subj", `/CN=${commonName}`, ...key, "-out", `${name}.csr`);
  writeFileSync(join(made, `${name}.ext`), `subjectAltName=${alternatives}\n`);
  const signer = ["-CA", `${authority}.crt`, "-CAkey", `${authority}.key`, "-CAcreateserial"];
  openssl(
    "x509",
    "-req",
    "-days",
    "2",
    "-in",
    `${name}.csr`,
    ...signer,
    "-extfile",
    `${name}.ext`,
    "-out",
    `${name}.crt`,
  );
}

/** Puts a certificate in force: each file replaced by a rename, as those who write certificates do. */
function use(name: string): void {
  for (const kind of ["crt", "key"]) {
    copyFileSync(join(made, `${name}.${kind}`), join(inUse, `next.${kind}`));
    renameSync(join(inUse, `next.${kind}`), join(inUse, `server.${kind}`));
  }
}

const pem = (file: string): Buffer => readFileSync(join(made, file));

async function start(
  tls: { ca?: string; requireClientCertificate?: boolean } = {},
): Promise<{ host: string; port: number }> {
  server = createServer({
    api: testApi(),
    tls: { cert: join(inUse, "server.crt"), key: join(inUse, "server.key"), ...tls },
  });
  server.commit(put(cluster("a")));
  return (await server.listen()).address;
}

async function connect(address: { host: string; port: number }, client?: string): Promise<RawPeer> {
  const certificate = client === undefined ? {} : { cert: pem(`${client}.crt`), key: pem(`${client}.key`) };
  const peer = await RawPeer.connect(address, { ca: pem("authority.crt"), ...certificate });
  peers.push(peer);
  return peer;
}

async function askOnce(peer: RawPeer): Promise<number> {
  const call = peer.open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER));
  return decodeSotwResponse(await call.next()).resources.length;
}

const shown = (peer: RawPeer): unknown => (peer.session.socket as TLSSocket).getPeerCertificate().subject.CN;

test("serves over TLS, and says so of the peer", async () => {
  const address = await start();
  const told: Peer[] = [];
  server?.on("connection-opened", ({ peer }) => told.push(peer));
  const peer = await connect(address);
  expect(await askOnce(peer)).toBe(1);
  expect(told).toMatchObject([{ isTls: true, isLoopback: true, names: [] }]);
});

test("certificates are reloaded at once on request, and stay where new ones are invalid", async () => {
  const address = await start();
  const told: string[] = [];
  server?.on("tls-reloaded", () => told.push("reloaded"));
  server?.on("tls-refused", () => told.push("refused"));
  use("two");
  await server?.reloadCertificates();
  expect([shown(await connect(address)), told]).toEqual(["two.example", ["reloaded"]]);
  writeFileSync(join(inUse, "server.crt"), "no certificate");
  await server?.reloadCertificates();
  expect([shown(await connect(address)), told]).toEqual(["two.example", ["reloaded", "refused"]]);
});

describe("a client certificate", () => {
  test("gives the peer its names", async () => {
    const address = await start({ ca: join(made, "authority.crt") });
    const told: Peer[] = [];
    server?.on("connection-opened", ({ peer }) => told.push(peer));
    expect(await askOnce(await connect(address, "client"))).toBe(1);
    expect(told[0]?.names).toEqual(["edge-7", "edge-7.example", "spiffe://example/edge", "10.0.0.7"]);
  });

  test.each([
    ["none", undefined],
    ["one of a stranger", "impostor"],
  ])("is required: %s is refused", async (_, client) => {
    const address = await start({ ca: join(made, "authority.crt") });
    const refused: string[] = [];
    server?.on("connection-refused", ({ reason }) => refused.push(reason));
    const certificate = client === undefined ? {} : { cert: pem(`${client}.crt`), key: pem(`${client}.key`) };
    const socket = connectTls({ ...address, ca: pem("authority.crt"), ALPNProtocols: ["h2"], ...certificate });
    socket.resume();
    // With TLS 1.3 the client learns of it only after its own handshake.
    await closed(socket);
    await until("it is told", () => refused.length === 1);
    expect(refused[0]).toMatch(/TLS handshake failed/);
  });

  test("was awaited of a peer that went away, whose address is no longer known", async () => {
    const { host, port } = await start({ ca: join(made, "authority.crt") });
    const refused: (string | undefined)[] = [];
    server?.on("connection-refused", ({ address }) => refused.push(address));
    const socket = connectTcp({ host, port });
    await once(socket, "connect");
    socket.resetAndDestroy();
    await until("it is told", () => refused.length === 1);
    expect(refused).toEqual([undefined]);
  });

  test("need not be shown when it is optional, and names count only when it was verified", async () => {
    const address = await start({ ca: join(made, "authority.crt"), requireClientCertificate: false });
    const told: Peer[] = [];
    server?.on("connection-opened", ({ peer }) => told.push(peer));
    expect(await askOnce(await connect(address))).toBe(1);
    expect(await askOnce(await connect(address, "impostor"))).toBe(1);
    expect(await askOnce(await connect(address, "client"))).toBe(1);
    expect(told.map(({ names }) => names[0])).toEqual([undefined, undefined, "edge-7"]);
  });
});

describe("S-ACC-03 over a real connection, a client is who its certificate says", () => {
  const edge = { ...anonymousNode, id: "edge-1" };
  const rules: AccessRules = {
    loopback: "rules",
    rules: [{ identities: ["spiffe://example/{service}"], nodes: ["{service}-*"], names: ["{service}/*", "shared"] }],
  };

  /** How many of three Secrets a client gets on an aggregated stream, or the status that ends it. */
  async function secretsOf(peer: RawPeer, node: Node): Promise<unknown> {
    const call = peer.open(ADS_SOTW);
    const resourceNames = ["edge/key", "pay/key", "shared"];
    call.send(encodeSotwRequest({ node, typeUrl: SECRET, resourceNames }));
    const first = await Promise.race([call.next(), call.status]);
    return first instanceof Uint8Array ? decodeSotwResponse(first).resources.length : first;
  }

  async function startWith(access: AccessRules | undefined): Promise<{ host: string; port: number }> {
    server = createServer({
      api: testApi(),
      tls: {
        cert: join(inUse, "server.crt"),
        key: join(inUse, "server.key"),
        ca: join(made, "authority.crt"),
        requireClientCertificate: false,
      },
      ...(access !== undefined && { access }),
    });
    server.commit(put(cluster("shared"), secret("edge/key", "1"), secret("pay/key", "2"), secret("shared", "3")));
    return (await server.listen()).address;
  }

  test("its own secrets and no others; another node's id and no certificate are refused", async () => {
    const address = await startWith(rules);
    const denied: unknown[] = [];
    server?.on("access-denied", ({ node, reason }) => denied.push([node.id, reason.split(":")[0]]));
    expect(await secretsOf(await connect(address, "client"), edge)).toBe(2);
    expect(await secretsOf(await connect(address, "client"), { ...edge, id: "pay-1" })).toMatchObject({ code: 7 });
    expect(await secretsOf(await connect(address), edge)).toMatchObject({ code: 16 });
    expect(denied).toEqual([
      ["pay-1", "no rule allows it"],
      ["edge-1", "no rule allows it"],
    ]);
  });

  test("S-ACC-07 rules that take its node away end its stream", async () => {
    const address = await startWith(rules);
    const peer = await connect(address, "client");
    const call = peer.open(ADS_SOTW);
    call.send(encodeSotwRequest({ node: edge, typeUrl: CLUSTER }));
    await call.next();
    server?.setAccess({ loopback: "rules", rules: [{ identities: ["spiffe://other/*"] }] });
    expect(await call.status).toMatchObject({ code: 7, message: 'this client may not be node "edge-1" here' });
  });
});

describe("new files", () => {
  test("are in force for new connections; old ones go on", async () => {
    const address = await start();
    const reloaded: unknown[] = [];
    server?.on("tls-reloaded", ({ files }) => reloaded.push(files));
    const before = await connect(address);
    expect(shown(before)).toBe("one.example");
    use("two");
    await until("they are read", () => reloaded.length > 0);
    expect(shown(await connect(address))).toBe("two.example");
    expect(await askOnce(before)).toBe(1);
  });

  test("that are no good change nothing, and are told", async () => {
    const address = await start();
    const refused: string[] = [];
    let reloads = 0;
    server?.on("tls-refused", ({ error }) => refused.push(error.message));
    server?.on("tls-reloaded", () => {
      reloads++;
    });
    copyFileSync(join(made, "two.key"), join(inUse, "server.key")); // of another certificate
    await until("they are refused", () => refused.length > 0);
    expect(shown(await connect(address))).toBe("one.example");
    writeFileSync(join(inUse, "server.crt"), "no certificate");
    await until("they are refused again", () => refused.length > 1);
    use("two");
    await until("good ones are read", () => reloads === 1);
    expect(shown(await connect(address))).toBe("two.example");
  });
});

test("a private key of another certificate is named, with the certificate", async () => {
  const [cert, key] = [join(made, "one.crt"), join(made, "two.key")];
  const other = createServer({ api: testApi(), listen: { port: 0, tls: { cert, key } } });
  await expect(other.listen()).rejects.toThrow(`the private key ${key} is not that of the certificate ${cert}`);
});

test("files that are no good at the start are an XdsError", async () => {
  writeFileSync(join(inUse, "server.key"), "no key");
  await expect(start()).rejects.toMatchObject({ name: "XdsError", code: "TLS_INVALID" });
});

test("HTTP/1.1 over TLS, and a client without ALPN, are understood", async () => {
  const address = await start();
  const request = httpsRequest({ ...address, path: "/", ca: pem("authority.crt") });
  request.end();
  const [response] = await within("a response", once(request, "response"));
  expect(response.statusCode).toBe(404);
  response.resume();

  const socket = connectTls({ ...address, ca: pem("authority.crt") });
  const peer = await RawPeer.connect(address, { ca: pem("authority.crt"), createConnection: () => socket });
  peers.push(peer);
  expect(socket.alpnProtocol).toBe(false);
  expect(await askOnce(peer)).toBe(1);
});

test("plaintext on a TLS port is closed", async () => {
  const address = await start();
  const plain = await RawPeer.connect(address);
  await until("it is closed", () => plain.isGone);
  expect(await askOnce(await connect(address))).toBe(1);
});
