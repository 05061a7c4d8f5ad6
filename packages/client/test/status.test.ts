import { Client, credentials, Server, ServerCredentials, type ServiceError } from "@grpc/grpc-js";
import { formatTypeUrl, type Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import {
  addClientStatusService,
  Cluster,
  Listener,
  type OwnStatus,
  type ScopedClients,
  Secret,
  validator,
  type XdsClient,
} from "../src/index.ts";
import { atEnd } from "./support/ends.ts";
import { read, type Served, serve, start } from "./support/own-server.ts";
import { testApi } from "./support/sources.ts";

const RESPONSE = formatTypeUrl("envoy.service.status.v3.ClientStatusResponse");
const REQUEST = "envoy.service.status.v3.ClientStatusRequest";
const serviceOf = (version: string): string => `/envoy.service.status.${version}.ClientStatusDiscoveryService`;

const cluster = (name: string, connectTimeout: string): Resource =>
  read({ "@type": Cluster.typeUrl, name, type: "STATIC", connectTimeout });

function startAt({ address }: Served): Promise<XdsClient> {
  const short = validator(Cluster, ({ json }) => (json.connectTimeout === "2s" ? "2s is too long" : undefined));
  return start({
    server: address,
    node: { id: "me", metadata: { "x-api-key": "hunter2", zone: "z" } },
    validation: { validators: [short] },
  });
}

/** The program's own server, and somebody who asks it. */
async function tellOf(clients: OwnStatus | ScopedClients): Promise<Client> {
  const server = new Server();
  addClientStatusService(server, clients);
  const port = await new Promise<number>((resolve, reject) => {
    const bound = (error: Error | null, given: number): void => (error === null ? resolve(given) : reject(error));
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), bound);
  });
  const asker = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  atEnd(() => {
    asker.close();
    server.forceShutdown();
  });
  return asker;
}

function encoded(json: object): Buffer {
  const { bytes } = testApi().readMessage(REQUEST, json);
  return Buffer.from(bytes ?? []);
}

interface Told {
  readonly config?: readonly { readonly genericXdsConfigs?: readonly object[] }[];
}

function decoded(bytes: Uint8Array): Told {
  const { "@type": _, ...json } = testApi().toJson(RESPONSE, bytes) as Record<string, unknown>;
  return json;
}

const same = (bytes: Buffer): Buffer => bytes;

function fetchStatus(asker: Client, json: object = {}, version = "v3"): Promise<Told> {
  return new Promise((resolve, reject) => {
    const done = (error: ServiceError | null, bytes?: Buffer): void =>
      bytes === undefined ? reject(error ?? new Error("nothing")) : resolve(decoded(bytes));
    const path = `${serviceOf(version)}/FetchClientStatus`;
    asker.makeUnaryRequest(path, same, same, encoded(json), done);
  });
}

/** The one name that is asked for, as it stands. */
async function only(asker: Client): Promise<object | undefined> {
  const { config } = await fetchStatus(asker);
  return config?.[0]?.genericXdsConfigs?.[0];
}

const time = expect.stringMatching(/^20\d\d-\d\d-\d\dT/);

test("C-CSD-03 a name is requested, accepted, refused, and does not exist", async () => {
  const served = await serve();
  const client = await startAt(served);
  const asker = await tellOf(client);
  const watch = client.watch(Cluster, "a");
  const named = { typeUrl: Cluster.typeUrl, name: "a" };
  expect(await only(asker)).toEqual({ ...named, clientStatus: "REQUESTED" });

  served.put(cluster("a", "1s"));
  const { value: added } = await watch.next();
  expect(added?.kind).toBe("added");
  const body = { "@type": Cluster.typeUrl, name: "a", type: "STATIC" };
  const version = client.dump()[0]?.resource?.version;
  const accepted = {
    ...{ ...named, versionInfo: version, lastUpdated: time },
    xdsConfig: { ...body, connectTimeout: "1s" },
  };
  expect(await only(asker)).toEqual({ ...accepted, clientStatus: "ACKED" });

  served.put(cluster("a", "2s"));
  const { value: refused } = await watch.next();
  expect(refused?.kind).toBe("error");
  expect(await only(asker)).toEqual({
    ...accepted,
    clientStatus: "NACKED",
    errorState: {
      failedConfiguration: { ...body, connectTimeout: "2s" },
      lastUpdateAttempt: time,
      details: expect.stringContaining("2s is too long"),
      versionInfo: client.dump()[0]?.failure?.version,
    },
  });
  expect(client.dump()[0]?.failure?.version).not.toBe(version);

  served.remove(Cluster.typeUrl, "a");
  const { value: gone } = await watch.next();
  expect(gone?.kind).toBe("does-not-exist");
  expect(await only(asker)).toEqual({ ...named, clientStatus: "DOES_NOT_EXIST" });
});

describe("B-CSD-04", () => {
  test("B-CSD-04 contents are left out where that is asked for, refused ones too; secrets are never shown", async () => {
    const inlineString = "-----BEGIN PRIVATE KEY-----";
    const tlsCertificate = { privateKey: { inlineString }, certificateChain: { inlineString: "chain" } };
    const served = await serve(cluster("a", "1s"), read({ "@type": Secret.typeUrl, name: "s", tlsCertificate }));
    const client = await startAt(served);
    await client.watch(Secret, "s").next();
    const watch = client.watch(Cluster, "a");
    await watch.next();
    served.put(cluster("a", "2s"));
    await watch.next();
    const asker = await tellOf(client);
    const { config } = await fetchStatus(asker);
    const text = JSON.stringify(config);
    expect(config?.[0]?.genericXdsConfigs?.[0]).toMatchObject({
      xdsConfig: { tlsCertificate: { privateKey: { inlineString: "[redacted]" } } },
    });
    expect([text.includes("PRIVATE KEY"), text.includes("hunter2"), text.includes("[redacted]")]).toEqual([
      false,
      false,
      true,
    ]);
    const bare = await fetchStatus(asker, { excludeResourceContents: true });
    const known = { versionInfo: expect.any(String), lastUpdated: time };
    const errorState = { lastUpdateAttempt: time, details: expect.any(String), versionInfo: expect.any(String) };
    expect(bare.config?.[0]?.genericXdsConfigs).toEqual([
      { typeUrl: Secret.typeUrl, name: "s", ...known, clientStatus: "ACKED" },
      { typeUrl: Cluster.typeUrl, name: "a", ...known, clientStatus: "NACKED", errorState },
    ]);
  });

  test("B-CSD-04 several clients of a process are told apart by their scope", async () => {
    const served = await serve(cluster("a", "1s"));
    const [one, two] = [await startAt(served), await startAt(served)];
    await Promise.all([one.get(Cluster, "a"), two.watch(Cluster, "b")]);
    const asker = await tellOf({ "xds:///one": one, "xds:///two": two });
    const node = expect.objectContaining({ id: "me", metadata: { "x-api-key": "[redacted]", zone: "z" } });
    const waiting = { typeUrl: Cluster.typeUrl, name: "b", clientStatus: "REQUESTED" };
    expect(await fetchStatus(asker)).toEqual({
      config: [
        { node, clientScope: "xds:///one" },
        { node, clientScope: "xds:///two", genericXdsConfigs: [waiting] },
      ],
    });
  });
});

test("B-CSD-05 in v2 it is by type, without endpoints and without what is only asked for", async () => {
  const served = await serve(cluster("a", "1s"));
  const client = await startAt(served);
  const watches = [client.watch(Cluster, "a"), client.watch(Listener, "l")];
  await watches[0]?.next();
  const asker = await tellOf(client);
  expect(await fetchStatus(asker, {}, "v2")).toEqual({
    config: [
      {
        node: expect.objectContaining({ id: "me" }),
        xdsConfig: expect.arrayContaining([
          {
            status: "SYNCED",
            clusterConfig: {
              dynamicActiveClusters: [
                { versionInfo: expect.any(String), cluster: expect.objectContaining({ name: "a" }), lastUpdated: time },
              ],
            },
          },
          { listenerConfig: {} },
        ]),
      },
    ],
  });
});

test("C-CSD-03 a stream has an answer for each request; nodes cannot be chosen among", async () => {
  const client = await startAt(await serve());
  const asker = await tellOf(client);
  await expect(fetchStatus(asker, { nodeMatchers: [{ nodeId: { exact: "me" } }] })).rejects.toMatchObject({ code: 3 });
  await expect(fetchStatus(asker, { nodeMatchers: [{}] }, "v2")).rejects.toMatchObject({ code: 3 });
  const call = asker.makeBidiStreamRequest(`${serviceOf("v3")}/StreamClientStatus`, same, same);
  const answers: Told[] = [];
  call.on("data", (bytes: Buffer) => answers.push(decoded(bytes)));
  const status = new Promise<{ code: number; details: string }>((resolve) => call.once("status", resolve));
  call.on("error", () => {});
  call.write(encoded({}));
  call.write(encoded({}));
  await expect.poll(() => answers.length).toBe(2);
  call.write(Buffer.from("ffffff", "hex"));
  expect(await status).toMatchObject({ code: 3, details: expect.stringContaining("not a client status request") });
  expect(answers[1]).toEqual(answers[0]);
});

test("a stream that is done with is ended", async () => {
  const client = await startAt(await serve());
  const asker = await tellOf(client);
  const call = asker.makeBidiStreamRequest(`${serviceOf("v2")}/StreamClientStatus`, same, same);
  const status = new Promise<{ code: number }>((resolve) => call.once("status", resolve));
  call.resume();
  call.end(encoded({}));
  expect(await status).toMatchObject({ code: 0 });
});
