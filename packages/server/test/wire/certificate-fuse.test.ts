import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { encodeSotwRequest } from "@xdskit/envoy-api/internal";
import type { FuseSettings } from "@xdskit/protocol/internal";
import { createServer, type ListenAddress, type ManagementServer, type ServerAnswer } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Authority, type IssuedCertificate } from "../support/authority.ts";
import { RawPeer, until } from "../support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, cluster, node, testApi } from "../support/test-server.ts";

const WITHIN_MS = 30_000;

let authority: Authority;
let successor: Authority;
let own: IssuedCertificate;
let fleet: IssuedCertificate;
let files: string;
let server: ManagementServer;
const peers: RawPeer[] = [];

beforeAll(() => {
  authority = new Authority("authority");
  successor = new Authority("successor");
  own = authority.issue("IP:127.0.0.1,DNS:localhost");
  fleet = authority.issue("URI:spiffe://prod/fleet");
});
afterAll(() => {
  authority[Symbol.dispose]();
  successor[Symbol.dispose]();
});
beforeEach(() => {
  files = mkdtempSync(join(tmpdir(), "xdskit-tls-"));
});
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
  await server.close();
  rmSync(files, { recursive: true });
});

function write(name: string, content: string): string {
  const path = join(files, name);
  writeFileSync(`${path}.next`, content);
  renameSync(`${path}.next`, path);
  return path;
}

interface Started {
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  readonly ended: readonly string[];
  readonly held: readonly { readonly id: string; readonly message: string }[];
  ask(path: string, method?: "GET" | "POST"): Promise<unknown>;
  heldTrust(): Promise<ServerAnswer["heldTrust"]>;
  metric(): Promise<string | undefined>;
}

/** Starts a server with fuses that verifies clients against the CA of the test. */
async function start(fuses: Partial<FuseSettings> = {}, listen: readonly ListenAddress[] = [{}]): Promise<Started> {
  server = createServer({
    api: testApi(),
    ledger: { fuses },
    admin: {},
    listen,
    tls: {
      cert: write("server.crt", own.cert),
      key: write("server.key", own.key),
      ca: write("ca.crt", authority.cert),
      crl: write("ca.crl", `${authority.list()}${successor.list()}`),
    },
  });
  const ended: string[] = [];
  const held: Started["held"][number][] = [];
  server.on("certificate-ended", ({ peer, reason }) => ended.push(`${peer.certificate?.uris[0]} ${reason}`));
  server.on("tls-held", ({ id, message }) => held.push({ id, message }));
  const { addresses, adminAddress } = await server.listen();
  await server.publish({ layers: new Map([["base", [cluster("a")]]]), origin: { writer: "directory" } });
  const admin = async (path: string, method: "GET" | "POST" = "GET"): Promise<Response> =>
    await fetch(`http://127.0.0.1:${adminAddress?.port}${path}`, { method });
  const ask: Started["ask"] = async (path, method) => (await admin(path, method)).json();
  return {
    ...{ addresses, ended, held, ask },
    heldTrust: async () => ((await ask("/api/v1/server")) as ServerAnswer).heldTrust,
    metric: async () => /^xds_server_tls_held (\d)$/m.exec(await (await admin("/metrics")).text())?.[1],
  };
}

/** Connects nodes, each over its own connection, and waits until each has the cluster. */
async function connect(
  { addresses }: Started,
  ids: readonly string[],
  { cert, key }: IssuedCertificate = fleet,
): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const address = addresses[index % addresses.length];
    if (address === undefined) throw new Error("the server has no address");
    const peer = await RawPeer.connect(address, { ca: authority.cert, cert, key });
    peers.push(peer);
    const call = peer.open(ADS_SOTW);
    call.send(encodeSotwRequest({ node: node(id), typeUrl: CLUSTER, resourceNames: [] }));
    await call.next(WITHIN_MS);
  }
}

/** The certificate that the server showed on the newest connection. */
function shown(): string | undefined {
  const socket = peers.at(-1)?.session.socket as TLSSocket | undefined;
  return socket?.getPeerX509Certificate()?.toString().trim();
}

const gone = (): number => peers.filter(({ isGone }) => isGone).length;

test("CAs that would cut off the connected nodes are held, shown everywhere, and in force once approved", async () => {
  const started = await start();
  await connect(started, ["edge-1", "edge-2"]);
  expect([await started.heldTrust(), await started.metric()]).toEqual([undefined, "0"]);

  write("ca.crt", successor.cert);
  await server.reloadCertificates();
  const message = "2 of 2 connected nodes would be cut off: 2 by the CAs";
  const [{ id } = { id: "" }] = started.held;
  expect(started.held).toEqual([{ id: expect.stringMatching(/^ca-[0-9a-f]{8}$/), message }]);
  expect(await started.heldTrust()).toEqual([
    { id, message, files: [join(files, "ca.crt"), join(files, "ca.crl")], since: expect.any(String) },
  ]);
  expect(await started.metric()).toBe("1");
  // The CA in force verifies new connections.
  await connect(started, ["edge-3"]);
  // What waits goes on waiting, and is told once.
  await server.reloadCertificates();
  expect([started.held.length, started.ended, gone()]).toEqual([1, [], 0]);

  expect(await started.ask("/api/v1/approve/ca-00000000", "POST")).toEqual({
    result: "refused",
    reason: `ca-00000000 is not held; ${id} is`,
  });
  expect(await started.ask(`/api/v1/approve/${id}`, "POST")).toEqual({ result: "applied" });
  await until("every node is cut off", () => gone() === 3, WITHIN_MS);
  expect(started.ended).toEqual(Array.from({ length: 3 }, () => "spiffe://prod/fleet untrusted"));
  expect([await started.heldTrust(), await started.metric()]).toEqual([undefined, "0"]);
  expect(await server.approveTrust(id)).toBe(false);
});

test("a file that cuts off fewer takes the place of held CAs, and so does the file of before", async () => {
  const started = await start();
  await connect(started, ["edge-1", "edge-2"]);
  write("ca.crt", successor.cert);
  await server.reloadCertificates();
  expect(await started.heldTrust()).toHaveLength(1);
  write("ca.crt", authority.cert);
  await server.reloadCertificates();
  expect(await started.heldTrust()).toBeUndefined();

  write("ca.crt", successor.cert);
  await server.reloadCertificates();
  write("ca.crt", `${authority.cert}${successor.cert}`);
  await server.reloadCertificates();
  expect([await started.heldTrust(), started.held.length, gone()]).toEqual([undefined, 2, 0]);
  await connect(started, ["edge-3"], successor.issue("URI:spiffe://prod/new"));
});

test("a revocation below the share, and that of one node among few, is in force at once; one of many nodes is held", async () => {
  const started = await start();
  const [one, other] = [authority.issue("URI:spiffe://prod/one"), authority.issue("URI:spiffe://prod/other")];
  await connect(started, ["one"], one);
  await connect(started, ["edge-1", "edge-2"]);
  authority.revoke(one);
  write("ca.crl", `${authority.list()}${successor.list()}`);
  await server.reloadCertificates();
  expect([started.ended, started.held]).toEqual([["spiffe://prod/one revoked"], []]);

  const many = Array.from({ length: 37 }, (_, index) => `more-${index}`);
  await connect(started, many);
  await connect(started, ["other-1", "other-2"], other);
  authority.revoke(other);
  write("ca.crl", `${authority.list()}${successor.list()}`);
  await server.reloadCertificates();
  const twice = "spiffe://prod/other revoked";
  expect([started.ended.slice(1), started.held]).toEqual([[twice, twice], []]);

  const shared = authority.issue("URI:spiffe://prod/shared");
  await connect(started, ["shared-1", "shared-2", "shared-3"], shared);
  authority.revoke(shared);
  write("ca.crl", `${authority.list()}${successor.list()}`);
  await server.reloadCertificates();
  expect(started.ended).toHaveLength(3);
  expect(started.held.map(({ message }) => message)).toEqual([
    "3 of 42 connected nodes would be cut off: 3 by the revocation lists",
  ]);
});

test("the server's own certificate never waits, also beside CAs that do", async () => {
  const started = await start();
  await connect(started, ["edge-1", "edge-2"]);
  const next = authority.issue("IP:127.0.0.1,DNS:localhost");
  write("ca.crt", successor.cert);
  write("server.key", next.key);
  write("server.crt", next.cert);
  await server.reloadCertificates();
  expect([started.held.length, gone()]).toEqual([1, 0]);
  await connect(started, ["edge-3"]);
  expect(shown()).toBe(next.cert.trim());

  const last = authority.issue("IP:127.0.0.1,DNS:localhost");
  write("server.key", last.key);
  write("server.crt", last.cert);
  await server.reloadCertificates();
  await connect(started, ["edge-4"]);
  expect(shown()).toBe(last.cert.trim());
  expect([started.held.length, (await started.heldTrust())?.length, gone()]).toEqual([1, 1, 0]);
});

test("the nodes of all listeners that read the same files are counted together", async () => {
  const started = await start({ nodesCutOff: 0.5 }, [{}, {}]);
  const [one, other] = [authority.issue("URI:spiffe://prod/a"), authority.issue("URI:spiffe://prod/b")];
  // Alternately at the two listeners.
  await connect(started, ["a-1", "a-2", "a-3"], one);
  await connect(started, ["b-1", "b-2"], other);
  authority.revoke(one);
  write("ca.crl", `${authority.list()}${successor.list()}`);
  await server.reloadCertificates();
  expect(started.held.map(({ message }) => message)).toEqual([
    "3 of 5 connected nodes would be cut off: 3 by the revocation lists",
    "3 of 5 connected nodes would be cut off: 3 by the revocation lists",
  ]);
  const [held] = (await started.heldTrust()) ?? [];
  expect(await server.approveTrust(held?.id ?? "")).toBe(true);
  await until("those nodes are cut off", () => gone() === 3, WITHIN_MS);
  expect(await started.heldTrust()).toBeUndefined();
});

test("nodes-cut-off: off holds nothing", async () => {
  const started = await start({ nodesCutOff: "off" });
  await connect(started, ["edge-1", "edge-2"]);
  write("ca.crt", successor.cert);
  await server.reloadCertificates();
  await until("every node is cut off", () => gone() === 2, WITHIN_MS);
  expect(started.held).toEqual([]);
});
