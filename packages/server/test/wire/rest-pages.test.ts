import { afterEach, describe, expect, test } from "vitest";
import { httpVersions, type RestClient, restClient } from "../support/rest-client.ts";
import { jsonOf } from "../support/rest-response.ts";
import { resource, SECRET, startWorld, type World } from "../support/test-server.ts";

// Through DNS rebinding, a page at http://evil.example:18000 polls at 127.0.0.1 under its own name.

let world: World;
let client: RestClient;
afterEach(async () => {
  await client.close();
  await world.close();
});

const body = { node: { id: "edge-7" }, resourceNames: ["key"] };
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:60.0) Gecko/20100101 Firefox/60.0";

const requests: readonly (readonly [
  says: string,
  status: number,
  headers: (port: number) => Record<string, string>,
])[] = [
  ["Envoy, with the name of its cluster as Host", 200, () => ({ host: "xds_cluster" })],
  ["another client without Origin, at any name", 200, () => ({ host: "xds.prod.example:443" })],
  ["a page of a rebound name", 403, (port) => at(`evil.example:${port}`)],
  ["an old browser without Origin, at a rebound name", 403, () => ({ host: "evil.example", "user-agent": FIREFOX })],
  [
    "a page of another origin, at this address",
    403,
    (port) => ({ host: `127.0.0.1:${port}`, origin: "https://evil.example" }),
  ],
  ["a sandboxed page", 403, (port) => ({ host: `127.0.0.1:${port}`, origin: "null" })],
  [
    "a page of another port of this host",
    403,
    (port) => ({ host: `127.0.0.1:${port}`, origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" }),
  ],
  [
    "a request across sites without Origin",
    403,
    (port) => ({ host: `127.0.0.1:${port}`, "sec-fetch-site": "cross-site" }),
  ],
  ["a page of its own origin at an address", 200, (port) => at(`127.0.0.1:${port}`)],
  ["a page of its own origin at localhost", 200, (port) => at(`localhost:${port}`)],
  ["a page at a configured name", 200, () => at("console.example")],
];

function at(host: string): Record<string, string> {
  return { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
}

describe.each(httpVersions)("over %s", (version) => {
  test.each(requests)("the poll of %s gets %i", async (_, status, headers) => {
    world = await startWorld({ rest: { names: ["console.example"] } }, [resource(SECRET, "key", "PRIVATE")]);
    client = restClient(version, world.address);
    const { host = "", ...others } = headers(world.address.port);
    const named: Record<string, string> = version === "HTTP/1.1" ? { host } : { ":authority": host };
    const answer = await client.send({ path: "/v3/discovery:secrets", body, headers: { ...named, ...others } });
    expect([answer.status, answer.bytes.includes("key")]).toEqual([status, status === 200]);
  });

  test("a rejected page is told why, and reported", async () => {
    world = await startWorld({}, [resource(SECRET, "key", "PRIVATE")]);
    client = restClient(version, world.address);
    const refused: object[] = [];
    world.server.on("page-refused", ({ host, origin }) => refused.push({ host, origin }));
    const host = "evil.example:18000";
    const named: Record<string, string> = version === "HTTP/1.1" ? { host } : { ":authority": host };
    const headers = { ...named, origin: `http://${host}` };
    const answer = await client.send({ path: "/v3/discovery:secrets", body, headers });
    expect([jsonOf(answer), refused]).toEqual([
      {
        code: 7,
        message: "a page in a browser may poll only from its own origin, at an IP address, localhost or rest.names",
      },
      [{ host, origin: `http://${host}` }],
    ]);
  });
});
