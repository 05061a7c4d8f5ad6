import { decodeDeltaResponse, decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CounterFamily } from "../src/observe/cell.ts";
import { type MetricName, metricTable } from "../src/observe/metric-table.ts";
import { deltaRequest, resource, sotwRequest, startWorld, testApi, type World } from "./support/test-server.ts";

/** A resource type and a metric that exist in no release, each added by one row. */
vi.mock("../../envoy-api/src/catalog/entries.ts", async (importOriginal) => {
  const { catalog } = await importOriginal<{ readonly catalog: readonly object[] }>();
  const { defineEntry } = await import("../../envoy-api/src/catalog/entry.ts");
  const added = defineEntry({
    message: "envoy.extensions.filters.network.dubbo_proxy.v3.RouteConfiguration",
    kind: "opaque",
    shortName: "drds",
    discovery: { services: { v3: "example.DubboRoute" }, noun: "DubboRoutes", rest: "dubbo-routes" },
  });
  return { catalog: [...catalog, added] };
});

vi.mock("../src/observe/metric-table.ts", async (importOriginal) => {
  const { metricTable } = await importOriginal<{ readonly metricTable: object }>();
  return {
    metricTable: {
      ...metricTable,
      xds_server_naps_total: { kind: "counter", help: "Naps taken.", merge: "sum", labels: ["room"] },
    },
  };
});

describe("B-TYP-01 a resource type is one row of the catalog", () => {
  const type = formatTypeUrl("envoy.extensions.filters.network.dubbo_proxy.v3.RouteConfiguration");
  const service = "/example.DubboRouteDiscoveryService";
  let world: World;
  beforeEach(async () => {
    world = await startWorld({}, [resource(type, "routes")]);
  });
  afterEach(() => world.close());

  test("its service streams it in both variants", async () => {
    const peer = await world.connect();
    const sotw = peer.open(`${service}/StreamDubboRoutes`);
    sotw.send(sotwRequest(type));
    const delta = peer.open(`${service}/DeltaDubboRoutes`);
    delta.send(deltaRequest(type));
    expect(decodeSotwResponse(await sotw.next()).resources).toHaveLength(1);
    expect(decodeDeltaResponse(await delta.next()).resources.map(({ name }) => name)).toEqual(["routes"]);
  });

  test("its service and its REST path answer single requests", async () => {
    const fetching = (await world.connect()).open(`${service}/FetchDubboRoutes`);
    fetching.send(sotwRequest(type));
    fetching.end();
    expect(decodeSotwResponse(await fetching.next()).resources).toHaveLength(1);

    const response = await fetch(`http://${world.address.host}:${world.address.port}/v3/discovery:dubbo-routes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"node":{"id":"n"}}',
    });
    const { typeUrl, resources } = (await response.json()) as { readonly typeUrl: string; readonly resources: [] };
    expect({ status: response.status, typeUrl, count: resources.length }).toEqual({
      status: 200,
      typeUrl: type,
      count: 1,
    });
  });

  test("its short name finds it", () => expect(testApi().typeNamed("drds")).toBe(type));
});

describe("a metric is one row of the table", () => {
  const name = "xds_server_naps_total" as MetricName;

  test("its name, help and labels are printed", async () => {
    const registry = new Registry();
    new CounterFamily(name, registry).cell("attic").value = 3;
    expect(await registry.metrics()).toBe(
      [
        "# HELP xds_server_naps_total Naps taken.",
        "# TYPE xds_server_naps_total counter",
        'xds_server_naps_total{room="attic"} 3',
        "",
      ].join("\n"),
    );
  });

  test("it is documented", async () => {
    const generator = new URL("../../../tools/docs/reference.mjs", import.meta.url).href;
    const { describeMetrics } = (await import(generator)) as { describeMetrics: (table: object) => string };
    expect(describeMetrics(metricTable)).toContain(
      "\n| `xds_server_naps_total` | counter | `room` | sum | Naps taken. |",
    );
  });
});
