import { anonymousNode, type LoadReport, type Node, type Peer, type Status } from "@xdskit/protocol";
import {
  AccountUsage,
  bytesOfNode,
  type ClusterSums,
  clientBytes,
  type LoadEffect,
  type LoadReportSettings,
  LoadReports,
  type LoadRequest,
  type ReporterId,
  type ReporterState,
  statusCode,
} from "@xdskit/protocol/internal";
import { XdsError } from "../error.ts";
import { accountOf } from "../hub/account.ts";
import type { ServerReport } from "../hub/port.ts";
import type { LimitName, Limits } from "../limits.ts";
import { Slices } from "../slices.ts";
import { withDefaults } from "../with-defaults.ts";

/** Standings allowed per load entry: each reporter reports far fewer localities than there are. */
const STANDINGS_PER_ENTRY = 100;
/** Minimum milliseconds between reports of dropped entries. */
const LEFT_OUT_TOLD_MS = 10_000;

export interface LoadReportingOptions {
  /** Undefined: reports are refused. */
  readonly settings: LoadReportSettings | undefined;
  /** The memory of reporters' nodes is counted apart from that of streams, against the same limits. */
  readonly limits: Pick<
    Limits,
    "maxLoadReporters" | "maxLoadEntries" | "maxClientBytes" | "maxClientBytesPerPeer" | "maxClientBytesPerIdentity"
  >;
  clustersOf(node: Node, peer: Peer): readonly string[];
  /** Which clusters a client may have. */
  visibleTo(node: Node, peer: Peer): (cluster: string) => boolean;
  report(report: ServerReport): void;
  reportLimit(limit: LimitName, address: string, message: string): void;
}

/** An admitted client: how to send it requests and how to end it. */
interface Reporter {
  readonly peer: Peer;
  readonly ask: (request: LoadRequest) => void;
  readonly openedAt: number;
  node: Node | undefined;
}

/** The reported load by cluster, and the reporting clients. */
export interface LoadView {
  /** Undefined: reports are refused. */
  readonly settings: LoadReportSettings | undefined;
  readonly clusters: Iterable<ClusterSums>;
  readonly reporters: Iterable<ReporterState>;
  readonly reporterCount: number;
  /** Number of accepted reports. */
  readonly reports: number;
  /** Number of entries dropped because of the limit. */
  readonly leftOut: number;
}

/** Owns the load report machine: feeds it events and the time, performs its effects, reports to telemetry. */
export class LoadReporting {
  readonly #options: LoadReportingOptions;
  readonly #loads: LoadReports | undefined;
  readonly #reporters = new Map<ReporterId, Reporter>();
  /** The memory of the reporters' nodes. */
  readonly #nodes: AccountUsage;
  #last: ReporterId = 0;
  #reports = 0;
  /** The report that is being added; the next one waits for it. */
  #adding: Promise<void> = Promise.resolve();
  #leftOutToldAt = Number.NEGATIVE_INFINITY;

  constructor(options: LoadReportingOptions) {
    this.#options = options;
    const { settings, limits } = options;
    this.#nodes = new AccountUsage(clientBytes, { ...limits, accountOf });
    if (settings === undefined) return;
    const maxEntries = limits.maxLoadEntries;
    this.#loads = new LoadReports({
      settings,
      limits: { maxEntries, maxStandings: maxEntries * STANDINGS_PER_ENTRY },
      clustersOf: (node, peer) => options.clustersOf(node, peer),
      visibleTo: (node, peer) => options.visibleTo(node, peer),
    });
  }

  get view(): LoadView {
    const loads = this.#loads;
    return {
      settings: loads?.settings,
      clusters: loads?.clusters ?? [],
      reporters: loads?.reporters ?? [],
      reporterCount: this.#reporters.size,
      reports: this.#reports,
      leftOut: loads?.leftOut ?? 0,
    };
  }

  /**
   * Changes the settings and requests the new reports from every client. Throws an `XdsError` (SERVER_STATE) if load
   * reports are off.
   */
  configure(changes: Partial<LoadReportSettings>): void {
    const loads = this.#loads;
    if (loads === undefined) throw new XdsError("SERVER_STATE", "expected a server that takes load reports");
    this.#perform(loads.on({ kind: "settings-changed", settings: withDefaults(loads.settings, changes) }));
  }

  /** Admits a reporter and returns its number, or the status that rejects it. */
  open(peer: Peer, ask: (request: LoadRequest) => void): ReporterId | Status {
    if (this.#loads === undefined) return refused;
    const { maxLoadReporters } = this.#options.limits;
    if (this.#reporters.size >= maxLoadReporters) {
      const message = `${maxLoadReporters} clients report their load, which is the limit (maxLoadReporters)`;
      this.#options.reportLimit("maxLoadReporters", peer.address, message);
      return { code: statusCode.RESOURCE_EXHAUSTED, message };
    }
    const reporter = ++this.#last;
    const openedAt = Date.now();
    this.#reporters.set(reporter, { peer, ask, openedAt, node: undefined });
    this.#loads.on({ kind: "reporter-opened", reporter, peer, at: openedAt });
    return reporter;
  }

  /** Counts the memory of a reporter's node, which is kept. Returns the status that ends a reporter beyond the limit. */
  countNode(id: ReporterId, node: Node): Status | undefined {
    const peer = this.#reporters.get(id)?.peer;
    const excess = peer && this.#nodes.set(id, peer, bytesOfNode(node));
    if (peer === undefined || excess === undefined) return undefined;
    const { limit, message } = excess;
    this.#options.reportLimit(limit, peer.address, message);
    return { code: statusCode.RESOURCE_EXHAUSTED, message };
  }

  /**
   * Reads a report after those before it, and adds it in slices of the event loop; resolves once it was added. Only one
   * report is decoded at a time, as it may take a hundred times its bytes; `read` returns undefined if it is refused.
   */
  receive(id: ReporterId, read: () => Promise<LoadReport | undefined>): Promise<void> {
    const turn = this.#adding.then(async () => {
      if (!this.#reporters.has(id)) return;
      const report = await read();
      if (report !== undefined) await this.#add(id, report);
    });
    // A failure is told to who waits for it, and the next report is added.
    this.#adding = turn.catch(() => undefined);
    return turn;
  }

  async #add(id: ReporterId, report: LoadReport): Promise<void> {
    const reporter = this.#reporters.get(id);
    if (reporter === undefined || this.#loads === undefined) return;
    const { peer } = reporter;
    const leftOutBefore = this.#loads.leftOut;
    const at = Date.now();
    const steps = this.#loads.receiveInSteps({ kind: "report-received", reporter: id, report, at });
    const effects = await new Slices().finish(steps);
    if (!this.#reporters.has(id)) return;
    this.#reports++;
    if (reporter.node === undefined) {
      // Only that of the first report was counted; a later one is not kept.
      reporter.node = report.node ?? anonymousNode;
      this.#options.report({ kind: "load-reporter-connected", reporter: id, peer, node: reporter.node });
    }
    this.#options.report({ kind: "load-reported", reporter: id, peer, node: reporter.node, report });
    this.#perform(effects);
    if (this.#loads.leftOut > leftOutBefore) this.#tellLeftOut(peer, at);
  }

  close(id: ReporterId): void {
    const reporter = this.#reporters.get(id);
    if (reporter === undefined) return;
    this.#reporters.delete(id);
    this.#nodes.forget(id);
    this.#loads?.on({ kind: "reporter-closed", reporter: id });
    const { peer, node, openedAt } = reporter;
    this.#options.report({
      kind: "load-reporter-disconnected",
      reporter: id,
      peer,
      node,
      ageMs: Date.now() - openedAt,
    });
  }

  #perform(effects: readonly LoadEffect[]): void {
    for (const { reporter, request } of effects) this.#reporters.get(reporter)?.ask(request);
  }

  #tellLeftOut(peer: Peer, at: number): void {
    if (at - this.#leftOutToldAt < LEFT_OUT_TOLD_MS) return;
    this.#leftOutToldAt = at;
    const { maxLoadEntries } = this.#options.limits;
    const message = `there is no room for all that clients report: ${maxLoadEntries} entries, or names that are too long (maxLoadEntries)`;
    this.#options.reportLimit("maxLoadEntries", peer.address, message);
  }
}

const refused: Status = {
  code: statusCode.UNIMPLEMENTED,
  message: "load reports are not taken here (load-reports.interval)",
};
