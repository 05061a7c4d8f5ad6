import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { createServer, type LogEvent, type LogFields } from "@xdskit/server";
import { expect, test } from "vitest";
import { RawPeer } from "../support/raw-peer.ts";
import { CLUSTER, put, sotwRequest, testApi } from "../support/test-server.ts";

const CLUSTER_V2 = formatTypeUrl("envoy.api.v2.Cluster");
const ADS_V2 = "/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources";

function cluster(name: string, more: object = {}): Resource {
  const { input } = testApi().readResource({ "@type": CLUSTER, name, ...more });
  if (input === undefined) throw new Error(name);
  return createResource(input, contentDigest);
}

test("S-TYP-10 what v2 cannot express is seen in the log once for each transaction, in the metrics and in the admin API", async () => {
  const lines: { event: LogEvent; fields: LogFields }[] = [];
  const log = { write: (event: LogEvent, fields: LogFields) => void lines.push({ event, fields }) };
  await using server = createServer({ api: testApi(), admin: {}, log });
  const lossy = { dns_lookup_family: "ALL" };
  server.commit(put(cluster("a", lossy), cluster("b", lossy), cluster("c")));
  const { address, adminAddress } = await server.listen();
  const ask = async (path: string): Promise<string> =>
    (await fetch(`http://${adminAddress?.host}:${adminAddress?.port}${path}`)).text();
  const seen = async (): Promise<unknown> => ({
    log: lines.flatMap(({ event, fields }) => (event === "conversion-incomplete" ? [fields] : [])),
    metrics: (await ask("/metrics")).split("\n").filter((line) => /^xds_server_conversions_/.test(line)),
    names: JSON.parse(await ask("/api/v1/conversions")).items.map(({ name }: { name: string }) => name),
  });
  expect(await seen()).toEqual({
    log: [],
    metrics: ["xds_server_conversions_total 0", "xds_server_conversions_incomplete 0"],
    names: [],
  });

  const peer = await RawPeer.connect(address);
  const call = peer.open(ADS_V2);
  call.send(sotwRequest(CLUSTER_V2));
  await call.next();
  const reason = "v2 does not have the value 4, which it is set to";
  const line = { type: CLUSTER_V2, name: "a", layer: "base", path: "dns_lookup_family", reason };
  expect(await seen()).toEqual({
    log: [{ resources: 3, incomplete: 2, ...line }],
    metrics: ["xds_server_conversions_total 3", "xds_server_conversions_incomplete 2"],
    names: ["a", "b"],
  });
  expect(JSON.parse(await ask("/api/v1/conversions?limit=1")).items).toEqual([
    {
      ...{ type: CLUSTER_V2, shortName: "cds-v2", name: "a", layer: "base" },
      findings: [{ path: "dns_lookup_family", message: reason }],
    },
  ]);
  const [stream] = JSON.parse(await ask("/api/v1/streams")).items;
  expect(stream).toMatchObject({ apiVersion: "v2" });

  server.commit(put(cluster("a")));
  expect(await seen()).toMatchObject({
    log: [{}],
    metrics: ["xds_server_conversions_total 4", "xds_server_conversions_incomplete 1"],
    names: ["b"],
  });
  await peer.close();
});

test("calls of v2 where it is off are counted", async () => {
  await using server = createServer({ api: testApi(), admin: {}, v2: "off", serveEmpty: true });
  const { address, adminAddress } = await server.listen();
  const peer = await RawPeer.connect(address);
  await peer.open(ADS_V2).status;
  const metrics = await (await fetch(`http://${adminAddress?.host}:${adminAddress?.port}/metrics`)).text();
  expect(metrics.split("\n")).toContain('xds_server_admission_rejected_total{reason="v2-off"} 1');
  await peer.close();
});
