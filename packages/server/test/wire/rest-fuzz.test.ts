import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { until } from "../support/raw-peer.ts";
import { restClient } from "../support/rest-client.ts";
import { cluster, startWorld } from "../support/test-server.ts";

/** XDS_FUZZ_RUNS=1000000 for a long night. */
const RUNS = Number(process.env["XDS_FUZZ_RUNS"] ?? 2_000);
const AT_ONCE = 16;
const PATHS = ["/v3/discovery:clusters", "/v2/discovery:clusters", "/v3/discovery%3Aendpoints", "/v3/x", "*", "/%"];
const WORDS = ["version_info", "versionInfo", "node", "id", "metadata", "resource_names", "resourceNames", "type_url"];
const NESTED = ["error_detail", "__proto__", "constructor", "locality", "client_features", "extensions", "code"];

const key = fc.constantFrom(...WORDS, ...NESTED, "");
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(fc.string(), fc.constant("a"), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 6 }).map(Object.fromEntries),
  ),
}));
const object = fc.array(fc.tuple(key, value), { maxLength: 8 }).map(Object.fromEntries);

/** A text that is nearly JSON: some of it is cut, changed or doubled. */
const nearlyJson = fc
  .tuple(object, fc.nat(), fc.nat({ max: 3 }), fc.string({ unit: "binary", maxLength: 5 }))
  .map(([made, at, how, text]) => {
    const json = JSON.stringify(made);
    const place = at % (json.length + 1);
    if (how === 0) return json;
    if (how === 1) return json.slice(0, place);
    if (how === 2) return json.slice(0, place) + text + json.slice(place);
    return json + json.slice(place);
  });

const body = fc.oneof(
  { weight: 8, arbitrary: nearlyJson.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.nat({ max: 400 }).map((depth) => Buffer.from('{"a":'.repeat(depth))) },
);
const header = fc.constantFrom(
  ...["accept-encoding: gzip", "x-envoy-expected-rq-timeout-ms: 2", "x-envoy-expected-rq-timeout-ms: -1"],
  ...["content-type: application/json", "content-type: text/html", "expect: 100-continue", "upgrade: h2c"],
  ...["host: a", "transfer-encoding: chunked", "content-length: 3", "content-encoding: gzip", "cookie", ": x"],
);
const request = fc
  .record({
    method: fc.constantFrom("POST", "POST", "POST", "POST", "GET", "HEAD", "OPTIONS", "DELETE", "post", "PRI"),
    path: fc.constantFrom(PATHS[0] ?? "", PATHS[0] ?? "", ...PATHS),
    version: fc.constantFrom("HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/3", ""),
    headers: fc.array(header, { maxLength: 4 }),
    body,
    isHonest: fc.integer({ min: 0, max: 9 }).map((roll) => roll > 0),
  })
  .map(({ method, path, version, headers, body: bytes, isHonest }) => {
    const length = `content-length: ${isHonest ? bytes.length : bytes.length + 1}`;
    const head = [`${method} ${path} ${version}`, ...headers, length].join("\r\n");
    return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), bytes]);
  });

/** Whoever gets so far is answered, and the connection ends. */
const last = Buffer.from(
  'POST /v3/discovery:clusters HTTP/1.1\r\nconnection: close\r\ncontent-length: 19\r\n\r\n{"node":{"id":"n"}}',
);

/** Sends what was made on one connection and waits for the end of it, or a while. */
function send(address: { host: string; port: number }, parts: readonly Buffer[]): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket: Socket = connect(address);
    const end = (): void => {
      clearTimeout(timeout);
      socket.destroy();
      resolve(answer);
    };
    const timeout = setTimeout(end, 300);
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.once("close", end);
    for (const part of [...parts, last]) socket.write(part);
  });
}

test("any number of odd requests neither break the server nor leave a connection open", {
  timeout: 24 * 3_600_000,
}, async () => {
  const world = await startWorld({ rest: { holdMs: 2, maxHoldMs: 5 } }, [cluster("a")]);
  const broken: unknown[] = [];
  let open = 0;
  world.server.on("invariant-broken", ({ error }) => broken.push(error));
  world.server.on("connection-opened", () => open++);
  world.server.on("connection-closed", () => open--);
  const statuses = new Map<string, number>();
  for (let done = 0; done < RUNS; ) {
    const scripts = fc.sample(fc.array(request, { minLength: 1, maxLength: 4 }), { numRuns: 256, seed: done });
    for (let i = 0; i < scripts.length && done < RUNS; i += AT_ONCE) {
      const now = scripts.slice(i, i + AT_ONCE);
      for (const answer of await Promise.all(now.map((parts) => send(world.address, parts)))) {
        for (const [, status = ""] of answer.matchAll(/HTTP\/1\.1 (\d+)/g)) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      }
      done += now.reduce((sum, parts) => sum + parts.length + 1, 0);
    }
  }
  expect(broken).toEqual([]);
  await until("every connection is closed", () => open === 0);
  expect([...statuses.keys()].filter((status) => !/^(?:100|200|304|400|404|405|413|415|431)$/.test(status))).toEqual(
    [],
  );
  expect(statuses.get("200")).toBeGreaterThan(0);
  const client = restClient("HTTP/1.1", world.address);
  expect((await client.send({ path: PATHS[0] ?? "", body: { node: { id: "n" } } })).status).toBe(200);
  await client.close();
  await world.close();
});
