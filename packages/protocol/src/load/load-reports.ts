import { dialectFor } from "../dialect/presets.ts";
import { anonymousNode, type Node } from "../node/node.ts";
import type { Peer } from "../node/node-mapping.ts";
import { finish, type Steps } from "../state/steps.ts";
import type { ClusterLoad, LoadReport, LoadRequest } from "./load-report.ts";
import { type ClusterSums, type LoadLimits, LoadSums, type ReporterId } from "./load-sums.ts";

/** The client feature that `send_all_clusters` needs (S-LRS-03). */
const SEND_ALL_CLUSTERS = "envoy.lrs.supports_send_all_clusters";
/** The shortest report interval: a client without one reports without a pause (client-behaviours H8). */
const SHORTEST_INTERVAL_MS = 1_000;

/** What clients are to report. */
export interface LoadReportSettings {
  /** The report interval in milliseconds; at least 1000. */
  readonly intervalMs: number;
  /** Names of clusters, or `all` clusters of each client. */
  readonly clusters: readonly string[] | "all";
  /** Whether to report each endpoint too. */
  readonly endpoints: boolean;
}

/** Everything that can happen to load reports. */
export type LoadEvent =
  | { readonly kind: "reporter-opened"; readonly reporter: ReporterId; readonly peer: Peer; readonly at: number }
  /** The first one names the node and is answered with the request. */
  | {
      readonly kind: "report-received";
      readonly reporter: ReporterId;
      readonly report: LoadReport;
      readonly at: number;
    }
  | { readonly kind: "reporter-closed"; readonly reporter: ReporterId }
  | { readonly kind: "settings-changed"; readonly settings: LoadReportSettings };

/** Everything that load reports can ask for. */
export type LoadEffect = {
  /** Send a client the request that says what to report from now on. */
  readonly kind: "ask";
  readonly reporter: ReporterId;
  readonly request: LoadRequest;
};

/** A client that reports load. Times are in milliseconds. */
export interface ReporterState {
  readonly reporter: ReporterId;
  readonly peer: Peer;
  /** Undefined before the first report. */
  readonly node: Node | undefined;
  readonly asked: LoadRequest | undefined;
  readonly reports: number;
  readonly openedAt: number;
  readonly lastAt: number | undefined;
}

export interface LoadReportsOptions {
  readonly settings: LoadReportSettings;
  readonly limits: LoadLimits;
  /** Returns the names of a node's clusters, for clients that do not support a request for all. */
  clustersOf(node: Node, peer: Peer): readonly string[];
  /** Which clusters a client may have: others are neither named to it, nor counted when it reports them. */
  visibleTo?(node: Node, peer: Peer): (cluster: string) => boolean;
}

type Reporter = { -readonly [K in keyof ReporterState]: ReporterState[K] };

/** The server's half of load reporting as a state machine (5.6): events in, effects out. Events bring the time. */
export class LoadReports {
  readonly #options: LoadReportsOptions;
  readonly #sums: LoadSums;
  readonly #reporters = new Map<ReporterId, Reporter>();
  #settings: LoadReportSettings;

  constructor(options: LoadReportsOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#sums = new LoadSums(options.limits);
  }

  get settings(): LoadReportSettings {
    return this.#settings;
  }

  get reporters(): Iterable<ReporterState> {
    return this.#reporters.values();
  }

  get reporterCount(): number {
    return this.#reporters.size;
  }

  get clusters(): Iterable<ClusterSums> {
    return this.#sums.clusters;
  }

  /** How many entries of reports were dropped because the limits were reached. */
  get leftOut(): number {
    return this.#sums.leftOut;
  }

  on(event: LoadEvent): readonly LoadEffect[] {
    switch (event.kind) {
      case "reporter-opened":
        this.#open(event);
        return [];
      case "report-received":
        return finish(this.receiveInSteps(event));
      case "reporter-closed":
        this.#reporters.delete(event.reporter);
        this.#sums.forget(event.reporter);
        return [];
      case "settings-changed":
        this.#settings = event.settings;
        return [...this.#reporters.values()].flatMap((reporter) =>
          reporter.node === undefined ? [] : this.#ask(reporter, reporter.node),
        );
      default:
        return event satisfies never;
    }
  }

  #open({ reporter, peer, at }: Extract<LoadEvent, { kind: "reporter-opened" }>): void {
    const nothingYet = { node: undefined, asked: undefined, reports: 0, lastAt: undefined };
    this.#reporters.set(reporter, { reporter, peer, openedAt: at, ...nothingYet });
  }

  /**
   * As `on`, in steps; the report of a client that disconnects meanwhile is added in part. Other events may happen between
   * the steps, but no other report.
   */
  *receiveInSteps(event: Extract<LoadEvent, { kind: "report-received" }>): Steps<readonly LoadEffect[]> {
    const { reporter: id, report, at } = event;
    const reporter = this.#reporters.get(id);
    if (reporter === undefined) return [];
    const isFirst = reporter.node === undefined;
    // Later reports may omit or repeat the node.
    reporter.node ??= report.node ?? anonymousNode;
    reporter.reports++;
    const sinceMs = at - (reporter.lastAt ?? reporter.openedAt);
    reporter.lastAt = at;
    const { clusters } = this.#settings;
    const wanted = clusters === "all" ? undefined : new Set(clusters);
    const isVisible = this.#options.visibleTo?.(reporter.node, reporter.peer) ?? everything;
    const isCounted = (name: string): boolean => (wanted === undefined || wanted.has(name)) && isVisible(name);
    const adding = this.#sums.add(id, countedLoads(report, isCounted, sinceMs), at);
    while (adding.next().done !== true) {
      yield;
      if (!this.#reporters.has(id)) return [];
    }
    return isFirst ? this.#ask(reporter, reporter.node) : [];
  }

  #ask(reporter: Reporter, node: Node): readonly LoadEffect[] {
    const request = this.#requestFor(node, reporter.peer);
    reporter.asked = request;
    return [{ kind: "ask", reporter: reporter.reporter, request }];
  }

  #requestFor(node: Node, peer: Peer): LoadRequest {
    const { clusters, endpoints } = this.#settings;
    const intervalMs = Math.max(SHORTEST_INTERVAL_MS, this.#settings.intervalMs);
    const mayAskForAll = node.clientFeatures.includes(SEND_ALL_CLUSTERS);
    const { lrsIgnoresFirstCluster } = dialectFor(node);
    const sendAllClusters = mayAskForAll && (clusters === "all" || lrsIgnoresFirstCluster);
    const isVisible = this.#options.visibleTo?.(node, peer) ?? everything;
    const named = clusters === "all" ? this.#options.clustersOf(node, peer) : clusters.filter(isVisible);
    return { clusters: sendAllClusters ? [] : named, sendAllClusters, intervalMs, endpoints };
  }
}

/** The loads of some clusters; those without an interval cover the time since the last report. */
function* countedLoads(
  { clusters }: LoadReport,
  isCounted: (cluster: string) => boolean,
  sinceMs: number,
): Generator<ClusterLoad> {
  for (const load of clusters)
    if (isCounted(load.cluster)) yield load.intervalMs > 0 ? load : { ...load, intervalMs: sinceMs };
}

const everything = (): boolean => true;
