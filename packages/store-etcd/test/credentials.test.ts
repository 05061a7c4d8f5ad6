import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EtcdStoreOptions, openEtcdStore } from "@xdskit/store-etcd";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { add, texts } from "../../server/test/ledger/support/describe-ledger-store.ts";
import { Authority } from "../../server/test/support/authority.ts";
import { EtcdMember } from "./support/etcd.ts";

/** Opens, appends, and reads again what was appended; or says why it cannot be opened. */
async function use(options: EtcdStoreOptions): Promise<readonly string[] | string> {
  try {
    const store = await openEtcdStore({ timeoutMs: 2_000, ...options });
    try {
      await add(store, ["a"], ["A"]);
      return await texts(store);
    } finally {
      await store.close();
    }
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

describeWith("etcd", "an etcd with mutual TLS", () => {
  let directory: string;
  const file = (name: string): string => join(directory, name);
  let member: EtcdMember;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "xdskit-etcd-tls-"));
    using ours = new Authority("ours");
    using foreign = new Authority("foreign");
    const [server, client, stranger] = [
      ours.issue("IP:127.0.0.1,DNS:localhost"),
      ours.issue("DNS:xds"),
      foreign.issue("DNS:xds"),
    ];
    const elsewhere = ours.issue("IP:127.0.0.2,DNS:etcd");
    const expired = ours.issue("IP:127.0.0.1", { until: new Date(Date.now() - 60_000) });
    const contents = {
      ...{ "elsewhere.crt": elsewhere.cert, "elsewhere.key": elsewhere.key },
      ...{ "expired.crt": expired.cert, "expired.key": expired.key },
      ...{ "ca.crt": ours.cert, "foreign.crt": foreign.cert, "server.crt": server.cert, "server.key": server.key },
      ...{ "client.crt": client.cert, "client.key": client.key },
      ...{ "stranger.crt": stranger.cert, "stranger.key": stranger.key },
    };
    for (const [name, content] of Object.entries(contents)) writeFileSync(file(name), content);
    const tls = ["--cert-file", file("server.crt"), "--key-file", file("server.key")];
    member = await EtcdMember.start([...tls, "--client-cert-auth", "--trusted-ca-file", file("ca.crt")], "https");
  });
  afterAll(async () => {
    await member.end();
    rmSync(directory, { recursive: true });
  });

  const connect = (tls: EtcdStoreOptions["tls"]): ReturnType<typeof use> =>
    use({ endpoints: [member.endpoint], ...(tls && { tls }) });

  test("takes a client with a certificate of its authority", async () => {
    const client = { certFile: file("client.crt"), keyFile: file("client.key") };
    expect(await connect({ caFile: file("ca.crt"), ...client })).toEqual(["a"]);
    const endpoints = [`https://${member.endpoint}`];
    expect(await use({ endpoints, prefix: "", tls: { caFile: file("ca.crt"), ...client } })).toEqual(["a", "a"]);
  });

  test("refuses one without, or with that of another authority, and is refused with another itself", async () => {
    const client = { certFile: file("client.crt"), keyFile: file("client.key") };
    const stranger = { certFile: file("stranger.crt"), keyFile: file("stranger.key") };
    const at = `etcd at ${member.endpoint}`;
    expect(await connect({ caFile: file("ca.crt") })).toBe(`${at} requires a client certificate (cert, key)`);
    expect(await connect({ caFile: file("ca.crt"), ...stranger })).toBe(
      `${at} rejects the client certificate: unknown CA`,
    );
    expect(await connect({ caFile: file("foreign.crt"), ...client })).toBe(
      `${at} has a certificate of an authority that ca does not hold`,
    );
    expect(await connect(client)).toBe(
      `${at} has a certificate of an authority that Node does not trust: give its CA (ca)`,
    );
    expect(await connect(undefined)).toBe(`${at} requires TLS: give the CA of its certificate (ca)`);
  });

  test("is named with every other endpoint that cannot be used, and is not while another one may come back", async () => {
    const tls = { caFile: file("foreign.crt") };
    const fault = "has a certificate of an authority that ca does not hold";
    const endpoints = [member.endpoint, member.endpoint.replace("127.0.0.1", "localhost")];
    expect(await use({ endpoints, tls })).toBe(endpoints.map((endpoint) => `etcd at ${endpoint} ${fault}`).join("; "));
    expect(await use({ endpoints: [member.endpoint, "127.0.0.1:1"], tls, timeoutMs: 500 })).toContain(
      `${member.endpoint}, 127.0.0.1:1) cannot be used: etcd at ${member.endpoint} ${fault}`,
    );
  });

  test("an endpoint that takes connections and never answers keeps none when the store is closed", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket.resume().on("error", () => undefined)));
    await once(silent.listen(0, "127.0.0.1"), "listening");
    const { port } = silent.address() as AddressInfo;
    const tls = { caFile: file("ca.crt"), certFile: file("client.crt"), keyFile: file("client.key") };
    const store = await openEtcdStore({ endpoints: [`127.0.0.1:${port}`, member.endpoint], tls, timeoutMs: 2_000 });
    expect(sockets.length).toBeGreaterThan(0);
    const ended = Promise.all(sockets.map((socket) => socket.destroyed || once(socket, "close")));
    await store.close();
    await ended;
    silent.close();
  });

  test.each([
    ["elsewhere", /^ has a certificate for 127\.0\.0\.2, etcd, not for 127\.0\.0\.1$/],
    ["expired", /^ has a certificate that expired on 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
  ])("is not trusted with a certificate that is %s, and not asked for long", async (name, message) => {
    const other = await EtcdMember.start(
      ["--cert-file", file(`${name}.crt`), "--key-file", file(`${name}.key`)],
      "https",
    );
    const startedAt = performance.now();
    const answer = await use({ endpoints: [other.endpoint], tls: { caFile: file("ca.crt") }, timeoutMs: 60_000 });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    await other.end();
    const at = `etcd at ${other.endpoint}`;
    expect([answer.slice(0, at.length), answer.slice(at.length)]).toEqual([at, expect.stringMatching(message)]);
  });

  test("without TLS is not asked over it", async () => {
    const plain = await EtcdMember.start();
    const answer = await use({ endpoints: [plain.endpoint], tls: { caFile: file("ca.crt") } });
    await plain.end();
    expect(answer).toBe(`etcd at ${plain.endpoint} does not use TLS: leave out ca, cert and key`);
  });

  test("is followed again once a certificate that had expired is replaced", async () => {
    const own = file("own.crt");
    copyFileSync(file("server.crt"), own);
    copyFileSync(file("server.key"), file("own.key"));
    const other = await EtcdMember.start(["--cert-file", own, "--key-file", file("own.key")], "https");
    const store = await openEtcdStore({ endpoints: [other.endpoint], tls: { caFile: file("ca.crt") } });
    try {
      await add(store, ["a"]);
      await other.kill();
      copyFileSync(file("expired.crt"), own);
      copyFileSync(file("expired.key"), file("own.key"));
      await other.start();
      await expect(store.refresh?.()).rejects.toThrow(/^etcd at .* has a certificate that expired on /);
      expect(store.outage?.reason).toMatch(/ has a certificate that expired on /);
      await other.kill();
      copyFileSync(file("server.crt"), own);
      copyFileSync(file("server.key"), file("own.key"));
      await other.start();
      await vi.waitFor(() => expect(store.outage).toBeUndefined(), { timeout: 15_000 });
    } finally {
      await store.close();
      await other.end();
    }
  });
});

describeWith("etcd", "an etcd whose authority is replaced", () => {
  test("is reached again with the files that were renewed, and with those of before while these cannot be used", async () => {
    const directory = mkdtempSync(join(tmpdir(), "xdskit-etcd-renewed-"));
    const file = (name: string): string => join(directory, name);
    const issue = (authority: Authority): void => {
      const [server, client] = [authority.issue("IP:127.0.0.1"), authority.issue("DNS:xds")];
      const contents = {
        ...{ "trusted.crt": authority.cert, "server.crt": server.cert, "server.key": server.key },
        ...{ "ca.crt": authority.cert, "client.crt": client.cert, "client.key": client.key },
      };
      for (const [name, content] of Object.entries(contents)) writeFileSync(file(name), content);
    };
    using former = new Authority("former");
    using next = new Authority("next");
    issue(former);
    const own = ["--cert-file", file("server.crt"), "--key-file", file("server.key")];
    const trusted = ["--client-cert-auth", "--trusted-ca-file", file("trusted.crt")];
    const member = await EtcdMember.start([...own, ...trusted], "https");
    const tls = { caFile: file("ca.crt"), certFile: file("client.crt"), keyFile: file("client.key") };
    const store = await openEtcdStore({ endpoints: [member.endpoint], tls });
    try {
      await add(store, ["a"], ["A"]);
      await member.kill();
      writeFileSync(file("ca.crt"), "half of it");
      writeFileSync(file("client.key"), next.issue("DNS:xds").key);
      await member.start();
      await add(store, ["b"], ["B"]);
      await member.kill();
      issue(next);
      await member.start();
      await add(store, ["c"], ["C"]);
      expect(await texts(store)).toEqual(["a", "b", "c"]);
    } finally {
      await store.close();
      await member.end();
      rmSync(directory, { recursive: true });
    }
  });
});

describeWith("etcd", "an etcd with users", () => {
  let member: EtcdMember;
  beforeAll(async () => {
    member = await EtcdMember.start(["--auth-token-ttl", "2"]);
    member.ctl("user", "add", "root:secret");
    member.ctl("user", "grant-role", "root", "root");
    member.ctl("user", "add", "xds:good");
    member.ctl("role", "add", "xds");
    member.ctl("role", "grant-permission", "xds", "--prefix=true", "readwrite", "xdskit/");
    member.ctl("user", "grant-role", "xds", "xds");
    member.ctl("user", "add", "reader:read");
    member.ctl("role", "add", "reader");
    member.ctl("role", "grant-permission", "reader", "--prefix=true", "read", "xdskit/");
    member.ctl("user", "grant-role", "reader", "reader");
    member.ctl("auth", "enable");
  });
  afterAll(() => member.end());

  test("takes one with its password, for the keys that it may write", async () => {
    const auth = { user: "xds", password: "good" };
    expect(await use({ endpoints: [member.endpoint], auth })).toEqual(["a"]);
    expect(await use({ endpoints: [member.endpoint], auth, prefix: "other" })).toMatch(/permission denied$/);
  });

  test("lets one that may only read it read a ledger, also where none was begun", async () => {
    const endpoints = [member.endpoint];
    const writer = await openEtcdStore({ endpoints, auth: { user: "xds", password: "good" }, prefix: "xdskit/read/" });
    await add(writer, ["a"], ["A"]);
    const auth = { user: "reader", password: "read" };
    const reader = await openEtcdStore({ endpoints, auth, prefix: "xdskit/read/", isReadOnly: true });
    expect([reader.epoch, await texts(reader), await reader.members?.list()]).toEqual([writer.epoch, ["a"], new Map()]);
    expect(await reader.append(reader.head, { records: ["b"], bodies: new Map() })).toEqual({
      ...{ kind: "unavailable", reason: "the ledger was opened to read only" },
    });
    await Promise.all([reader.close(), writer.close()]);
    const none = await openEtcdStore({ endpoints, auth, prefix: "xdskit/none/", isReadOnly: true });
    expect([none.head.number, await texts(none), (await none.refresh?.())?.number]).toEqual([0, [], 0]);
    await none.close();
    expect(member.ctl("--user", "root:secret", "get", "xdskit/none/", "--prefix", "--keys-only").trim()).toBe("");
    expect(await use({ endpoints, auth, prefix: "xdskit/none/" })).toMatch(/permission denied$/);
  });

  test("refuses a wrong password, an unknown user and nobody", async () => {
    const as = (user: string, password: string) => use({ endpoints: [member.endpoint], auth: { user, password } });
    const failed = /authentication failed, invalid user ID or password$/;
    expect([await as("xds", "wrong"), await as("who", "good"), await use({ endpoints: [member.endpoint] })]).toEqual([
      expect.stringMatching(failed),
      expect.stringMatching(failed),
      expect.stringMatching(/user name is empty$/),
    ]);
  });

  test("gives a new token when the old one is not known any more", async () => {
    const auth = { user: "xds", password: "good" };
    const store = await openEtcdStore({ endpoints: [member.endpoint], auth, prefix: "xdskit/tokens" });
    await add(store, ["a"]);
    // Its tokens are in memory.
    await member.kill();
    await member.start();
    await add(store, ["b"]);
    expect(await texts(store)).toEqual(["a", "b"]);
    await store.close();
  });
});

describeWith("etcd", "a ledger that is encrypted", () => {
  let directory: string;
  let member: EtcdMember;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "xdskit-etcd-key-"));
    member = await EtcdMember.start();
  });
  afterAll(async () => {
    await member.end();
    rmSync(directory, { recursive: true });
  });
  const keyFile = (name: string, content: Buffer | string): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };

  test("has nothing in etcd that can be read, and is refused without its key", async () => {
    const endpoints = [member.endpoint];
    const key = keyFile("key", randomBytes(32));
    const store = await openEtcdStore({ endpoints, keyFile: key });
    await add(store, ["readable record"], ["readable body"]);
    const head = await add(store, ["next"]);
    const text = "readable snapshot";
    await store.compact(
      { head, text },
      { completeAfter: 0, records: new Set([1]), bodies: new Set(["readable body"]) },
    );
    const values = member.ctl("get", "xdskit/", "--prefix", "--print-value-only");
    expect(values).not.toContain("readable");
    expect([(await store.snapshot())?.text, await texts(store)]).toEqual([text, ["readable record"]]);
    await store.close();
    const [without, other, bad] = [
      await use({ endpoints }),
      await use({ endpoints, keyFile: keyFile("other", randomBytes(32)) }),
      await use({ endpoints, keyFile: keyFile("bad", "no key") }),
    ];
    expect([without, other, bad]).toEqual([
      expect.stringMatching(/the ledger in etcd is encrypted: a key file is needed$/),
      expect.stringMatching(/the ledger in etcd is encrypted with another key, or damaged$/),
      `${join(directory, "bad")}: expected a key of 32 bytes, or of 64 hexadecimal digits`,
    ]);
  });

  test("is not begun in one that is not", async () => {
    const endpoints = [member.endpoint];
    expect(await use({ endpoints, prefix: "plain" })).toEqual(["a"]);
    expect(await use({ endpoints, prefix: "plain", keyFile: keyFile("late", randomBytes(32)) })).toMatch(
      /the ledger in etcd is not encrypted, but there is a key file$/,
    );
  });
});

describe("files of TLS that cannot be used are refused before etcd is asked", () => {
  let directory: string;
  const file = (name: string): string => join(directory, name);
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "xdskit-etcd-files-"));
    using authority = new Authority("ours");
    const [client, other] = [authority.issue("DNS:xds"), authority.issue("DNS:other")];
    const contents = {
      ...{ "ca.crt": authority.cert, "client.crt": client.cert, "client.key": client.key, "other.key": other.key },
      ...{ "no.pem": "none", "damaged.crt": client.cert.replace(/\n[A-Za-z]/, "\nA?") },
      "encrypted.key": execFileSync("openssl", ["pkey", "-aes256", "-passout", "pass:secret"], {
        input: client.key,
      }).toString(),
    };
    for (const [name, content] of Object.entries(contents)) writeFileSync(file(name), content);
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  test.each([
    [
      "a key of another certificate",
      { cert: "client.crt", key: "other.key" },
      "key: DIR/other.key does not belong to the certificate DIR/client.crt",
    ],
    ["a key without PEM", { cert: "client.crt", key: "no.pem" }, "key: DIR/no.pem has no private key in PEM"],
    ["an encrypted key", { cert: "client.crt", key: "encrypted.key" }, "key: DIR/encrypted.key needs a passphrase"],
    ["a certificate without PEM", { cert: "no.pem", key: "client.key" }, "cert: DIR/no.pem has no certificate in PEM"],
    ["CAs without PEM", { ca: "no.pem" }, "ca: DIR/no.pem has no certificate in PEM"],
    ["a damaged CA", { ca: "damaged.crt" }, "ca: DIR/damaged.crt has a damaged certificate"],
    ["a missing file", { ca: "none.crt" }, "ca: DIR/none.crt cannot be read: ENOENT: no such file or directory"],
    ["a directory", { ca: "." }, "ca: DIR cannot be read: EISDIR: illegal operation on a directory"],
    ["a certificate without its key", { cert: "client.crt" }, "cert and key go together"],
  ] as const)("%s", async (_, given: { ca?: string; cert?: string; key?: string }, message) => {
    const { ca, cert, key } = given;
    const tls = {
      ...(ca !== undefined && { caFile: file(ca) }),
      ...(cert !== undefined && { certFile: file(cert) }),
      ...(key !== undefined && { keyFile: file(key) }),
    };
    const opening = openEtcdStore({ endpoints: ["127.0.0.1:1"], tls });
    await expect(opening).rejects.toThrow(TypeError);
    expect((await opening.catch((cause: Error) => cause.message)).toString().replaceAll(directory, "DIR")).toBe(
      message,
    );
  });
});

test("options that cannot be used are refused", async () => {
  expect([
    await use({ endpoints: [] }),
    await use({ endpoints: ["a:1", "http://b"] }),
    await use({ endpoints: ["http://user:secret@b:1"] }),
    await use({ endpoints: ["a:1"], timeoutMs: 0 }),
  ]).toEqual([
    "endpoints: expected at least one host:port, got none",
    "endpoints: expected host:port, got http://b",
    "endpoints: expected host:port, got ***@b:1",
    "timeoutMs: expected a number of at least 1, got 0",
  ]);
});
