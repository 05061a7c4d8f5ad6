import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { createServer, type ManagementServer } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Authority, type IssuedCertificate } from "../support/authority.ts";
import { RawPeer, until } from "../support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, cluster, put, sotwRequest, testApi } from "../support/test-server.ts";

const WITHIN_MS = 30_000;

let authority: Authority;
let successor: Authority;
let server: ManagementServer | undefined;
let own: IssuedCertificate;
let files: string;
const peers: RawPeer[] = [];

beforeAll(() => {
  authority = new Authority("authority");
  successor = new Authority("successor");
  own = authority.issue("IP:127.0.0.1,DNS:localhost");
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
  await server?.close();
  server = undefined;
  rmSync(files, { recursive: true });
});

/** Replaces a file by a rename, as those who write certificates do. */
function write(name: string, content: string): string {
  const path = join(files, name);
  writeFileSync(`${path}.next`, content);
  renameSync(`${path}.next`, path);
  return path;
}

interface Started {
  readonly address: { readonly host: string; readonly port: number };
  /** The names and the reasons of closed connections. */
  readonly ended: readonly string[];
  readonly refused: readonly string[];
}

/** Starts a server that verifies clients against `ca`, and against revocation lists if there are any. */
async function start(ca: string, crl?: string): Promise<Started> {
  server = createServer({
    api: testApi(),
    tls: {
      cert: write("server.crt", own.cert),
      key: write("server.key", own.key),
      ca: write("ca.crt", ca),
      ...(crl !== undefined && { crl: write("ca.crl", crl) }),
    },
  });
  const ended: string[] = [];
  const refused: string[] = [];
  server.on("certificate-ended", ({ peer, reason }) => ended.push(`${peer.names.at(-1)} ${reason}`));
  server.on("tls-refused", ({ error }) => refused.push(error.message));
  server.commit(put(cluster("a")));
  return { address: (await server.listen()).address, ended, refused };
}

interface ServedPeer {
  readonly peer: RawPeer;
  /** How its stream ended; undefined while it is open. */
  readonly end: () => string | undefined;
  readonly version: string;
}

/** Connects with a certificate and receives the first response. */
async function serve(address: Started["address"], { cert, key }: IssuedCertificate): Promise<ServedPeer> {
  const peer = await RawPeer.connect(address, { ca: authority.cert, cert, key });
  peers.push(peer);
  const call = peer.open(ADS_SOTW);
  let end: string | undefined;
  void call.status.then(({ code, message }) => {
    end = `${peer.goaways > 0 ? "after GOAWAY " : ""}${code} ${message}`;
  });
  call.send(sotwRequest(CLUSTER));
  const { versionInfo } = decodeSotwResponse(await call.next(WITHIN_MS));
  return { peer, end: () => end, version: versionInfo };
}

const gone = async ({ peer, end }: ServedPeer): Promise<string | undefined> => {
  await until("the connection is closed", () => peer.isGone && end() !== undefined, WITHIN_MS);
  return end();
};

/** Whether the server goes on serving a stream of before. */
const isOpen = ({ peer, end }: ServedPeer): boolean => !peer.isGone && end() === undefined && peer.goaways === 0;

test("a revoked certificate: GOAWAY, the end of its streams, then of the connection; others go on", async () => {
  const [one, other] = [authority.issue("URI:spiffe://prod/one"), authority.issue("URI:spiffe://prod/other")];
  const { address, ended } = await start(authority.cert, authority.list());
  const [revoked, kept] = [await serve(address, one), await serve(address, other)];
  authority.revoke(one);
  write("ca.crl", authority.list());
  expect(await gone(revoked)).toBe("after GOAWAY 14 the client certificate is revoked; connect anew with a valid one");
  expect(isOpen(kept)).toBe(true);
  expect(ended).toEqual(["spiffe://prod/one revoked"]);
  const refused: string[] = [];
  server?.on("connection-refused", ({ reason }) => refused.push(reason));
  const again = await RawPeer.connect(address, { ca: authority.cert, cert: one.cert, key: one.key });
  peers.push(again);
  await until("it is refused", () => refused.length > 0 && again.isGone, WITHIN_MS);
  expect(refused[0]).toMatch(/TLS handshake failed/);
});

test("CAs that no longer vouch for a certificate: its connection is closed, those of other CAs go on", async () => {
  const [one, other] = [authority.issue("URI:spiffe://prod/one"), successor.issue("URI:spiffe://prod/other")];
  const { address, ended } = await start(`${authority.cert}${successor.cert}`);
  const [former, kept] = [await serve(address, one), await serve(address, other)];
  write("ca.crt", successor.cert);
  expect(await gone(former)).toBe(
    "after GOAWAY 14 no CA of this server vouches for the client certificate any more; connect anew with a valid one",
  );
  expect(isOpen(kept)).toBe(true);
  expect(ended).toEqual(["spiffe://prod/one untrusted"]);
});

test("a CA with the same name and another key does not vouch for the certificates of the first", async () => {
  const namesake = new Authority("authority");
  const one = authority.issue("URI:spiffe://prod/one");
  const { address, ended } = await start(authority.cert);
  const former = await serve(address, one);
  write("ca.crt", namesake.cert);
  await gone(former);
  expect(ended).toEqual(["spiffe://prod/one untrusted"]);
  namesake[Symbol.dispose]();
});

test("an intermediate that the client sent counts, and ends its clients when it is revoked", async () => {
  const intermediate = new Authority("intermediate", authority);
  const leaf = intermediate.issue("URI:spiffe://prod/one");
  const withChain = { ...leaf, cert: `${leaf.cert}${intermediate.cert}` };
  const { address, ended } = await start(authority.cert);
  const one = await serve(address, withChain);
  write("ca.crt", `${successor.cert}${authority.cert}`);
  await server?.reloadCertificates();
  expect([isOpen(one), ended]).toEqual([true, []]);
  write("ca.crt", successor.cert);
  await server?.reloadCertificates();
  expect(ended).toEqual(["spiffe://prod/one untrusted"]);
  await gone(one);
  intermediate[Symbol.dispose]();
});

test("an expired certificate: the same, with nobody's doing", async () => {
  const { address, ended } = await start(authority.cert);
  const other = await serve(address, authority.issue("URI:spiffe://prod/other"));
  const soon = new Date(Date.now() + 5_000);
  const one = await serve(address, authority.issue("URI:spiffe://prod/brief", { until: soon }));
  const end = await gone(one);
  expect(Date.now()).toBeGreaterThanOrEqual(Math.floor(soon.getTime() / 1_000) * 1_000);
  expect(end).toMatch(/^after GOAWAY 14 the client certificate (has expired|expires soon); connect anew/);
  expect(ended.at(-1)).toBe("spiffe://prod/brief expired");
  expect(isOpen(other)).toBe(true);
});

describe("nothing is ended by", () => {
  test.each([
    ["an empty file of CAs", "ca.crt", () => "", "the file of CAs has no certificate in PEM"],
    [
      "a file of CAs that is cut off",
      "ca.crt",
      () => `${successor.cert}${authority.cert.slice(0, 200)}`,
      "a certificate in the file of CAs has no end",
    ],
    [
      "an empty file of revocation lists",
      "ca.crl",
      () => "",
      "the file of revocation lists (crl) has no X509 CRL in PEM",
    ],
  ])("%s", async (_, file, content, reason) => {
    const { address, ended, refused } = await start(authority.cert, authority.list());
    const one = await serve(address, authority.issue("URI:spiffe://prod/one"));
    write(file, content());
    await until("it is refused", () => refused.length > 0, WITHIN_MS);
    expect({ refused, ended, isOpen: isOpen(one) }).toEqual({ refused: [reason], ended: [], isOpen: true });
  });

  test("files that are away", async () => {
    const { address, ended, refused } = await start(authority.cert, authority.list());
    const one = await serve(address, authority.issue("URI:spiffe://prod/one"));
    rmSync(join(files, "ca.crl"));
    await until("it is refused", () => refused.length > 0, WITHIN_MS);
    expect([ended, isOpen(one)]).toEqual([[], true]);
  });

  test("another certificate of the server", async () => {
    const { address, ended } = await start(authority.cert);
    const one = await serve(address, authority.issue("URI:spiffe://prod/one"));
    const next = authority.issue("IP:127.0.0.1,DNS:localhost");
    write("server.key", next.key);
    write("server.crt", next.cert);
    await server?.reloadCertificates();
    expect([ended, isOpen(one)]).toEqual([[], true]);
  });
});

test("no stream opens on a connection whose certificate was revoked", async () => {
  const one = authority.issue("URI:spiffe://prod/one");
  const { address } = await start(authority.cert, authority.list());
  const opened: number[] = [];
  server?.on("stream-opened", ({ stream }) => opened.push(stream));
  const revoked = await serve(address, one);
  server?.on("certificate-ended", () => {
    // The client has not heard of it yet.
    const call = revoked.peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
  });
  authority.revoke(one);
  write("ca.crl", authority.list());
  await gone(revoked);
  expect(opened).toHaveLength(1);
});

test("an idle HTTP/1.1 connection of a revoked client is closed", async () => {
  const one = authority.issue("URI:spiffe://prod/one");
  const { address, ended } = await start(authority.cert, authority.list());
  const agent = new Agent({ keepAlive: true, ca: authority.cert, cert: one.cert, key: one.key });
  const isClosed = await new Promise<() => boolean>((resolve, reject) => {
    const asked = request({ ...address, agent, path: "/" }, (response) => {
      const { socket } = asked;
      response.resume().once("end", () => resolve(() => socket?.destroyed === true));
    });
    asked.once("error", reject).end();
  });
  expect(isClosed()).toBe(false);
  authority.revoke(one);
  write("ca.crl", authority.list());
  await until("it is closed", isClosed, WITHIN_MS);
  expect(ended).toEqual(["spiffe://prod/one revoked"]);
  agent.destroy();
});

test("TLS sessions are not resumed, which would skip the verification of the certificate", async () => {
  const { address } = await start(authority.cert);
  const { cert, key } = authority.issue("URI:spiffe://prod/one");
  const isResumed = async (session?: Buffer): Promise<readonly [boolean, Buffer | undefined]> => {
    const secured = { cert, key, ca: authority.cert, ...(session !== undefined && { session }) };
    const socket = connect({ ...address, ...secured, ALPNProtocols: ["h2"] });
    let received: Buffer | undefined;
    socket.on("session", (one: Buffer) => {
      received = one;
    });
    const peer = await RawPeer.connect(address, { ca: authority.cert, createConnection: () => socket });
    peers.push(peer);
    const call = peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    await call.next(WITHIN_MS);
    return [socket.isSessionReused(), received];
  };
  const [, session] = await isResumed();
  expect(session).toBeInstanceOf(Buffer);
  expect((await isResumed(session))[0]).toBe(false);
});

test("no client shows another certificate on an open connection: TLS 1.2 is not renegotiated", async () => {
  const { address } = await start(authority.cert);
  const { cert, key } = authority.issue("URI:spiffe://prod/one");
  const socket = connect({ ...address, cert, key, ca: authority.cert, maxVersion: "TLSv1.2", ALPNProtocols: ["h2"] });
  await once(socket, "secureConnect");
  const errors: string[] = [];
  socket.on("error", ({ message }) => errors.push(message));
  socket.renegotiate({}, () => undefined);
  await until("it is refused", () => errors.length > 0, WITHIN_MS);
  socket.destroy();
  expect(errors[0]).toMatch(/no renegotiation/);
});
