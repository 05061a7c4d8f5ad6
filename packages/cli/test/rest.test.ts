import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { VERSION } from "../src/version.ts";
import { CapturedIo } from "./captured-io.ts";
import { RestServer } from "./rest-server.ts";
import { until } from "./serving.ts";

const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ENDPOINTS = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

let server: RestServer;
beforeEach(async () => {
  server = await RestServer.start();
});
afterEach(() => server.close());

function start(...argv: readonly string[]): { io: CapturedIo; ended: Promise<number> } {
  const io = new CapturedIo({ env: { XDS_SERVER: server.address } });
  return { io, ended: run(argv, io) };
}

describe("xds get --rest", () => {
  test("polls once, in canonical JSON, and prints what comes", async () => {
    const { io, ended } = start("get", "cds", "--rest", "--node", "edge-7", "--cluster", "edge", "-o", "json");
    const poll = await server.next();
    const { method, path, headers, body } = poll;
    const seen = { method, path, type: headers["content-type"], timeout: headers["x-envoy-expected-rq-timeout-ms"] };
    expect(seen).toEqual({
      method: "POST",
      path: "/v3/discovery:clusters",
      type: "application/json",
      timeout: "30000",
    });
    const clientFeatures = ["xds.config.resource-in-sotw", "xds.config.supports-resource-ttl"];
    const node = { id: "edge-7", cluster: "edge", userAgentName: "xds-cli", userAgentVersion: VERSION, clientFeatures };
    expect(body).toEqual({ node, typeUrl: CLUSTER });
    poll.answer(200, {
      versionInfo: "7",
      typeUrl: CLUSTER,
      resources: [
        { "@type": CLUSTER, name: "b", connectTimeout: "1.5s" },
        { "@type": CLUSTER, name: "a" },
      ],
    });
    expect(await ended).toBe(0);
    expect(JSON.parse(io.stdout.text)).toEqual([
      { "@type": CLUSTER, name: "a" },
      { "@type": CLUSTER, name: "b", connect_timeout: "1.500s" },
    ]);
    expect(io.stderr.text).toBe("");
  });

  test("asks for names, reads snake_case and wrapped resources, and says what is missing", async () => {
    const { io, ended } = start("get", "eds", "a", "b", "--rest", "-o", "table");
    const poll = await server.next();
    expect([poll.path, poll.body["resourceNames"]]).toEqual(["/v3/discovery:endpoints", ["a", "b"]]);
    const resource = { "@type": ENDPOINTS, cluster_name: "a" };
    const wrapped = { "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource", name: "a", resource };
    poll.answer(200, { version_info: "7", type_url: ENDPOINTS, resources: [wrapped] });
    expect([await ended, io.stdout.text, io.stderr.text]).toEqual([
      1,
      "NAME  VERSION  BYTES\na     7        3\n",
      'xds: there is no resource "b" of type eds\n',
    ]);
  });

  test("with --v2 asks the path of v2 for the type of v2", async () => {
    const { io, ended } = start("get", "rtds", "--rest", "--v2");
    const poll = await server.next();
    const type = "type.googleapis.com/envoy.service.discovery.v2.Runtime";
    expect([poll.path, poll.body["typeUrl"]]).toEqual(["/v2/discovery:runtime", type]);
    poll.answer(200, { versionInfo: "7", resources: [] });
    expect([await ended, io.stderr.text]).toEqual([1, "xds: there are no resources of type rtds\n"]);
  });

  test("shows why a poll was refused, without what moves a terminal's cursor", async () => {
    const { io, ended } = start("get", "cds", "--rest");
    (await server.next()).answer(400, '{\n "code": 3,\n "message": "no such node\\u001b[2J"\n}\n');
    expect([await ended, io.stderr.text]).toEqual([
      1,
      `xds: http://${server.address}/v3/discovery:clusters: HTTP status 400 Bad Request: no such node [2J\n`,
    ]);
  });

  test.each([
    [404, 1, "hint: is REST switched off there, or is this its admin port?\n"],
    [503, 69, ""],
  ])("answered %i ends with %i", async (status, code, hint) => {
    const { io, ended } = start("get", "cds", "--rest");
    (await server.next()).answer(status);
    expect(await ended).toBe(code);
    expect(io.stderr.text).toMatch(
      new RegExp(`^xds: http://[\\d.:]+/v3/discovery:clusters: HTTP status ${status} [A-Z].*\n`),
    );
    expect(io.stderr.text.split("\n").slice(1).join("\n")).toBe(hint);
  });

  test.each([
    ["no JSON", "<html>", "expected JSON, got something else"],
    ["no object", [1], "expected"],
    ["a version that is none", { versionInfo: 7 }, "version"],
    ["no list", { resources: {} }, "resources: expected"],
    [
      "another type",
      { resources: [{ "@type": ENDPOINTS, clusterName: "a" }] },
      `expected resources of ${CLUSTER}, got one of ${ENDPOINTS}`,
    ],
    ["a wrong field", { resources: [{ "@type": CLUSTER, name: 7 }] }, "resources[0].name: "],
  ])("refuses %s", async (_what, body, message) => {
    const { io, ended } = start("get", "cds", "--rest");
    (await server.next()).answer(200, body);
    expect(await ended).toBe(1);
    expect(io.stderr.text).toContain(`xds: ${server.address}: rejected: ${message}`);
  });

  test("says that nobody is there", async () => {
    await server.close();
    const { io, ended } = start("get", "cds", "--rest");
    expect(await ended).toBe(69);
    expect(io.stderr.text).toContain(`hint: is a server running at ${server.address}?\n`);
  });

  test("gives up in time", async () => {
    const { io, ended } = start("get", "cds", "--rest", "--timeout", "50ms"); // nobody answers
    expect([await ended, io.stderr.text]).toEqual([1, expect.stringContaining("xds: no answer in time")]);
  });

  test.each([
    ["vhds", "there is no path for type.googleapis.com/envoy.config.route.v3.VirtualHost in v3 over REST; use gRPC"],
    ["type.googleapis.com/a.B", "there is no path for type.googleapis.com/a.B in v3 over REST; use gRPC"],
  ])("of a type without a path is refused: %s", async (type, message) => {
    const { io, ended } = start("get", type, "--rest");
    expect([await ended, io.stderr.text]).toEqual([1, `xds: ${server.address}: ${message}\nhint: leave --rest off\n`]);
  });
});

describe("xds watch --rest", () => {
  const poll = ["watch", "cds", "--rest", "--refresh-delay", "1ms", "-o", "json"] as const;
  const response = (version: string, ...names: readonly string[]): object => ({
    versionInfo: version,
    nonce: `n${version}`,
    resources: names.map((name) => ({ "@type": CLUSTER, name })),
  });
  const eventsOf = (io: CapturedIo): string[] =>
    io.stdout.text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .map(({ event, name, version }) => [event, name, version].filter((word) => word !== undefined).join(" "));

  test("says what it holds, and prints only what changed", async () => {
    const { io, ended } = start(...poll);
    (await server.next()).answer(200, response("1", "a", "b"));
    const second = await server.next();
    expect([second.body["versionInfo"], second.body["responseNonce"]]).toEqual(["1", "n1"]);
    second.answer(304);
    const third = await server.next();
    expect([third.body["versionInfo"], third.body["responseNonce"]]).toEqual(["1", "n1"]);
    third.answer(200, response("1", "a", "b"));
    (await server.next()).answer(200, response("2", "b"));
    const last = await server.next();
    expect(last.body["versionInfo"]).toBe("2");
    expect(eventsOf(io)).toEqual(["put a 1", "put b 1", "removed a"]);
    io.interrupt();
    expect([await ended, io.stderr.text]).toEqual([130, ""]);
  });

  test("never asks twice at once, and leaves a poll that is held when it is interrupted", async () => {
    const { io, ended } = start(...poll);
    (await server.next()).answer(200, response("1", "a"));
    await server.next();
    io.interrupt();
    expect(await ended).toBe(130);
    expect(server.received).toHaveLength(2);
  });

  test("goes on after an error, from the version that it holds", async () => {
    const { io, ended } = start(...poll);
    (await server.next()).answer(200, response("1", "a"));
    (await server.next()).answer(503, "draining");
    (await server.next()).answer(503, "draining");
    const again = await server.next();
    expect([again.body["versionInfo"], again.body["responseNonce"]]).toEqual(["1", undefined]);
    again.answer(200, response("2"));
    await until("the removal is told", () => eventsOf(io).includes("removed a"));
    expect(io.stderr.text.replaceAll(/127\.0\.0\.1:\d+/g, "HOST")).toBe(
      "xds: http://HOST/v3/discovery:clusters: HTTP status 503 Service Unavailable: draining, trying again\nxds: HOST answers again\n",
    );
    expect(eventsOf(io)).toEqual(["put a 1", "error", "recovered", "removed a"]);
    io.interrupt();
    expect(await ended).toBe(130);
  });

  test("that fails at first is over", async () => {
    const { io, ended } = start(...poll);
    (await server.next()).answer(404, "no such path");
    expect([await ended, io.stderr.text]).toEqual([1, expect.stringContaining("no such path\nhint: is REST")]);
  });
});
