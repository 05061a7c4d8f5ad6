import type { ApiVersion, LoadPlace, LoadReporterReport, LoadTally } from "@xdskit/protocol";
import {
  aFunction,
  aName,
  argumentCheck,
  aServer,
  aText,
  fields,
  isObject,
  mistake,
  objectOr,
  oneOf,
  type Rule,
  type RulesOf,
  rule,
} from "../argument.ts";
import type { ServerConfig } from "../config/client-config.ts";
import type { XdsResource } from "../resource/xds-resource.ts";

/**
 * To whom load is reported: to the `load_stats_config` of the bootstrap, or without one to the best server of the client's own configuration, unless a
 * Cluster or a server is given.
 */
export interface LoadReportingOptions {
  /**
   * To whom this Cluster says by its `lrs_server`, which may be where it came from itself. A Cluster that says nothing wants nothing to be reported: what is
   * counted then goes nowhere, and nobody is called.
   */
  readonly cluster?: XdsResource;
  /** One of `config.servers`, or any other; not with `cluster`. */
  readonly server?: ServerConfig;
  /** Of the method; that of the client's own configuration unless given. Not with `cluster`. */
  readonly apiVersion?: ApiVersion;
  /** Called with what happens on the stream, for logs. What it throws is thrown as one that nobody catches. */
  readonly onReport?: (report: LoadReporterReport) => void;
}

/**
 * Counts what becomes of requests, and reports it to one server, as often and as far as that asks for it (C-LRS-01, C-LRS-04). The stream is
 * opened at once, and again whenever it ends; what is counted meanwhile is not lost (C-LRS-05, C-LRS-07).
 */
export interface LoadReporting {
  /** Who is told; undefined: nobody, for the Cluster does not want it. */
  readonly server: ServerConfig | undefined;
  /** A request is sent. */
  start(place: LoadPlace): LoadCall;
  /** A request was dropped before it was sent: a text is a cluster; the category is one of its drop policies, or none. */
  drop(place: string | Pick<LoadPlace, "cluster" | "service">, category?: string): void;
  /** A connection is begun. Only v3 has counts of connections, and they are 0 unless a program tells of them; Envoy does not. */
  connect(place: Omit<LoadPlace, "address">): LoadConnection;
  /** Reports nothing any more; what was counted since the last report is lost. */
  close(): void;
}

/** A request under way; the first of the two that is called counts. */
export interface LoadCall {
  /** Metrics are what the endpoint said of itself, by name, such as `cpu_utilization`. */
  succeed(metrics?: Readonly<Record<string, number>>): void;
  fail(metrics?: Readonly<Record<string, number>>): void;
}

/** A connection that is begun: it comes up or fails, and one that came up is closed some day. What comes a second time does not count. */
export interface LoadConnection {
  /** It is up: `total_new_connections`, and one of `total_active_connections` until it is closed. */
  succeed(): void;
  /** It did not come up: `total_fail_connections`. */
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

/** A Cluster says everything of the server itself. */
export const loadReportingRules: Rule = (value) => {
  const problems = optionFields(value);
  if (problems.length > 0) return problems;
  const { cluster, server, apiVersion } = value as LoadReportingOptions;
  const isTwice = cluster !== undefined && (server !== undefined || apiVersion !== undefined);
  return isTwice ? [mistake("", "expected a cluster or a server, got both")] : [];
};

const locality = fields({ region: aText, zone: aText, subZone: aText });
const priority = rule("a whole number from 0", (value) => Number.isInteger(value) && Number(value) >= 0);
const aPlace: Rule = fields({ cluster: aName, service: aText, locality, priority, address: aText }, ["cluster"]);
const aTarget: Rule = objectOr(aName, fields({ cluster: aName, service: aText }, ["cluster"]));

const checkStart = argumentCheck("start", { place: aPlace });
const checkDrop = argumentCheck("drop", { place: aTarget });
const checkConnect = argumentCheck("connect", { place: aPlace });

/** Of either version of the API. */
function isCluster(value: unknown): boolean {
  return isObject(value) && typeof value["type"] === "string" && /\.Cluster$/.test(value["type"]) && "json" in value;
}

/** What counts into a tally until it is closed. */
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

/** Of a Cluster that does not want its load to be reported. */
export const unreportedLoad: LoadReporting = {
  server: undefined,
  start: () => uncountedCall,
  drop() {},
  connect: () => uncountedConnection,
  close() {},
};
