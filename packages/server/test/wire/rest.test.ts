import { connect } from "node:net";
import { gunzipSync } from "node:zlib";
import { contentDigest } from "@xdskit/envoy-api";
import { pathsWithoutRest } from "@xdskit/envoy-api/internal";
import { createResource, createResourceError, formatTypeUrl, type Resource } from "@xdskit/protocol";
import type { ManagementServerOptions } from "@xdskit/server";
import { afterEach, describe, expect, test } from "vitest";
import { until, within } from "../support/raw-peer.ts";
import { httpVersions, type RestClient, restClient } from "../support/rest-client.ts";
import { jsonOf, namesOf } from "../support/rest-response.ts";
import { CLUSTER, cluster, ENDPOINTS, put, resource, SECRET, startWorld, type World } from "../support/test-server.ts";

const CDS = "/v3/discovery:clusters";
const EDS = "/v3/discovery:endpoints";
const node = { id: "edge-7", cluster: "edge" };
/** Longer than any test waits: who is held is held until something happens. */
const LONG = { rest: { holdMs: 60_000, maxHoldMs: 60_000 } };

let world: World;
let client: RestClient;
afterEach(async () => {
  await client.close();
  await world.close();
});

async function start(
  version: (typeof httpVersions)[number],
  options: Partial<ManagementServerOptions> = {},
  resources?: readonly Resource[],
): Promise<void> {
  world = await startWorld(options, resources);
  client = restClient(version, world.address);
}

/** Polls that wait, by what the server says of them. */
function countWaiting(): { readonly count: number } {
  let received = 0;
  let answered = 0;
  world.server.on("request-classified", () => received++);
  world.server.on("response-sent", () => answered++);
  return {
    get count() {
      return received - answered;
    },
  };
}

describe.each(httpVersions)("over %s", (version) => {
  test("S-TYP-10 a poll of v2 waits until all of it is there, and one that is given up meanwhile is forgotten", async () => {
    const names = Array.from({ length: 1_000 }, (_, i) => `c${i}`);
    await start(
      version,
      {},
      names.map((name) => cluster(name)),
    );
    const given = client.start({ path: "/v2/discovery:clusters", body: { node } });
    const [first, second] = [
      client.start({ path: "/v2/discovery:clusters", body: { node } }),
      client.start({ path: CDS, body: { node } }),
    ];
    given.abort();
    await given.response.catch(() => undefined);
    expect([namesOf(await first.response), namesOf(await second.response)]).toEqual([names, names]);
  });

  test("B-RST-01 a poll is answered with a whole DiscoveryResponse", async () => {
    await start(version, { controlPlane: "cp-1" });
    const response = await client.send({ path: CDS, body: { node } });
    const { versionInfo, ...rest } = jsonOf(response);
    expect(response.status).toBe(200);
    expect(response.headers["content-type"]).toBe("application/json");
    expect(versionInfo).toMatch(/^[\w-]{16}$/);
    expect(rest).toEqual({
      resources: [{ "@type": CLUSTER, name: "a" }],
      typeUrl: CLUSTER,
      nonce: versionInfo,
      controlPlane: { identifier: "cp-1" },
    });
  });

  test("S-RST-10 S-RST-03 a poll with the newest version is held, and answered with 304 and nothing when its time is over", async () => {
    await start(version, { rest: { holdMs: 30 } });
    const { versionInfo: version_info } = jsonOf(await client.send({ path: CDS, body: { node } }));
    const { status, headers, bytes } = await client.send({ path: CDS, body: { node, version_info } });
    expect([status, bytes.length, headers["content-type"]]).toEqual([304, 0, undefined]);
  });

  test("S-RST-10 a held poll is answered when something changes", async () => {
    await start(version, LONG);
    const { versionInfo } = jsonOf(await client.send({ path: CDS, body: { node } }));
    const waiting = countWaiting();
    const held = client.send({ path: CDS, body: { node, versionInfo } });
    await until("the poll is held", () => waiting.count === 1);
    world.server.commit(put(cluster("b")));
    expect(namesOf(await within("the answer", held))).toEqual(["a", "b"]);
  });

  test("S-RST-10 with restLongPoll off every poll is answered at once", async () => {
    await start(version, { ...LONG, dialect: { restLongPoll: false } });
    const { versionInfo } = jsonOf(await client.send({ path: CDS, body: { node } }));
    const { status } = await within("the answer", client.send({ path: CDS, body: { node, versionInfo } }));
    expect(status).toBe(304);
  });

  test("S-RST-11 a client that goes away frees its poll", async () => {
    await start(version, { ...LONG, limits: { maxStreamsPerPeer: 1 } });
    const { versionInfo } = jsonOf(await client.send({ path: CDS, body: { node } }));
    const waiting = countWaiting();
    const pending = client.start({ path: CDS, body: { node, versionInfo } });
    await until("the poll is held", () => waiting.count === 1);
    const tooMany = await client.send({ path: CDS, body: { node } });
    expect([tooMany.status, jsonOf(tooMany)["code"]]).toEqual([429, 8]);
    pending.abort();
    await expect(pending.response).rejects.toThrow();
    let status = 0;
    while (status !== 200) ({ status } = await client.send({ path: CDS, body: { node } }));
    world.server.commit(put(cluster("b")));
    expect(namesOf(await client.send({ path: CDS, body: { node } }))).toEqual(["a", "b"]);
    expect(waiting.count).toBe(1);
  });

  test("T-I5 S-RST-11 Envoy says how long it waits, and 80 % of that are used", async () => {
    await start(version, LONG);
    const { versionInfo } = jsonOf(await client.send({ path: CDS, body: { node } }));
    const headers = { "x-envoy-expected-rq-timeout-ms": "50" };
    const { status } = await within("the 304", client.send({ path: CDS, body: { node, versionInfo }, headers }));
    expect(status).toBe(304);
  });

  test("S-RST-13 a name that is asked for anew is answered at an unchanged version", async () => {
    await start(version, LONG, [resource(ENDPOINTS, "a"), resource(ENDPOINTS, "b")]);
    const { versionInfo } = jsonOf(await client.send({ path: EDS, body: { node, resourceNames: ["a"] } }));
    const both = client.send({ path: EDS, body: { node, versionInfo, resource_names: ["a", "b"] } });
    expect(namesOf(await within("the answer", both))).toEqual(["a", "b"]);
  });

  test("S-RST-19 every wrong request has its status, and a body that says what is wrong", async () => {
    await start(version);
    const asked: readonly (readonly [Parameters<RestClient["send"]>[0], number, RegExp])[] = [
      [{ path: CDS, method: "GET" }, 405, /expected POST/],
      [{ path: CDS, method: "PUT", body: {} }, 405, /expected POST/],
      [{ path: "/v3/discovery:nothing", body: {} }, 404, /nothing is served at/],
      [{ path: CDS, body: "{" }, 400, /line 1, column 2/],
      [{ path: CDS, body: "" }, 400, /end of the text/],
      [{ path: CDS, body: { node: 5 } }, 400, /expected an object in "node"/],
      [{ path: CDS, body: { typeUrl: ENDPOINTS } }, 400, /serves envoy.config.cluster.v3.Cluster/],
      [{ path: CDS, body: "<a/>", headers: { "content-type": "text/xml" } }, 415, /application\/json/],
      [{ path: CDS, body: "x", headers: { "content-encoding": "gzip" } }, 415, /not compressed/],
    ];
    for (const [call, status, message] of asked) {
      const response = await client.send(call);
      expect([call, response.status, response.headers["content-type"]]).toEqual([call, status, "application/json"]);
      expect(jsonOf(response)).toEqual({ code: expect.any(Number), message: expect.stringMatching(message) });
    }
    expect((await client.send({ path: CDS, method: "GET" })).headers["allow"]).toBe("POST");
    expect((await client.send({ path: CDS, method: "HEAD" })).status).toBe(405);
  });

  test("S-RST-19 a body that is too long is 413, announced or not", async () => {
    await start(version, { limits: { maxRestRequestBytes: 1_000 } });
    const hits: string[] = [];
    world.server.on("limit-hit", ({ limit }) => hits.push(limit));
    const response = await client.send({ path: CDS, body: { node, unknown: "x".repeat(5_000) } });
    expect(response.status).toBe(413);
    expect(jsonOf(response)["message"]).toMatch(/at most 1000 bytes/);
    expect(hits).toEqual(["maxRestRequestBytes"]);
    expect((await client.send({ path: CDS, body: { node } })).status).toBe(200);
  });

  test("S-RST-19 before there is something to serve: 503", async () => {
    await start(version, {}, []);
    const response = await client.send({ path: CDS, body: { node } });
    expect([response.status, jsonOf(response)]).toEqual([
      503,
      { code: 14, message: expect.stringMatching(/no configuration has been loaded/) },
    ]);
  });

  test("S-RST-19 one bad resource is a 500 for who asks for it, and for nobody else", async () => {
    const broken = createResource({ type: CLUSTER, name: "broken", bytes: Buffer.from([0x0a, 0xff]) }, contentDigest);
    await start(version, {}, [cluster("a"), broken]);
    const failed = await client.send({ path: CDS, body: { node, resourceNames: ["broken"] } });
    expect([failed.status, jsonOf(failed)["code"]]).toEqual([500, 13]);
    expect(namesOf(await client.send({ path: CDS, body: { node, resourceNames: ["a"] } }))).toEqual(["a"]);
  });

  test("B-RST-21 the colon may be escaped, and a query is passed over", async () => {
    await start(version);
    const statuses = ["/v3/discovery%3Aclusters", "/v3/discovery%3aclusters?a=b"].map(async (path) => {
      return (await client.send({ path, body: { node } })).status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 200]);
  });

  test("B-RST-05 B-ADS-07 B-DLT-01 what has no form in REST is 404 with the reason", async () => {
    await start(version);
    for (const [path, reason] of pathsWithoutRest) {
      const response = await client.send({ path, body: {} });
      expect([response.status, jsonOf(response)["message"]]).toEqual([404, expect.stringContaining(reason)]);
    }
  });

  test("is compressed for whoever takes gzip, and only then", async () => {
    await start(version);
    const plain = await client.send({ path: CDS, body: { node } });
    const packed = await client.send({ path: CDS, body: { node }, headers: { "accept-encoding": "br, gzip;q=0.5" } });
    const refused = await client.send({ path: CDS, body: { node }, headers: { "accept-encoding": "gzip;q=0" } });
    expect([plain, packed, refused].map(({ headers }) => headers["content-encoding"])).toEqual([
      undefined,
      "gzip",
      undefined,
    ]);
    expect(gunzipSync(packed.bytes)).toEqual(plain.bytes);
  });

  test("S-ERR-01 what is refused or failed stands in resourceErrors", async () => {
    const error = { code: 7, message: "not yours" };
    await start(version, {}, [cluster("a"), createResourceError({ type: CLUSTER, name: "x", error }, contentDigest)]);
    const answer = jsonOf(await client.send({ path: CDS, body: { node, resourceNames: ["a", "x"] } }));
    expect(answer["resourceErrors"]).toEqual([{ resourceName: { name: "x" }, errorDetail: error }]);
  });

  test("a resource of a type that nobody described comes as its bytes", async () => {
    const type = formatTypeUrl("envoy.config.core.v3.TypedExtensionConfig");
    const bytes = Buffer.concat([
      Buffer.from([0x0a, 1, 0x66, 0x12, 12, 0x0a, 7]),
      Buffer.from("a/b.Foo"),
      Buffer.from([0x12, 1, 7]),
    ]);
    await start(version, {}, [createResource({ type, name: "f", bytes }, contentDigest)]);
    const { resources } = jsonOf(await client.send({ path: "/v3/discovery:extension_configs", body: { node } }));
    expect(resources).toEqual([{ "@type": type, name: "f", typedConfig: { "@type": "a/b.Foo", value: "Bw==" } }]);
  });

  test("secrets are for those who come encrypted or from this machine", async () => {
    await start(version, {}, [resource(SECRET, "s")]);
    expect((await client.send({ path: "/v3/discovery:secrets", body: { node } })).status).toBe(200);
  });

  test("a node that may not be served is 403, and one that is not named where it has to be 400", async () => {
    await start(version, { nodeMapping: ({ id }) => (id === "edge-7" ? ["base"] : { refused: "who is that" }) });
    expect((await client.send({ path: CDS, body: { node } })).status).toBe(200);
    const stranger = await client.send({ path: CDS, body: { node: { id: "x" } } });
    expect([stranger.status, jsonOf(stranger)["message"]]).toEqual([403, "who is that"]);
    expect((await client.send({ path: CDS, body: {} })).status).toBe(400);
  });

  test("a listener that throws refuses that poll with 403, and no other", async () => {
    await start(version);
    const off = world.server.on("request-classified", () => {
      throw new Error("no");
    });
    expect((await client.send({ path: CDS, body: { node } })).status).toBe(403);
    off();
    expect((await client.send({ path: CDS, body: { node } })).status).toBe(200);
  });

  test("draining sends held polls home with 304, and refuses new ones", async () => {
    await start(version, LONG);
    const { versionInfo } = jsonOf(await client.send({ path: CDS, body: { node } }));
    const waiting = countWaiting();
    const held = client.send({ path: CDS, body: { node, versionInfo } });
    await until("the poll is held", () => waiting.count === 1);
    const drained = world.server.drain({ graceMs: 0 });
    expect((await within("the answer", held)).status).toBe(304);
    await within("the drain", drained);
  });

  test("200 polls are answered with one body", async () => {
    await start(version, LONG);
    const { versionInfo } = jsonOf(await client.send({ path: CDS, body: { node } }));
    const waiting = countWaiting();
    const held = Array.from({ length: 200 }, (_, i) =>
      client.send({ path: CDS, body: { node: { id: `n${i}` }, versionInfo } }),
    );
    await until("all are held", () => waiting.count === 200);
    world.server.commit(put(cluster("b")));
    const answers = await within("the answers", Promise.all(held));
    expect(new Set(answers.map(({ bytes }) => bytes.toString())).size).toBe(1);
  });
});

describe("HTTP/1.1 itself", () => {
  async function raw(text: string): Promise<string> {
    const socket = connect(world.address);
    socket.write(text);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    await within("the end", new Promise((resolve) => socket.once("close", resolve)));
    return answer;
  }

  test("what is no HTTP is 400, headers that are too long 431, in words", async () => {
    await start("HTTP/1.1");
    expect(await raw("POST / HTTQ/7\r\n\r\n")).toMatch(/^HTTP\/1.1 400 [\s\S]*"not a request of HTTP\/1.1/);
    expect(await raw(`POST / HTTP/1.1\r\na: ${"x".repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 [\s\S]*too long/);
  });

  test("requests that come in one go are answered in their order", async () => {
    await start("HTTP/1.1", { rest: { holdMs: 20 } });
    const one = (body: string, more = ""): string =>
      `POST ${CDS} HTTP/1.1\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`;
    const answer = await raw(one("{}") + one("{") + one("{}", "connection: close\r\n"));
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 200"]);
  });

  test("REST may be switched off", async () => {
    await start("HTTP/1.1", { rest: false });
    const response = await client.send({ path: CDS, body: { node } });
    expect([response.status, jsonOf(response)["message"]]).toEqual([404, expect.stringContaining("switched off")]);
  });
});
