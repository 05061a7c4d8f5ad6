import { expect } from "vitest";
import type { ClientConfig, ServerConfig } from "../../src/config/client-config.ts";
import type { ConfigDefaults } from "../../src/config/config-defaults.ts";
import { loadBootstrap } from "../../src/config/load-bootstrap.ts";
import { plainServer, testApi } from "./sources.ts";

/** The management server that `bootstrapOf` names, with what is the default. */
export const server: ServerConfig = {
  ...plainServer,
  name: "control_plane",
  target: "dns:///control.example:8443",
};

/** The configuration, of what has to be without any mistake. */
export function good(value: unknown, defaults: ConfigDefaults = {}): ClientConfig {
  const { config, problems } = loadBootstrap({ value }, { api: testApi(), defaults, fileExists: () => true });
  expect(problems).toEqual([]);
  if (config === undefined) throw new Error("expected a configuration");
  return config;
}

export function told(value: unknown, defaults: ConfigDefaults = {}): readonly string[] {
  const { config, problems } = loadBootstrap({ value }, { api: testApi(), defaults, fileExists: () => true });
  expect(config === undefined).toBe(problems.some(({ severity }) => severity === "error"));
  return problems.map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
}

export function bootstrapOf(cluster: object, adsConfig: object = {}): object {
  return {
    dynamic_resources: {
      ads_config: {
        api_type: "GRPC",
        transport_api_version: "V3",
        grpc_services: [{ envoy_grpc: { cluster_name: "control_plane" } }],
        ...adsConfig,
      },
    },
    static_resources: { clusters: [{ name: "control_plane", ...cluster }] },
  };
}

export const http2 = { http2_protocol_options: {} };
export const address = (host: string, port = 80): object => ({ socket_address: { address: host, port_value: port } });
export const assigned = (...addresses: readonly object[]): object => ({
  load_assignment: {
    cluster_name: "x",
    endpoints: [{ lb_endpoints: addresses.map((each) => ({ endpoint: { address: each } })) }],
  },
});
