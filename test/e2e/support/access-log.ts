import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./wait.ts";

/** A line of Envoy's access log. */
export interface AccessLine {
  /** When the request began. */
  readonly at: string;
  readonly path: string;
  /** "0" if the client disconnected before a response. */
  readonly code: string;
  /** Response flags such as "NR" or "UF,URX"; "-" for none. */
  readonly flags: string;
  readonly details: string;
  readonly cluster: string;
}

/** The access log of an Envoy, which the test reads. */
export interface AccessLog extends Disposable {
  /** The field `access_log` of an HttpConnectionManager. */
  readonly field: readonly object[];
  /** The lines since the last call, up to the only request with this path. */
  upTo(path: string, withinMs: number): Promise<readonly AccessLine[]>;
}

/** Creates an empty access log in a temporary directory. */
export function createAccessLog(): AccessLog {
  const directory = mkdtempSync(join(tmpdir(), "xds-e2e-log-"));
  const path = join(directory, "access.jsonl");
  let taken = 0;
  return {
    field: [
      {
        name: "envoy.access_loggers.file",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
          path,
          log_format: { json_format: FORMAT },
        },
      },
    ],
    async upTo(last, withinMs) {
      const { value } = await until({ says: `Envoy logs ${last}`, withinMs }, () => {
        const lines = readFileSync(path, "utf8").split("\n").slice(taken, -1);
        const read = lines.map((line) => JSON.parse(line) as AccessLine);
        const index = read.findIndex((line) => line.path === last);
        return index === -1 ? undefined : read.slice(0, index + 1);
      });
      taken += value.length;
      return value.slice(0, -1);
    },
    [Symbol.dispose]() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const FORMAT: AccessLine = {
  at: "%START_TIME%",
  path: "%REQ(:PATH)%",
  code: "%RESPONSE_CODE%",
  flags: "%RESPONSE_FLAGS%",
  details: "%RESPONSE_CODE_DETAILS%",
  cluster: "%UPSTREAM_CLUSTER%",
};

/** No route, no such cluster, no endpoint: inconsistent configuration. */
const CONFIGURATION_FLAGS: ReadonlySet<string> = new Set(["NR", "NC", "UH"]);

/** Whether a request has no complete answer with status 200. */
export function isLost({ code, flags }: AccessLine): boolean {
  return String(code) !== "200" || flags !== "-";
}

/** Counts lost requests by reason: configuration, or anything else. */
export function lossesIn(lines: readonly AccessLine[]): {
  readonly lostToConfiguration: Readonly<Record<string, number>>;
  readonly otherErrors: Readonly<Record<string, number>>;
} {
  const lostToConfiguration: Record<string, number> = {};
  const otherErrors: Record<string, number> = {};
  for (const line of lines) {
    if (!isLost(line)) continue;
    const { code, flags, details } = line;
    const isConfiguration =
      flags.split(",").some((flag) => CONFIGURATION_FLAGS.has(flag)) || /no_cluster|cluster_not_found/.test(details);
    const counts = isConfiguration ? lostToConfiguration : otherErrors;
    const text = `${code} ${flags} ${details}`;
    counts[text] = (counts[text] ?? 0) + 1;
  }
  return { lostToConfiguration, otherErrors };
}
