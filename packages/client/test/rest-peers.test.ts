import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { contentDigest } from "@xdskit/envoy-api";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { createServer, type ManagementServer } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RestSource, TlsConfig } from "../src/config/client-config.ts";
import { createRestTransport } from "../src/transport/rest/rest-transport.ts";
import type { Transport } from "../src/transport/transport.ts";
import { makeAuthority, makeCertificate } from "./support/certificates.ts";
import { fakeListener, namesIn } from "./support/fake-listener.ts";
import { scriptedHttp } from "./support/scripted-http.ts";
import { CLUSTER, nodeBytes, request, restSource, server, testApi } from "./support/sources.ts";
import { until } from "./support/until.ts";

let transport: Transport<RestSource>;

describe("against our own server", () => {
  let management: ManagementServer;
  afterEach(async () => {
    await transport.close();
    await management.close();
  });

  async function start(): Promise<number> {
    management = createServer({ api: testApi(), rest: { holdMs: 60_000, maxHoldMs: 60_000 } });
    management.commit(put(cluster("a")));
    transport = createRestTransport({ api: testApi(), node: () => nodeBytes });
    return (await management.listen()).address.port;
  }

  test.each([
    ["v3", "envoy.config.cluster.v3.Cluster"],
    ["v2", "envoy.api.v2.Cluster"],
  ] as const)("%s: what there is, a long poll, and a change that ends it", async (apiVersion, message) => {
    const one = server(await start());
    const type = formatTypeUrl(message);
    const listener = fakeListener();
    const source = restSource([one], { apiVersion, refreshDelayMs: 1, requestTimeoutMs: 30_000 });
    const stream = transport.open({ source, server: one, onlyType: type }, listener);
    stream.send(request(type), false);
    const first = decodeSotwResponse((await listener.next("response")).bytes);
    expect(first.resources.map(({ typeUrl }) => typeUrl)).toEqual([type]);
    await listener.next("due");
    const held = new Promise<void>((resolve) => management.on("request-classified", () => resolve()));
    stream.send(request(type, { versionInfo: first.versionInfo, nonce: first.nonce }), false);
    await held;
    management.commit(put(cluster("b")));
    expect(namesIn((await listener.next("response")).bytes)).toEqual(["a", "b"]);
    expect(listener.kinds).toEqual(["opened", "response", "due", "response"]);
  });

  test("C-RST-04 a poll that was held in vain is answered with 304", async () => {
    const one = server(await start());
    const listener = fakeListener();
    const source = restSource([one], { refreshDelayMs: 1, requestTimeoutMs: 300 });
    const stream = transport.open({ source, server: one, onlyType: CLUSTER }, listener);
    stream.send(request(CLUSTER), false);
    const { versionInfo, nonce } = decodeSotwResponse((await listener.next("response")).bytes);
    await listener.next("due");
    stream.send(request(CLUSTER, { versionInfo, nonce }), false);
    await listener.next("unchanged");
  });
});

describe("over TLS", () => {
  let made: string;
  beforeAll(() => {
    made = mkdtempSync(join(tmpdir(), "xdskit-client-tls-"));
    makeAuthority(made, "authority");
    makeAuthority(made, "stranger");
    makeCertificate(made, "server", "authority", "DNS:xds.example");
    makeCertificate(made, "edge-1", "authority", "DNS:edge-1.example");
    makeCertificate(made, "edge-2", "authority", "DNS:edge-2.example");
  });
  afterAll(() => rmSync(made, { recursive: true }));

  const file = (name: string): string => join(made, name);
  const trust = (changes: Partial<TlsConfig> = {}): TlsConfig => ({
    ca: undefined,
    caPath: file("authority.crt"),
    certificate: undefined,
    certificatePath: undefined,
    key: undefined,
    keyPath: undefined,
    serverName: "xds.example",
    ...changes,
  });

  async function poll(tls: TlsConfig, changes: () => void = () => undefined): Promise<readonly string[]> {
    const seen: string[] = [];
    const http = await scriptedHttp(
      (received) => {
        const { CN } = (received.response.socket as TLSSocket).getPeerCertificate().subject ?? {};
        seen.push(String(CN));
        received.answer(304);
      },
      {
        cert: readFileSync(file("server.crt")),
        key: readFileSync(file("server.key")),
        ca: readFileSync(file("authority.crt")),
        requestCert: true,
        rejectUnauthorized: false,
      },
    );
    transport = createRestTransport({ api: testApi(), node: () => nodeBytes });
    const one = server(http.port, { tls });
    const listener = fakeListener();
    const stream = transport.open({ source: restSource([one]), server: one, onlyType: CLUSTER }, listener);
    try {
      stream.send(request(CLUSTER), false);
      await until("an answer", () => listener.kinds.some((kind) => kind === "due" || kind === "ended"));
      changes();
      stream.send(request(CLUSTER), false);
      await until(
        "another",
        () => listener.kinds.filter((kind) => kind === "due").length === 2 || listener.kinds.includes("ended"),
      );
      for (const one of listener.told) if (one.kind === "ended") seen.push(one.status.message);
      return seen;
    } finally {
      await transport.close();
      await http.close();
    }
  }

  test("a certificate that is replaced is shown from the next poll on", async () => {
    const [certificatePath, keyPath] = [file("edge.crt"), file("edge.key")];
    const put = (name: string): void => {
      for (const ending of ["crt", "key"]) {
        copyFileSync(file(`${name}.${ending}`), file(`new.${ending}`));
        renameSync(file(`new.${ending}`), file(`edge.${ending}`));
      }
    };
    put("edge-1");
    expect(await poll(trust({ certificatePath, keyPath }), () => put("edge-2"))).toEqual(["edge-1", "edge-2"]);
  });

  test("a server of a stranger, or of another name, is not talked to", async () => {
    const [wrongAuthority] = await poll(trust({ caPath: file("stranger.crt") }));
    expect(wrongAuthority).toMatch(/unable to verify|self-signed|issuer/);
    const [wrongName] = await poll(trust({ serverName: "other.example" }));
    expect(wrongName).toContain("other.example");
    const [noFile] = await poll(trust({ caPath: file("none.crt") }));
    expect(noFile).toContain("ENOENT");
  });
});

function cluster(name: string): Resource {
  const { bytes } = testApi().readMessage("envoy.config.cluster.v3.Cluster", { name });
  if (bytes === undefined) throw new Error("expected a cluster");
  return createResource({ type: CLUSTER, name, bytes }, contentDigest);
}

function put(...puts: readonly Resource[]): { changes: { layer: string; puts: readonly Resource[] }[] } {
  return { changes: [{ layer: "base", puts }] };
}
