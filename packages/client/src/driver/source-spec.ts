import type { SourceSpec } from "@xdskit/protocol/internal";
import type { SourceConfig } from "../config/client-config.ts";
import { envoyBackOff } from "../config/config-defaults.ts";

/** Converts a source to the form that the machine uses. */
export function sourceSpecOf(source: SourceConfig): SourceSpec {
  const { id, dialect } = source;
  const common = { id, dialect, absenceMs: source.initialFetchTimeoutMs };
  const separate = { variant: "sotw", isAggregated: false, failover: "cycle", nodeIn: "every-request" } as const;
  switch (source.kind) {
    case "grpc": {
      const { variant, isAggregated, failover, nodeIn, rateLimit, backOff, servers } = source;
      const given = { variant, isAggregated, failover, nodeIn, rateLimit, backOff };
      return { ...common, access: "stream", servers: servers.length, ...given };
    }
    case "rest": {
      const servers = source.servers.length;
      return { ...common, ...separate, access: "poll", servers, rateLimit: undefined, backOff: envoyBackOff };
    }
    case "file":
      return { ...common, ...separate, access: "file", servers: 1, rateLimit: undefined, backOff: envoyBackOff };
  }
}
