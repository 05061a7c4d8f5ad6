import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeDeltaResponse } from "@xdskit/envoy-api/internal";
import { createServer, type ManagementServer } from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ApiDocument, mismatches } from "../support/json-schema.ts";
import { RawPeer } from "../support/raw-peer.ts";
import { secret } from "../support/secret.ts";
import { ADS_DELTA, CLUSTER, cluster, deltaRequest, SECRET, testApi } from "../support/test-server.ts";

let directory: string;
let server: ManagementServer;
let peer: RawPeer;
let root: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-missing-"));
});
afterEach(async () => {
  await peer.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const published = {
  layers: new Map([["base", [cluster("a"), secret("s", "key")]]]),
  origin: { writer: "directory" },
};

/** Serves what was published before a restart; Secrets are not in the history. */
async function restart(): Promise<void> {
  const start = (): ManagementServer =>
    createServer({ api: testApi(), ledger: { directory: join(directory, "ledger") }, admin: {} });
  const first = start();
  await first.publish(published);
  await first.close();
  server = start();
  const { address, adminAddress } = await server.listen();
  root = `http://127.0.0.1:${adminAddress?.port}`;
  peer = await RawPeer.connect(address);
}

async function ask(path: string): Promise<unknown> {
  const document = (await (await fetch(`${root}/api/v1/openapi.json`)).json()) as ApiDocument;
  const response = await fetch(root + path);
  const body: unknown = await response.json();
  expect(mismatches(document, path, response.status, body)).toEqual([]);
  return body;
}

const waits = { for: "content", name: "s", resources: ["s"] };
const type = { type: SECRET, shortName: "sds" };

test("who asks for a Secret that a restart lost is pending, on a stream with other types and on one of its own", async () => {
  await restart();
  const ads = peer.open(ADS_DELTA);
  ads.send(deltaRequest(CLUSTER));
  const { nonce } = decodeDeltaResponse(await ads.next());
  ads.send(deltaRequest(CLUSTER, [], nonce));
  ads.send(deltaRequest(SECRET, ["s"]));
  const own = peer.open("/envoy.service.secret.v3.SecretDiscoveryService/DeltaSecrets");
  own.send(deltaRequest(SECRET, ["s"]));
  const straggling = { ...type, state: "not-sent", waits: { for: "content", name: "s" }, names: ["s"] };
  await expect
    .poll(() => ask("/api/v1/progress/head"))
    .toMatchObject({
      ...{ state: "pending", nodes: 1, deployed: 0 },
      pending: { total: 1, nodes: [{ id: "test", types: [straggling, straggling] }] },
    });
  expect(await ask("/api/v1/nodes?type=sds")).toMatchObject({
    items: [
      {
        id: "test",
        types: [
          { ...type, waits, names: 1 },
          { ...type, waits, names: 1 },
        ],
      },
    ],
  });
  expect(await ask("/api/v1/deliveries?type=sds")).toMatchObject({
    items: [
      { ...type, node: "test", state: "requested", waits },
      { ...type, node: "test", state: "requested", waits },
    ],
  });
  await server.publish(published);
  for (const call of [ads, own]) {
    const response = decodeDeltaResponse(await call.next());
    expect(response.resources.map(({ name }) => name)).toEqual(["s"]);
    call.send(deltaRequest(SECRET, [], response.nonce));
  }
  expect(await server.whenDeployed(1, { minNodes: 1, timeoutMs: 10_000 })).toMatchObject({
    ...{ state: "deployed", deployed: 1 },
  });
});

test("readiness says what it is not ready for, and stays: who is sent away would get nothing of the rest", async () => {
  await restart();
  const reason = "not ready for SDS: the content of 1 resource is not at hand";
  expect(await ask("/readyz")).toEqual({ ready: true, draining: false, reasons: [reason] });
  expect(await ask("/api/v1/server")).toMatchObject({ ready: true, reasons: [reason] });
  await server.publish(published);
  expect(await ask("/readyz")).toEqual({ ready: true, draining: false, reasons: [] });
});
