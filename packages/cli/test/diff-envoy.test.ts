import { createServer, type Server } from "node:http";
import { createEnvoyApi } from "@xdskit/envoy-api";
import type { NodeResourceAnswer } from "@xdskit/server";
import { afterEach, expect, test } from "vitest";
import { compareWithEnvoy } from "../src/commands/diff/compare-envoy.ts";
import { envoyResourcesIn } from "../src/commands/diff/envoy-dump.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const api = createEnvoyApi();
const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ENDPOINTS = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const SECRET = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

const cluster = (name: string, more: object = {}): object => ({ "@type": CLUSTER, name, ...more });
const endpoint = (port: number): object => {
  return { endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } } };
};
const assignment = (name: string, more: object, ...ports: readonly number[]): object => {
  return { "@type": ENDPOINTS, cluster_name: name, endpoints: [{ lb_endpoints: ports.map(endpoint), ...more }] };
};

function known(shortName: string, name: string, more: Partial<NodeResourceAnswer>): NodeResourceAnswer {
  const type = { cds: CLUSTER, eds: ENDPOINTS, sds: SECRET }[shortName] ?? shortName;
  return { type, shortName, name, stream: 1, status: "acked", version: "v", ...more };
}

test("each resource is the same, another, missing or extra: by version, else by content", () => {
  const dump = {
    configs: [
      {
        dynamic_active_clusters: [
          { version_info: "v", cluster: cluster("by-version", { connect_timeout: "9s" }) },
          { version_info: "7", cluster: cluster("by-content", { connect_timeout: "1s" }) },
          { version_info: "7", cluster: cluster("other", { connect_timeout: "2s" }) },
          { version_info: "7", cluster: cluster("eds", { type: "EDS" }) },
        ],
        dynamic_warming_clusters: [{ version_info: "v", cluster: cluster("warming") }],
        static_clusters: [{ cluster: cluster("static") }],
      },
      {
        dynamic_endpoint_configs: [
          { endpoint_config: assignment("eds", { priority: 0, locality: {} }, 2, 1) },
          { endpoint_config: assignment("by-content", {}, 3) },
        ],
      },
      {
        dynamic_active_secrets: [
          {
            version_info: "7",
            secret: { "@type": SECRET, name: "key", generic_secret: { secret: { inline_string: "[redacted]" } } },
          },
        ],
      },
      { dynamic_listeners: [{ name: "l", error_state: { details: "no" } }] },
    ],
  };
  const held = envoyResourcesIn(dump, api) ?? [];
  const redacted = { "@type": SECRET, name: "key", generic_secret: { secret: { inline_string: "[redacted]" } } };
  const atServer = [
    known("cds", "by-version", { body: cluster("by-version", { connect_timeout: "9s" }) }),
    known("cds", "by-content", { body: cluster("by-content", { connect_timeout: "1s" }) }),
    known("cds", "other", { body: cluster("other", { connect_timeout: "1s" }), status: "pending" }),
    known("cds", "warming", { body: cluster("warming") }),
    known("cds", "gone", { body: cluster("gone") }),
    known("cds", "on-its-way", { body: cluster("on-its-way"), status: "pending" }),
    known("eds", "eds", { body: assignment("eds", {}, 1, 2) }),
    known("sds", "key", { body: redacted }),
    known("rtds", "not-shown", {}),
  ];
  const shown = Object.fromEntries(
    compareWithEnvoy(atServer, held, api).map(({ type, name, verdict, fields = [] }) => [
      `${type.slice(type.lastIndexOf(".") + 1)} ${name}`,
      [verdict, ...fields.map(({ path }) => path)],
    ]),
  );
  expect(shown).toEqual({
    "Cluster by-content": ["same"],
    "Cluster by-version": ["same"],
    "Cluster eds": ["extra"],
    "Cluster gone": ["missing"],
    "Cluster other": ["other-version", "connect_timeout"],
    "Cluster warming": ["same"],
    "ClusterLoadAssignment eds": ["same"],
    "Secret key": ["same"],
  });
  expect(envoyResourcesIn({ nodes: [] }, api)).toBeUndefined();
});

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Envoy's admin interface, with this answer. */
async function adminOf(answer: unknown): Promise<string> {
  const server: Server = createServer((request, response) => {
    response.statusCode = request.url === "/config_dump?include_eds" ? 200 : 404;
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

test("xds diff --node --envoy prints what is not the same, and exits with 1 if anything is", async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one", "two") });
  cleanups.push(() => site.remove());
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  const node = await serving.connect("edge-1");
  cleanups.push(() => node.close());
  await until("it has ACKed", async () => (await serving.xds("wait")).code === 0);
  const one = { version_info: "1", cluster: cluster("one") };
  const partial = await adminOf({ configs: [{ dynamic_active_clusters: [one] }] });
  expect(await serving.xds("diff", "--node", "edge-1", "--envoy", partial)).toEqual({
    code: 1,
    stdout: "TYPE     NAME  ENVOY    SERVER  FIELDS\nCluster  two   missing  acked\n2 resources: 1 same, 1 missing\n",
    stderr: "",
  });
  const two = { version_info: "1", cluster: cluster("two") };
  const whole = await adminOf({ configs: [{ dynamic_active_clusters: [one, two] }] });
  expect(await serving.xds("diff", "--node", "edge-1", "--envoy", whole)).toMatchObject({
    code: 0,
    stdout: "2 resources: 2 same\n",
  });
  const other = await serving.xds("diff", "--node", "edge-1", "--envoy", await adminOf({}));
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("is no configuration dump")]);
  expect((await serving.xds("diff", "--node", "edge-1", "--envoy", "127.0.0.1:1")).code).toBe(69);
  expect((await serving.xds("diff", "--node", "edge-9", "--envoy", whole)).code).toBe(1);
  expect((await serving.xds("diff", "--node", "edge-1")).code).toBe(2);
  expect((await serving.xds("diff")).code).toBe(2);
});
