import type { ApiVersion } from "@xdskit/protocol";
import type { ClientConfig, GrpcSource, ServerConfig } from "../config/client-config.ts";

/** A server, and the version of its methods. */
export interface SideServer {
  readonly server: ServerConfig;
  readonly apiVersion: ApiVersion;
}

/** The source that most comes from: load is reported and health is checked for its best server, unless something else is said. */
export function mainSourceOf(config: ClientConfig): GrpcSource | undefined {
  const { ads, defaultSource, clusters, listeners, authorities } = config;
  const sources = [ads, defaultSource, clusters?.source, listeners?.source, ...authorities.map(({ source }) => source)];
  return sources.find((source) => source?.kind === "grpc");
}

/** The best server of a source. */
export function bestServerOf({ servers: [server], apiVersion }: GrpcSource): SideServer | undefined {
  return server && { server, apiVersion };
}
