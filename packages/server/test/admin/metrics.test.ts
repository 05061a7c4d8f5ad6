import { createServer } from "@xdskit/server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { metricTable } from "../../src/observe/metric-table.ts";
import { lintMetrics } from "../support/promlint.ts";
import { CDS, EDS, node, RDS, RealMachine, resource } from "./real-machine.ts";

let world: RealMachine;

beforeEach(() => {
  world = new RealMachine();
});

afterEach(() => world.metrics.close());

/** The lines of one metric, without its help. */
async function linesOf(name: string): Promise<readonly string[]> {
  const text = await world.metrics.scrape();
  return text
    .split("\n")
    .filter((line) => line.startsWith(name) && /^[a-z_]+[{ ]/.test(line.slice(0, name.length + 1)));
}

test("S-OBS-02 every metric of the table is told, and nothing else", async () => {
  const told = [...(await world.metrics.scrape()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [
    name,
    kind,
  ]);
  expect(told.sort()).toEqual(
    Object.entries(metricTable)
      .map(([name, { kind }]) => [name, kind])
      .sort(),
  );
});

test("S-OBS-02 metrics are named, typed and labelled as Prometheus' linter wants", async () => {
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  const stream = world.open();
  world.receive(stream, { kind: "delta", node: node("n1"), subscribe: ["*"] });
  world.receive(stream, { kind: "delta", nonce: world.lastNonce });
  expect(lintMetrics(await world.metrics.scrape())).toEqual([]);
});

test("S-OBS-02 the lag of the event loop is a summary of all time, with quantiles since the scrape before", async () => {
  const names = (await linesOf("xds_server_event_loop_lag_seconds")).map((line) => line.replace(/ \S+$/, ""));
  expect(names).toEqual(
    ["0.5", "0.99", "1"].map((quantile) => `xds_server_event_loop_lag_seconds{quantile="${quantile}"}`),
  );
  const ofAllTime = await Promise.all(
    ["sum", "count"].map((end) => linesOf(`xds_server_event_loop_lag_seconds_${end}`)),
  );
  expect(ofAllTime.map(({ length }) => length)).toEqual([1, 1]);
});

test("S-OBS-02 streams, requests, responses, ACKs and NACKs are counted by type", async () => {
  world.commit([{ layer: "base", puts: [resource(CDS, "a"), resource(CDS, "b")] }]);
  const stream = world.open();
  world.receive(stream, { kind: "delta", node: node("n1"), subscribe: ["*"] });
  world.now += 40;
  world.receive(stream, { kind: "delta", nonce: world.lastNonce });
  world.now += 1000;
  world.commit([{ layer: "base", puts: [resource(CDS, "a", "new")] }]);
  world.now += 200;
  world.receive(stream, { kind: "delta", nonce: world.lastNonce });
  world.commit([{ layer: "base", puts: [resource(CDS, "a", "bad")] }]);
  world.receive(stream, { kind: "delta", nonce: world.lastNonce, error: { code: 13, message: "no" } });

  expect(await linesOf("xds_server_streams_active")).toEqual([
    'xds_server_streams_active{variant="delta",scope="ads"} 1',
  ]);
  expect(await linesOf("xds_server_clients")).toEqual(['xds_server_clients{user_agent="envoy 1.39"} 1']);
  expect(await linesOf("xds_server_responses_total")).toEqual([
    'xds_server_responses_total{type="cds",variant="delta"} 3',
  ]);
  expect(await linesOf("xds_server_response_resources_sum")).toEqual([
    'xds_server_response_resources_sum{type="cds",variant="delta"} 4',
  ]);
  expect(await linesOf("xds_server_acks_total")).toEqual(['xds_server_acks_total{type="cds"} 2']);
  expect(await linesOf("xds_server_nacks_total")).toEqual(['xds_server_nacks_total{type="cds"} 1']);
  expect(await linesOf("xds_server_requests_total")).toContain('xds_server_requests_total{type="cds",kind="nack"} 1');
  expect(await linesOf("xds_server_send_to_ack_seconds_count")).toEqual([
    'xds_server_send_to_ack_seconds_count{type="cds"} 2',
  ]);
  // The first answer was no propagation: the stream opened after the commit.
  expect(await linesOf("xds_server_propagation_seconds_sum")).toEqual([
    'xds_server_propagation_seconds_sum{type="cds"} 0.2',
  ]);
  expect((await linesOf("xds_server_propagation_seconds_bucket")).slice(6, 9)).toEqual([
    'xds_server_propagation_seconds_bucket{le="0.1",type="cds"} 0',
    'xds_server_propagation_seconds_bucket{le="0.25",type="cds"} 1',
    'xds_server_propagation_seconds_bucket{le="0.5",type="cds"} 1',
  ]);

  world.close(stream);
  expect(await linesOf("xds_server_streams_active")).toEqual([
    'xds_server_streams_active{variant="delta",scope="ads"} 0',
  ]);
  expect(await linesOf("xds_server_streams_total")).toEqual([
    'xds_server_streams_total{variant="delta",close_reason="cancelled"} 1',
  ]);
  expect(await linesOf("xds_server_clients")).toEqual([]);
});

test("gauges are read when somebody asks", async () => {
  world.commit([
    { layer: "base", puts: [resource(CDS, "a")] },
    { layer: "group/x", puts: [resource(CDS, "a", "x")] },
  ]);
  expect(await linesOf("xds_server_snapshot_resources")).toEqual(['xds_server_snapshot_resources{type="cds"} 2']);
  expect(await linesOf("xds_server_revision")).toEqual(["xds_server_revision 1"]);
  expect(await linesOf("xds_server_limit_used")).toEqual(['xds_server_limit_used{limit="maxStreams"} 2']);
  expect(await linesOf("xds_server_limit_hits_total")).toEqual(['xds_server_limit_hits_total{limit="maxStreams"} 1']);
  expect(await linesOf("xds_server_encoded_bytes_total")).toEqual(["xds_server_encoded_bytes_total 4"]);
  world.source = { ...world.source, state: "failed" };
  expect(await linesOf("xds_server_source_state")).toContain('xds_server_source_state{state="failed"} 1');
});

test("S-OBS-02 nodes are counted by how far they are with the newest revision", async () => {
  const states = async (): Promise<Readonly<Record<string, number>>> =>
    Object.fromEntries(
      (await linesOf("xds_server_nodes{")).map((line) => {
        const [, state = "", nodes] = /state="(.*)"} (\d+)$/.exec(line) ?? [];
        return [state, Number(nodes)];
      }),
    );
  const nobody = { deployed: 0, pending: 0, waiting: 0, nacked: 0, disconnected: 0 };
  expect(await linesOf("xds_server_revision_age_seconds")).toEqual(["xds_server_revision_age_seconds 0"]);
  expect(await states()).toEqual(nobody);
  world.commit([{ layer: "base", puts: [resource(CDS, "a"), resource(RDS, "r")] }]);
  const streams = ["has", "refuses", "is-slow", "waits", "leaves"].map((id) => {
    const stream = world.open();
    world.receive(stream, { kind: "delta", node: node(id), subscribe: ["*"] });
    world.receive(stream, { kind: "delta", nonce: world.lastNonce });
    return stream;
  });
  world.receive(streams[3] ?? 0, { kind: "delta", type: RDS, subscribe: ["r"] });
  world.receive(streams[3] ?? 0, { kind: "delta", type: RDS, nonce: world.lastNonce });
  expect(await states()).toEqual({ ...nobody, deployed: 5 });

  const before = world.sent.length;
  world.commit([
    {
      layer: "base",
      puts: [resource(CDS, "a", "new"), resource(CDS, "b"), resource(RDS, "r", "new", [{ type: CDS, name: "b" }])],
    },
  ]);
  const nonceOf = (stream: number | undefined): string =>
    world.sent.slice(before).find((sent) => sent.stream === stream)?.nonce ?? "";
  world.receive(streams[0] ?? 0, { kind: "delta", nonce: nonceOf(streams[0]) });
  world.receive(streams[1] ?? 0, { kind: "delta", nonce: nonceOf(streams[1]), error: { code: 13, message: "no" } });
  world.close(streams[4] ?? 0);
  world.now += 90_000;
  expect(await states()).toEqual({ deployed: 1, nacked: 1, pending: 1, waiting: 1, disconnected: 1 });
  expect(await linesOf("xds_server_revision_age_seconds")).toEqual(["xds_server_revision_age_seconds 90"]);
});

test("S-OBS-02 a source that fails tells for how long", async () => {
  const failedSince = new Date(world.now);
  world.source = { state: "failed", problems: [], since: new Date(world.now + 30_000), failedSince };
  world.now += 40_000;
  expect(await linesOf("xds_server_source_failed_seconds")).toEqual(["xds_server_source_failed_seconds 40"]);
  world.source = { state: "good", problems: [], since: new Date(world.now) };
  expect(await linesOf("xds_server_source_failed_seconds")).toEqual(["xds_server_source_failed_seconds 0"]);
});

test("S-OBS-02 a source that fails again fails since the first time", async () => {
  await using server = createServer({ admin: {} });
  const { adminAddress } = await server.listen();
  const failedSeconds = async (): Promise<number> => {
    const text = await (await fetch(`http://${adminAddress?.host}:${adminAddress?.port}/metrics`)).text();
    return Number(/^xds_server_source_failed_seconds (.*)$/m.exec(text)?.[1]);
  };
  server.reportSource({ state: "failed", problems: [], since: new Date(Date.now() - 1_000_000) });
  server.reportSource({ state: "failed", problems: [] });
  expect(await failedSeconds()).toBeGreaterThanOrEqual(1000);
  server.reportSource({ state: "good", problems: [] });
  expect(await failedSeconds()).toBe(0);
});

describe("labels are bounded", () => {
  test("types that a client makes up are one", async () => {
    const stream = world.open();
    world.receive(stream, { kind: "delta", node: node("n1") });
    for (let i = 0; i < 100; i++) world.receive(stream, { kind: "delta", type: `type.googleapis.com/made.up.T${i}` });
    expect(await linesOf("xds_server_requests_total")).toEqual([
      'xds_server_requests_total{type="cds",kind="initial"} 1',
      'xds_server_requests_total{type="other",kind="initial"} 100',
    ]);
  });

  test("user agents beyond fifty are one", async () => {
    for (let i = 0; i < 70; i++) {
      world.receive(world.open(), { kind: "delta", type: EDS, node: node(`n${i}`, { userAgentName: `agent${i}\n"` }) });
    }
    const lines = await linesOf("xds_server_clients");
    expect(lines).toHaveLength(51);
    expect(lines).toContain('xds_server_clients{user_agent="other"} 20');
  });
});
