import { fileURLToPath } from "node:url";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { encodeNode } from "@xdskit/envoy-api/internal";
import { anonymousNode, type Node } from "@xdskit/protocol";
import { bootstrapFromEnvironment } from "../config/bootstrap-environment.ts";
import type { ClientConfig } from "../config/client-config.ts";
import type { ConfigDefaults } from "../config/config-defaults.ts";
import { type BootstrapInput, loadBootstrap } from "../config/load-bootstrap.ts";
import type { ConfigProblem } from "../error.ts";
import { configError } from "./check-options.ts";
import type { FlatOptions } from "./flat-options.ts";
import { withFields } from "./node-identity.ts";
import { configOfFile, configOfServers, dialectIn } from "./server-config.ts";

/** The configuration of a client, and warnings about it. */
export interface LoadedConfig {
  readonly config: ClientConfig;
  readonly warnings: readonly ConfigProblem[];
}

/**
 * Loads the configuration from a bootstrap, servers, a file, or else from the bootstrap in the environment, as a gRPC
 * client does. Expects checked options. Throws an `XdsClientError` with every problem in the bootstrap.
 */
export function loadConfig(
  options: FlatOptions,
  api: EnvoyApi,
  environment: Readonly<Record<string, string | undefined>>,
): LoadedConfig {
  const { bootstrap, server, file } = options;
  if (file !== undefined) return { config: configOfFile(options, file), warnings: [] };
  if (server !== undefined) {
    return { config: configOfServers(options, typeof server === "string" ? [server] : server), warnings: [] };
  }
  const input = bootstrap === undefined ? bootstrapFromEnvironment(environment) : inputOf(bootstrap);
  const { config, problems } = loadBootstrap(input ?? { value: {} }, { api, defaults: defaultsIn(options) });
  if (config === undefined) throw configError(problems);
  return { config: withNode(config, options.node), warnings: problems };
}

function inputOf(bootstrap: NonNullable<FlatOptions["bootstrap"]>): BootstrapInput {
  if (bootstrap instanceof URL) return { path: fileURLToPath(bootstrap) };
  return typeof bootstrap === "string" ? { path: bootstrap } : { value: bootstrap };
}

/** The defaults, from options, for what a bootstrap or a config source in a resource leaves out. */
export function defaultsIn(options: FlatOptions): ConfigDefaults {
  const { autoVersion, isLenient, isMoveOnly, fileFormat, backOff, maxResponseBytes, variant, mode, parameters } =
    options;
  return {
    dialect: dialectIn(options),
    ...(autoVersion !== undefined && { autoVersion }),
    ...(isLenient !== undefined && { isLenient }),
    ...(isMoveOnly !== undefined && { isMoveOnly }),
    ...(fileFormat !== undefined && { fileFormat }),
    ...(backOff !== undefined && { backOff }),
    ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    ...(variant !== undefined && { variant }),
    ...(mode !== undefined && { mode }),
    ...(parameters !== undefined && { parameters: new Map(Object.entries(parameters)) }),
  };
}

/** Fills the node fields that the bootstrap leaves out from the options. */
function withNode(config: ClientConfig, node: FlatOptions["node"]): ClientConfig {
  if (node === undefined) return config;
  const given: Partial<Node> = typeof node === "string" ? { id: node } : node;
  const told = new Map<string, unknown>(Object.entries(config.node));
  const added: Partial<Node> = Object.fromEntries(Object.entries(given).filter(([field]) => !isTold(told.get(field))));
  const { nodeBytes } = config;
  return {
    ...config,
    node: withFields(config.node, added),
    // Protobuf merges concatenated messages.
    nodeBytes: nodeBytes && Buffer.concat([nodeBytes, encodeNode(withFields(anonymousNode, added))]),
  };
}

function isTold(value: unknown): boolean {
  if (value === undefined || value === "") return false;
  return typeof value !== "object" || value === null || Object.keys(value).length > 0;
}
