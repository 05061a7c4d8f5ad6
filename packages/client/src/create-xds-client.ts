import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import { ClientMachine, opaqueTraits } from "@xdskit/protocol/internal";
import { isOfGrpc } from "./config/authority.ts";
import { type ClientConfig, sourcesIn } from "./config/client-config.ts";
import { Driver } from "./driver/driver.ts";
import { fittingExtensions, onlyAds } from "./mesh/mesh-validators.ts";
import type { Meshes } from "./mesh/meshes.ts";
import { StatsCounter } from "./observe/stats.ts";
import { tell } from "./observe/tell.ts";
import { checkOptions } from "./options/check-options.ts";
import { defaultsIn, loadConfig } from "./options/load-config.ts";
import { identify, nodeEncoder } from "./options/node-identity.ts";
import type { CacheOptions, XdsClientOptions } from "./options/options.ts";
import { dialectIn } from "./options/server-config.ts";
import { ResponseReader } from "./reading/response-reader.ts";
import type { ResourceValidator } from "./reading/validators.ts";
import { kindOf } from "./resource/kind-of.ts";
import { keepWhatIsHeld } from "./store/keep.ts";
import { createResourceStore, type ResourceStore } from "./store/resource-store.ts";
import { createSourceCache } from "./store/source-cache.ts";
import { createFileTransport } from "./transport/file/file-transport.ts";
import { Connections } from "./transport/grpc/connection.ts";
import { createGrpcTransport } from "./transport/grpc/grpc-transport.ts";
import { createRestTransport } from "./transport/rest/rest-transport.ts";
import { OpenClient, type XdsClient } from "./xds-client.ts";

/**
 * Creates a client. It connects on the first watch. Close it when done, or use `await using`.
 *
 * @throws {XdsClientError} `CONFIG_INVALID`, with every problem in the options or the bootstrap
 */
export async function createXdsClient(given: XdsClientOptions = {}): Promise<XdsClient> {
  const options = checkOptions(given, process.env);
  options.signal?.throwIfAborted();
  const { environment = process.env, descriptors, clientPgv = true, validators = [], onReport, onWarning } = options;
  const api = options.api ?? createEnvoyApi(descriptors === undefined ? {} : { descriptors });
  const { config, warnings } = loadConfig(options, api, environment);
  if (onWarning !== undefined) for (const warning of warnings) tell(onWarning, warning);
  const node = identify(config.node, { hasTtl: dialectIn(options).ttl });
  const encodeNode = nodeEncoder(config, node);
  const connections = new Connections();
  const stats = new StatsCounter();
  const store = options.cache && openStore(options.cache, api);
  await store?.load();
  options.signal?.throwIfAborted();
  const cache = store && createSourceCache(store, { node: () => client.node, configured: sourcesIn(config) });
  const keep = cache && keepWhatIsHeld(cache, (source) => driver.states(source));
  const driver: Driver = new Driver({
    machine: new ClientMachine({ traits: (type) => api.traits(type) ?? opaqueTraits(type), node }),
    transports: {
      grpc: createGrpcTransport({ api, encodeNode, connections }),
      rest: createRestTransport({ api, node: () => encodeNode(client.node) }),
      file: createFileTransport({ api }),
    },
    reader: new ResponseReader({
      api,
      isPgvOn: clientPgv,
      validators: [...validators, ...meshValidators(api, config, () => client.meshes)],
    }),
    report: (report) => {
      stats.count(report);
      keep?.(report);
      // A source where nothing warms gets no other trigger for its ACK (C-ACK-15).
      if (report.kind === "response-accepted" && kindOf(report.type, api) === "cds")
        client.meshes.lookAtWarming(report.source);
      tell(onReport, report);
    },
    restore: (source) => cache?.restore(source),
    forget: (source) => {
      stats.forget(source);
      cache?.release(source);
    },
  });
  const client: OpenClient = new OpenClient({
    api,
    config,
    defaults: defaultsIn(options),
    node,
    driver,
    stats,
    store,
    connections,
    encodeNode,
    signal: options.signal,
  });
  return client;
}

function openStore({ path, maxBytes, unusedMs, secrets, onProblem }: CacheOptions, api: EnvoyApi): ResourceStore {
  return createResourceStore({
    path,
    api,
    onProblem: (message) => tell(onProblem, message),
    ...(maxBytes !== undefined && { maxBytes }),
    ...(unusedMs !== undefined && { unusedMs }),
    ...(secrets !== undefined && { secrets }),
  });
}

/** A client with a gRPC bootstrap rejects what gRPC clients reject. */
function meshValidators(api: EnvoyApi, config: ClientConfig, meshes: () => Meshes): readonly ResourceValidator[] {
  return [fittingExtensions(meshes), ...(isOfGrpc(config) ? onlyAds(api) : [])];
}
