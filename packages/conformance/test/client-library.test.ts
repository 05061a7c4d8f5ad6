import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { ClusterLoadAssignment, createXdsClient, type ResourceState, validator, type XdsClient } from "@xdskit/client";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { encodeSotwResponse } from "@xdskit/envoy-api/internal";
import type { DiscoveryRequest } from "@xdskit/protocol/internal";
import { afterEach, expect, test } from "vitest";
import { urlOf } from "../src/content/catalog.ts";
import { contentOf } from "../src/content/content.ts";
import { type ScriptedStream, startScriptedServer } from "../src/peer/scripted-server.ts";

const api = createEnvoyApi();
const undone: (() => unknown)[] = [];

afterEach(async () => {
  for (const undo of undone.splice(0).reverse()) await undo();
});

/** A server whose streams and requests can be waited for, in their order. */
async function startServer() {
  const streams = new Queue<ScriptedStream>();
  const requests = new Queue<DiscoveryRequest>();
  const server = await startScriptedServer({
    opened: (stream) => streams.add(stream),
    request: (_, request) => requests.add(request),
    closed: () => {},
  });
  undone.push(() => server.close());
  return { address: server.address, streams, requests };
}

class Queue<T> {
  readonly #values: T[] = [];
  readonly #waiting: ((value: T) => void)[] = [];

  add(value: T): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#values.push(value);
    else next(value);
  }

  next(): Promise<T> {
    const [value] = this.#values.splice(0, 1);
    return value === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(value);
  }
}

/** Hands bytes on until it does not any more, as a cable that is cut does. */
class Cable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  constructor(address: string) {
    const { hostname: host, port } = new URL(`http://${address}`);
    this.#server = createServer((near) => {
      const far = connect({ host, port: Number(port) });
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on("error", () => {});
        from.on("data", (bytes) => {
          if (!this.#isCut) to.write(bytes);
        });
        from.on("close", () => to.destroy());
      }
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("it listens on no port");
    return `127.0.0.1:${address.port}`;
  }

  cut(): void {
    this.#isCut = true;
  }

  mend(): void {
    this.#isCut = false;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

function response(version: string, ...names: readonly string[]): Uint8Array {
  const resources = names.map((is) => ({ typeUrl: urlOf("eds"), value: contentOf("eds", is).bytes }));
  return encodeSotwResponse({ versionInfo: version, nonce: version, typeUrl: urlOf("eds"), resources });
}

function statesOf(client: XdsClient): unknown {
  const shown = ({ key, status, resource, acceptedAtMs, failure }: ResourceState): unknown => ({
    key,
    status,
    version: resource?.version,
    isDated: acceptedAtMs !== undefined,
    failure: failure && { code: failure.code, version: failure.version },
  });
  return client.dump().map(shown);
}

test("C-CON-01 C-CON-04 a connection that is dead is noticed by its pings, and made anew", async () => {
  const server = await startServer();
  const cable = new Cable(server.address);
  const address = await cable.listen();
  undone.push(() => cable.close());
  const ends = new Queue<number>();
  const client = await createXdsClient({
    api,
    server: address,
    transport: { keepalive: { intervalMs: 100, timeoutMs: 100 } },
    onReport: (report) => report.kind === "stream-ended" && ends.add(report.status.code),
  });
  undone.push(() => client.close());
  client.watch(ClusterLoadAssignment, "a", { onChange: () => {} });
  const first = await server.streams.next();
  expect(await server.requests.next()).toMatchObject({ names: ["a"], versionInfo: undefined });
  first.send(response("X", "a@1"));
  expect(await server.requests.next()).toMatchObject({ names: ["a"], versionInfo: "X", nonce: "X" });

  cable.cut();
  expect(await ends.next()).toBe(14);
  cable.mend();
  await server.streams.next();
  expect(await server.requests.next()).toMatchObject({ names: ["a"], versionInfo: "X", nonce: undefined });
});

test("B-OBS-04 what is asked for, held, refused and known not to exist can be looked up", async () => {
  const server = await startServer();
  const client = await createXdsClient({
    api,
    server: server.address,
    limits: { initialFetchTimeoutMs: 300 },
    validation: {
      validators: [
        validator(ClusterLoadAssignment, ({ bytes }) => (Buffer.from(bytes).includes("bad") ? "is bad" : undefined)),
      ],
    },
  });
  undone.push(() => client.close());
  client.watch(ClusterLoadAssignment, "a", { onChange: () => {} });
  const ghost = client.watch(ClusterLoadAssignment, "ghost");
  const stream = await server.streams.next();
  await server.requests.next();
  const requested = { status: "requested", version: undefined, isDated: false, failure: undefined };
  expect(statesOf(client)).toEqual([
    { key: "a", ...requested },
    { key: "ghost", ...requested },
  ]);

  stream.send(response("X", "a@1"));
  await server.requests.next();
  stream.send(response("Y", "a@bad"));
  expect(await server.requests.next()).toMatchObject({ error: { code: 3 }, versionInfo: "X" });
  expect(statesOf(client)).toEqual([
    { key: "a", status: "nacked", version: "X", isDated: true, failure: { code: 3, version: "Y" } },
    { key: "ghost", ...requested },
  ]);

  stream.send(response("Z", "a@2"));
  await server.requests.next();
  for await (const { kind } of ghost) if (kind === "does-not-exist") break;
  expect(statesOf(client)).toEqual([{ key: "a", status: "acked", version: "Z", isDated: true, failure: undefined }]);
});
