import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentDigest, type EnvoyApi, type ResponseFormat } from "@xdskit/envoy-api";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { createResource, type Resource, type Transaction, type TypeUrl } from "@xdskit/protocol";
import { createFileExport, type FileExport, type FileOutput } from "@xdskit/server";
import { parse } from "yaml";
import { testApi } from "../support/test-server.ts";

const typed = (name: string): string => `type.googleapis.com/${name}`;
const ADS = { resource_api_version: "V3", ads: {} };

export const CDS = "type.googleapis.com/envoy.config.cluster.v3.Cluster" as TypeUrl;
export const EDS = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment" as TypeUrl;
export const RDS = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration" as TypeUrl;
export const LDS = "type.googleapis.com/envoy.config.listener.v3.Listener" as TypeUrl;
export const SDS = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret" as TypeUrl;

/** A resource as an operator writes it. Throws on one that is no good. */
export function read(value: object, api: EnvoyApi = testApi()): Resource {
  const { input, problems } = api.readResource(value);
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return createResource(input, contentDigest);
}

export function cluster(name: string, more: object = {}): Resource {
  return read({ "@type": CDS, name, type: "EDS", eds_cluster_config: { eds_config: ADS }, ...more });
}

export function endpoints(name: string, port: number): Resource {
  const endpoint = { address: { socket_address: { address: "127.0.0.1", port_value: port } } };
  return read({ "@type": EDS, cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] });
}

export function routes(name: string, target: string): Resource {
  const host = { name: "all", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: target } }] };
  return read({ "@type": RDS, name, virtual_hosts: [host] });
}

export function listener(name: string, table: string, more: object = {}): Resource {
  const manager = {
    "@type": typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
    stat_prefix: name,
    rds: { route_config_name: table, config_source: ADS },
  };
  return read({
    "@type": LDS,
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: 80 } },
    filter_chains: [{ filters: [{ name: "hcm", typed_config: manager }], ...more }],
  });
}

/** A filter chain that asks for its certificate. */
export function tlsFrom(secret: string): object {
  const config = { tls_certificate_sds_secret_configs: [{ name: secret, sds_config: ADS }] };
  const type = typed("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext");
  return { transport_socket: { name: "tls", typed_config: { "@type": type, common_tls_context: config } } };
}

export function secret(name: string, key: string): Resource {
  const tls = { certificate_chain: { inline_string: "chain" }, private_key: { inline_string: key } };
  return read({ "@type": SDS, name, tls_certificate: tls });
}

export function put(...puts: readonly Resource[]): Transaction {
  return { changes: [{ layer: "base", puts }] };
}

export function gone(...deletes: readonly Resource[]): Transaction {
  return { changes: [{ layer: "base", deletes: deletes.map(({ type, name }) => ({ type, name })) }] };
}

export function both(...transactions: readonly Transaction[]): Transaction {
  return { changes: transactions.flatMap(({ changes }) => changes) };
}

const IN_MEMORY = "/dev/shm";

/** A directory that goes when the test is over; in memory, where there is that, for a test that writes more than a disk likes to flush. */
export function temporaryDirectory(where: "on disk" | "in memory" = "on disk"): Disposable & { readonly path: string } {
  const root = where === "in memory" && existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir();
  const path = mkdtempSync(join(root, "xds-files-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** What a writer did, in its order: `+` for a file that was written, `-` for one that was removed. */
export interface WatchedExport {
  readonly writing: FileExport;
  readonly changes: string[];
  readonly problems: string[];
}

export async function startExport(output: FileOutput, makeBeforeBreak: boolean = true): Promise<WatchedExport> {
  const writing = createFileExport({
    api: testApi(),
    files: { settleMs: 20, ...output },
    dialect: { makeBeforeBreak },
  });
  const changes: string[] = [];
  const problems: string[] = [];
  writing.on("files-written", ({ written, removed }) => {
    changes.push([...[...written].sort().map((path) => `+${path}`), ...removed.map((path) => `-${path}`)].join(" "));
  });
  writing.on("files-problem", ({ message }) => problems.push(message));
  writing.on("invariant-broken", ({ error }) => problems.push(String(error)));
  await writing.start();
  return { writing, changes, problems };
}

/** Files below a directory by their paths, without what belongs to the writer; links are followed. */
export function filesBelow(directory: string, below = ""): readonly string[] {
  return readdirSync(join(directory, below))
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => {
      const path = below === "" ? name : `${below}/${name}`;
      return statSync(join(directory, path)).isDirectory() ? filesBelow(directory, path) : [path];
    })
    .sort();
}

/** A response as a reader of files takes it. Throws where a reader would. */
export interface ReadResponse {
  readonly versionInfo: string;
  readonly typeUrl: string;
  readonly resources: readonly { readonly type: string; readonly name: string; readonly bytes: Uint8Array }[];
}

/** Reads a file in any of its forms. */
export function readResponse(path: string, format: ResponseFormat): ReadResponse {
  return parseResponse(readFileSync(path), format);
}

export function parseResponse(content: Uint8Array, format: ResponseFormat): ReadResponse {
  if (format === "pb") {
    const { versionInfo, typeUrl, resources } = decodeSotwResponse(content);
    return {
      versionInfo,
      typeUrl,
      resources: resources.map(({ typeUrl: type, value }) => {
        const { input, problems } = testApi().readEncodedResource(type as TypeUrl, value);
        if (input === undefined) throw new Error(JSON.stringify(problems));
        return { type: input.type, name: input.name, bytes: input.bytes };
      }),
    };
  }
  const value = valueIn(Buffer.from(content).toString("utf8"), format) as {
    readonly [key: string]: unknown;
  };
  const list = (value["resources"] ?? []) as readonly object[];
  return {
    versionInfo: String(value["versionInfo"] ?? value["version_info"] ?? ""),
    typeUrl: String(value["typeUrl"] ?? value["type_url"] ?? ""),
    resources: list.map((each) => {
      const { type, name, bytes } = read(each);
      return { type, name, bytes };
    }),
  };
}

function valueIn(text: string, format: ResponseFormat): unknown {
  if (format === "json") return JSON.parse(text);
  if (format === "yaml") return parse(text, { version: "1.1" });
  const { value, problems } = testApi().readText("envoy.service.discovery.v3.DiscoveryResponse", text);
  if (value === undefined) throw new Error(JSON.stringify(problems));
  return value;
}
