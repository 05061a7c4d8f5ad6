import type { ApiVersion } from "@xdskit/protocol";
import type { LoadPlace, LoadReporterReport, LoadTally } from "@xdskit/protocol/internal";
import {
  aFunction,
  aName,
  aText,
  fields,
  isObject,
  mistake,
  objectOr,
  oneOf,
  type Rule,
  type RulesOf,
  rule,
} from "@xdskit/protocol/internal";
import { argumentCheck, aServer } from "../argument.ts";
import type { ServerConfig } from "../config/client-config.ts";
import type { XdsResource } from "../resource/xds-resource.ts";

/**
 * Where to report load. Without `cluster` or `server` it is the `load_stats_config` of the bootstrap, else the best
 * server of the configuration.
 */
export interface LoadReportingOptions {
  /**
   * Report to the `lrs_server` of this Cluster, which may be the Cluster's own source. A Cluster without one wants no
   * reports: its load is dropped and no server is called.
   */
  readonly cluster?: XdsResource;
  /** One of `config.servers`, or another. Not with `cluster`. */
  readonly server?: ServerConfig;
  /**
   * The API version of the method. Not with `cluster`.
   * @default that of the client's configuration
   */
  readonly apiVersion?: ApiVersion;
  /** Called with each event of the stream, for logs. Its exceptions are rethrown as uncaught. */
  readonly onReport?: (report: LoadReporterReport) => void;
}

/**
 * Counts requests and reports load to one server, for the clusters and at the interval that it asks for (C-LRS-01,
 * C-LRS-04). The stream opens at once and reopens when it ends; counts in between are kept (C-LRS-05, C-LRS-07).
 */
export interface LoadReporting {
  /** The server that receives the reports; undefined: the Cluster wants none. */
  readonly server: ServerConfig | undefined;
  /** Counts a request that is sent. */
  start(place: LoadPlace): LoadCall;
  /**
   * Counts a request dropped before it was sent. A string is a cluster; `category` is one of its drop policies, if any.
   */
  drop(place: string | Pick<LoadPlace, "cluster" | "service">, category?: string): void;
  /**
   * Counts a new connection. Only v3 reports connections; the counts are 0 unless a program calls this, and Envoy does
   * not.
   */
  connect(place: Omit<LoadPlace, "address">): LoadConnection;
  /** Stops reporting; counts since the last report are lost. */
  close(): void;
}

/** A request in progress; only the first call of `succeed` or `fail` counts. */
export interface LoadCall {
  /** `metrics` are values by name that the endpoint reported, such as `cpu_utilization`. */
  succeed(metrics?: Readonly<Record<string, number>>): void;
  fail(metrics?: Readonly<Record<string, number>>): void;
}

/** A connection that was started: it succeeds or fails, and is closed later. Repeated calls do not count. */
export interface LoadConnection {
  /** Established: counts in `total_new_connections`, and in `total_active_connections` until it is closed. */
  succeed(): void;
  /** Not established: counts in `total_fail_connections`. */
  fail(): void;
  close(): void;
}

const optionRules: RulesOf<LoadReportingOptions> = {
  cluster: rule("a Cluster, as get and list find it", isCluster),
  server: aServer,
  apiVersion: oneOf("v2", "v3"),
  onReport: aFunction,
};

const optionFields = fields(optionRules);

/** With `cluster`, the server and the API version come from the Cluster. */
export const loadReportingRules: Rule = (value) => {
  const problems = optionFields(value);
  if (problems.length > 0) return problems;
  const { cluster, server, apiVersion } = value as LoadReportingOptions;
  const isTwice = cluster !== undefined && (server !== undefined || apiVersion !== undefined);
  return isTwice ? [mistake("", "expected a cluster or a server, got both")] : [];
};

const locality = fields({ region: aText, zone: aText, subZone: aText });
const priority = rule("a whole number from 0", (value) => Number.isInteger(value) && Number(value) >= 0);
const aPlace: Rule = fields(
  { cluster: aName, service: aText, locality, priority, address: aText },
  { needed: ["cluster"] },
);
const aTarget: Rule = objectOr(aName, fields({ cluster: aName, service: aText }, { needed: ["cluster"] }));

const checkStart = argumentCheck("start", { place: aPlace });
const checkDrop = argumentCheck("drop", { place: aTarget });
const checkConnect = argumentCheck("connect", { place: aPlace });

/** A Cluster of either API version. */
function isCluster(value: unknown): boolean {
  return isObject(value) && typeof value["type"] === "string" && /\.Cluster$/.test(value["type"]) && "json" in value;
}

/** Load reporting that counts into a tally until it is closed. */
export function openLoadReporting(tally: LoadTally, server: ServerConfig, closed: () => void): LoadReporting {
  let isOpen = true;
  return {
    server,
    start(place) {
      checkStart(place);
      if (!isOpen) return uncountedCall;
      const load = tally.start(place);
      return {
        succeed: (metrics) => load.finish("succeeded", metrics),
        fail: (metrics) => load.finish("failed", metrics),
      };
    },
    drop(place, category) {
      checkDrop(place);
      if (isOpen) tally.drop(typeof place === "string" ? { cluster: place } : place, category);
    },
    connect(place) {
      checkConnect(place);
      return isOpen ? tally.connect(place) : uncountedConnection;
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      closed();
    },
  };
}

const uncountedCall: LoadCall = { succeed() {}, fail() {} };
const uncountedConnection: LoadConnection = { succeed() {}, fail() {}, close() {} };

/** For a Cluster that wants no load reports. */
export const unreportedLoad: LoadReporting = {
  server: undefined,
  start: () => uncountedCall,
  drop() {},
  connect: () => uncountedConnection,
  close() {},
};
