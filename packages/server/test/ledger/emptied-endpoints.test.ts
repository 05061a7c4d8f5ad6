import { contentDigest } from "@xdskit/envoy-api";
import { createResource, type Resource } from "@xdskit/protocol";
import { createServer, type ManagementServer, planLines } from "@xdskit/server";
import { afterEach, describe, expect, test } from "vitest";
import { lackingEndpoints } from "../../src/ledger/endpoints.ts";
import { type ApiDocument, mismatches } from "../support/json-schema.ts";
import { encoded } from "../support/messages.ts";
import { CLUSTER, cluster, ENDPOINTS, testApi } from "../support/test-server.ts";

const api = testApi();
const address = { socketAddress: { address: "192.0.2.1", portValue: 80 } };
const lbEndpoints = [{ endpoint: { address } }];

function assignment(name: string, ...endpoints: readonly object[]): Resource {
  const bytes = encoded("envoy.config.endpoint.v3.ClusterLoadAssignment", { clusterName: name, endpoints });
  return createResource({ type: ENDPOINTS, name, bytes }, contentDigest);
}

describe("endpoints are none", () => {
  const lacks = lackingEndpoints(api);

  test.each<readonly [string, readonly object[], boolean]>([
    ["without a locality", [], true],
    ["with localities that have none", [{ priority: 1 }, { locality: { zone: "a" } }], true],
    ["not with one of them", [{ priority: 1 }, { lbEndpoints }], false],
    ["not if they are listed at another level", [{ loadBalancerEndpoints: { lbEndpoints } }], false],
    ["not if LEDS has them", [{ ledsClusterLocalityConfig: { ledsCollectionName: "c" } }], false],
  ])("%s", (_, endpoints, expected) => {
    expect(lacks(assignment("a", ...endpoints))).toBe(expected);
  });

  test("of that type only, and if they can be read", () => {
    expect(lacks(createResource({ type: CLUSTER, name: "a", bytes: new Uint8Array() }, contentDigest))).toBe(false);
    const torn = createResource({ type: ENDPOINTS, name: "a", bytes: new Uint8Array([10, 5]) }, contentDigest);
    expect(lacks(torn)).toBe(false);
  });
});

describe("a server whose source empties endpoints", () => {
  let server: ManagementServer;
  afterEach(() => server.close());

  test("says so in its status, metrics and plan, and sends that once it is approved", async () => {
    server = createServer({ api, ledger: {}, admin: {} });
    const root = `http://127.0.0.1:${(await server.listen()).adminAddress?.port}`;
    const document = (await (await fetch(`${root}/api/v1/openapi.json`)).json()) as ApiDocument;
    const ask = async (path: string, init?: RequestInit): Promise<unknown> => {
      const response = await fetch(root + path, init);
      const body: unknown = await response.json();
      expect(mismatches(document, path, response.status, body)).toEqual([]);
      return body;
    };
    const origin = { writer: "directory" };
    const layersWith = (one: Resource) => new Map([["base", [cluster("a"), one]]]);
    const version = async (): Promise<unknown> => ask("/api/v1/resources?type=eds");
    const placement = { groups: [], clients: [], access: undefined };
    const full = assignment("a", { lbEndpoints });
    const empty = assignment("a");
    await server.publish({ layers: layersWith(full), placement, origin });
    const lines = [...planLines({ layers: layersWith(empty), placement }, api)];
    expect(await ask("/api/v1/plan", { method: "POST", body: lines.join("") })).toMatchObject({
      ...{ result: "held", fuses: [{ fuse: "endpoints-emptied", layer: "base", type: ENDPOINTS }] },
    });
    await server.publish({ layers: layersWith(empty), origin });
    expect(await ask("/api/v1/server")).toMatchObject({
      ledger: {
        number: 2,
        emptied: {
          total: 1,
          resources: [
            { layer: "base", type: ENDPOINTS, shortName: "eds", name: "a", number: 2, until: expect.any(String) },
          ],
        },
      },
    });
    expect(await (await fetch(`${root}/metrics`)).text()).toMatch(/^xds_server_emptied_endpoints 1$/m);
    expect(await version()).toMatchObject({ items: [{ name: "a", version: full.version }] });
    expect(await ask("/api/v1/revisions/2")).toMatchObject({ kind: "emptied", changed: 1 });
    expect(await ask("/api/v1/approve/2", { method: "POST" })).toMatchObject({ result: "applied", number: 3 });
    expect(await version()).toMatchObject({ items: [{ name: "a", version: empty.version }] });
    const changes = await ask("/api/v1/revisions?stable=true");
    expect(changes).toMatchObject({ items: [{ number: 1, kind: "revision" }], head: 3 });
    expect(await ask("/api/v1/revisions/3")).toMatchObject({ kind: "approved", of: 2, changed: 1 });
    expect((await ask("/api/v1/server")) as object).not.toHaveProperty("ledger.emptied");
  });
});
