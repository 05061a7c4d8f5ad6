import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { anonymousNode } from "@xdskit/protocol";
import { clientDialect } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { plainServer } from "../../test/support/sources.ts";
import { authorityFor, listenerNameFor } from "./authority.ts";
import { bootstrapFromEnvironment } from "./bootstrap-environment.ts";
import type { GrpcSource, ServerConfig } from "./client-config.ts";
import { systemTls } from "./config-defaults.ts";
import { loadBootstrap } from "./load-bootstrap.ts";

const api = createEnvoyApi();
const path = fileURLToPath(new URL("../../test/bootstraps/grpc.json", import.meta.url));

const server = (target: string, more: Partial<ServerConfig> = {}): ServerConfig => ({
  ...plainServer,
  name: target,
  target,
  connectTimeoutMs: 20_000,
  ...more,
});

const sourceOf = (servers: readonly ServerConfig[], more: Partial<GrpcSource> = {}): unknown => ({
  id: expect.stringMatching(/^ads:/),
  kind: "grpc",
  apiVersion: "v3",
  resourceApiVersion: "v3",
  initialFetchTimeoutMs: 15_000,
  dialect: clientDialect(),
  parameters: undefined,
  servers,
  variant: "sotw",
  isAggregated: true,
  failover: "fallback-when-missing",
  nodeIn: "first-request",
  rateLimit: undefined,
  backOff: { baseMs: 1_000, maxMs: 120_000 },
  ...more,
});

const insecure = [{ type: "insecure" }];
const valid = { server_uri: "x:1", channel_creds: insecure };

function told(value: object): readonly string[] {
  return loadBootstrap({ value }, { api }).problems.map(
    ({ severity, path: at, message }) => `${severity} ${at}: ${message}`,
  );
}

test("C-CFG-09 servers, credentials, features, the node and authorities; what is not known is passed over", () => {
  const main = sourceOf(
    [server("first.example:443", { tls: { ...systemTls, caPath: "/etc/ca.pem" } }), server("second.example:443")],
    { dialect: clientDialect({ ignoreDeletion: true }) },
  );
  const west = sourceOf([server("west.example:443")], {
    dialect: clientDialect({ failOnDataErrors: true, timerIsTransient: true }),
  });
  expect(loadBootstrap({ path }, { api })).toEqual({
    problems: [],
    config: {
      node: {
        ...anonymousNode,
        id: "caller",
        locality: { region: "", zone: "eu-1", subZone: "" },
        metadata: { team: "blue" },
      },
      nodeBytes: undefined,
      mode: "non-proxy",
      ads: main,
      listeners: undefined,
      clusters: undefined,
      authorities: [
        { authorities: [], source: main, listenerTemplate: "listeners/%s" },
        {
          authorities: ["east.example"],
          source: main,
          listenerTemplate: "xdstp://east.example/envoy.config.listener.v3.Listener/%s?env=prod",
        },
        {
          authorities: ["west.example"],
          source: west,
          listenerTemplate: "xdstp://west.example/envoy.config.listener.v3.Listener/%s",
        },
      ],
      defaultSource: main,
      nodeContextParams: new Map(),
      runtimeLayers: [],
      staticResources: undefined,
      loadReports: undefined,
      healthChecks: undefined,
      servers: new Map(),
    },
  });
});

test("C-CFG-09 what the bootstrap cannot say comes from defaults", () => {
  const dialect = clientDialect({ nackPolicy: "apply-valid" });
  const defaults = { variant: "delta", autoVersion: "v2", mode: "proxy", dialect } as const;
  const { config } = loadBootstrap({ value: { xds_servers: [valid] } }, { api, defaults });
  expect(config).toMatchObject({ mode: "proxy", ads: { variant: "delta", apiVersion: "v2", dialect } });
  const features = ["xds_v3", "resource_timer_is_transient_failure"];
  const told3 = loadBootstrap({ value: { xds_servers: [{ ...valid, server_features: features }] } }, { api, defaults });
  expect(told3.config?.ads).toMatchObject({ apiVersion: "v3", dialect: { ...dialect, timerIsTransient: true } });
});

test("C-CFG-09 the first credentials that are known", () => {
  const tlsOf = (channel_creds: readonly object[]): unknown =>
    loadBootstrap({ value: { xds_servers: [{ server_uri: "x:1", channel_creds }] } }, { api }).config?.ads?.servers[0]
      ?.tls;
  expect(tlsOf([{ type: "xds" }, { type: "insecure" }, { type: "tls" }])).toBeUndefined();
  expect(tlsOf([{ type: "google_default" }, { type: "insecure" }])).toEqual(systemTls);
  const config = { certificate_file: "/c", private_key_file: "/k" };
  expect(tlsOf([{ type: "tls", config }])).toEqual({ ...systemTls, certificatePath: "/c", keyPath: "/k" });
});

test("C-CFG-09 mistakes are told at once", () => {
  expect(
    told({
      xds_servers: [
        { channel_creds: [{ type: "alts" }] },
        { server_uri: "x:1" },
        { ...valid, channel_creds: [{ type: "tls", config: { private_key_file: "/k" } }] },
      ],
      node: { id: 5, of_tomorrow: 1 },
      authorities: {
        east: { client_listener_resource_name_template: "xdstp://west/x/%s" },
        west: 5,
        none: { xds_servers: [] },
      },
    }),
  ).toEqual([
    "error xds_servers[0].server_uri: expected the target of a server, such as xds.example.com:443",
    "error xds_servers[0].channel_creds: expected channel_creds of the type insecure, tls or google_default, got alts",
    "error xds_servers[1].channel_creds: expected channel_creds of the type insecure, tls or google_default, got none",
    "error xds_servers[2].channel_creds[0].config: expected certificate_file with private_key_file, got only one of them",
    "error node.id: expected a string, got the number 5",
    'error authorities.east.client_listener_resource_name_template: expected a template that begins with xdstp://east/, got "xdstp://west/x/%s"',
    "error authorities.west: expected an object",
    "error authorities.none.xds_servers: expected a list of at least one server",
  ]);
  expect(told({ xds_servers: [] })).toEqual(["error xds_servers: expected a list of at least one server"]);
  expect(loadBootstrap({ text: "{}", form: "grpc" }, { api }).problems).toEqual([
    { severity: "error", line: 1, column: 1, path: "xds_servers", message: expect.stringContaining("at least one") },
  ]);
});

test("C-FBK-02 servers that are spoken to otherwise are warned of", () => {
  const value = { xds_servers: [{ ...valid, server_features: ["fail_on_data_errors"] }, valid] };
  expect(told(value)).toEqual([
    "warning xds_servers: expected the same server_features of all servers: those of the first are used",
  ]);
});

test("C-CFG-09 the environment: the file goes before the content", () => {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-config-"));
  const file = join(directory, "bootstrap.json");
  writeFileSync(file, JSON.stringify({ xds_servers: [{ ...valid, server_uri: "of-the-file:1" }], of_tomorrow: {} }));
  const targetIn = (environment: Record<string, string>): string | undefined => {
    const input = bootstrapFromEnvironment(environment);
    return input && loadBootstrap(input, { api }).config?.ads?.servers[0]?.target;
  };
  const content = JSON.stringify({ xds_servers: [valid] });
  expect(targetIn({ GRPC_XDS_BOOTSTRAP: file, GRPC_XDS_BOOTSTRAP_CONFIG: content })).toBe("of-the-file:1");
  expect(targetIn({ GRPC_XDS_BOOTSTRAP: "", GRPC_XDS_BOOTSTRAP_CONFIG: content })).toBe("x:1");
  expect(targetIn({})).toBeUndefined();
  rmSync(directory, { recursive: true });
});

test("C-XTP-08 a gRPC client has no default for authorities that it does not know, only for names without one", () => {
  const { config } = loadBootstrap({ path }, { api });
  if (config === undefined) throw new Error("expected a configuration");
  const targetFor = (name: string): unknown => {
    const source = authorityFor(name, config);
    return source?.kind === "grpc" ? source.servers[0]?.target : source;
  };
  expect(targetFor("xdstp://west.example/envoy.config.listener.v3.Listener/a")).toBe("west.example:443");
  expect(targetFor("xdstp://east.example/envoy.config.listener.v3.Listener/a")).toBe("first.example:443");
  expect(targetFor("plain")).toBe("first.example:443");
  expect(targetFor("xdstp://north.example/envoy.config.listener.v3.Listener/a")).toBeUndefined();
  expect(targetFor("xdstp:///envoy.config.listener.v3.Listener/a")).toBeUndefined();
});

test.each([
  ["", "server.example:80", "listeners/server.example:80"],
  ["east.example", "a b/c?d", "xdstp://east.example/envoy.config.listener.v3.Listener/a%20b/c%3Fd?env=prod"],
  ["west.example", "a#$&", "xdstp://west.example/envoy.config.listener.v3.Listener/a%23$&"],
  ["north.example", "a", undefined],
])("C-CFG-09 the listener of the target xds://%s/%s", (authority, target, name) => {
  const { config } = loadBootstrap({ path }, { api });
  if (config === undefined) throw new Error("expected a configuration");
  expect(listenerNameFor(target, authority, config)).toBe(name);
});

test("metadata of the node that is nested too deeply is told with its place", () => {
  let list: readonly unknown[] = [];
  for (let level = 1; level < 32; level++) list = [list];
  expect(told({ xds_servers: [valid], node: { id: "n", metadata: { list } } })).toEqual([
    `error node.metadata.list${"[0]".repeat(31)}: expected at most 32 levels of nesting, got more`,
  ]);
});
