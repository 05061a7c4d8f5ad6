import { contentDigest } from "@xdskit/envoy-api";
import type { SourceId, TypeUrl } from "@xdskit/protocol";
import type { ClientReport } from "@xdskit/protocol/internal";

/** Counters of one type at one source, named as in Envoy (C-OBS-01). */
export interface SubscriptionStats {
  readonly source: SourceId;
  readonly type: TypeUrl;
  /** Requests sent, and reads of a file. */
  readonly updateAttempt: number;
  /** Updates accepted, and polls without a change. */
  readonly updateSuccess: number;
  /** Streams that ended before a response, failed polls, and missing files. */
  readonly updateFailure: number;
  /** Updates rejected: malformed or invalid. */
  readonly updateRejected: number;
  /** Names without a response within the initial fetch timeout. */
  readonly initFetchTimeout: number;
  /** Updates that changed something, including partly rejected ones. */
  readonly configReload: number;
  /** The time of the last accepted update, in milliseconds since 1970; 0: none yet. */
  readonly updateTimeMs: number;
  /** A hash of `versionText`, in hexadecimal; "" if there is none. */
  readonly version: string;
  /** The version of the last accepted update. */
  readonly versionText: string;
}

/** Counters of one source. */
export interface SourceStats {
  readonly source: SourceId;
  /** A server of the source is connected; for polls, the last one succeeded; for files, one exists. */
  readonly connectedState: boolean;
  /** The control plane identifier of the server; "" if it sends none. */
  readonly identifier: string;
  /** How often the rate limit delayed requests. */
  readonly rateLimitEnforced: number;
  /** Requests that the rate limit holds back now. */
  readonly pendingRequests: number;
}

/**
 * Counters and states since the client started, of the sources that are watched and of the last 100 that no longer are.
 */
export interface ClientStats {
  readonly sources: readonly SourceStats[];
  readonly subscriptions: readonly SubscriptionStats[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const VERSION_DIGITS = 16;

/** Counts client reports. */
export class StatsCounter {
  readonly #sources = new Map<SourceId, Writable<SourceStats>>();
  readonly #open = new Map<SourceId, number>();
  readonly #subscriptions = new Map<string, Writable<SubscriptionStats>>();
  readonly #now: () => number;

  /** `now` returns milliseconds since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  count(report: ClientReport): void {
    switch (report.kind) {
      case "stream-opened":
        this.#streams(report.source, 1);
        break;
      case "stream-closed":
        this.#streams(report.source, -1);
        break;
      case "stream-ended":
        this.#ended(report);
        break;
      case "request-sent":
      case "file-read":
        this.#of(report).updateAttempt++;
        break;
      case "response-accepted":
        this.#accepted(report);
        break;
      case "response-rejected":
        this.#of(report).updateRejected++;
        if (report.isNews) this.#of(report).configReload++;
        this.#heardFrom(report);
        break;
      case "poll-unchanged":
        this.#of(report).updateSuccess++;
        break;
      case "absence-timeout":
        this.#of(report).initFetchTimeout += report.names.length;
        break;
      case "rate-limited": {
        const stats = this.#source(report.source);
        if (report.pending > 0) stats.rateLimitEnforced++;
        stats.pendingRequests = report.pending;
        break;
      }
      case "server-chosen":
      case "response-ignored":
      case "resource-expired":
        break;
      default:
        report satisfies never;
    }
  }

  /** A copy of the counters. */
  read(): ClientStats {
    return {
      sources: [...this.#sources.values()].map((one) => ({ ...one })),
      subscriptions: [...this.#subscriptions.values()].map((one) => ({ ...one })),
    };
  }

  /** Drops the counters of a source. */
  forget(source: SourceId): void {
    this.#sources.delete(source);
    this.#open.delete(source);
    for (const [key, one] of this.#subscriptions) if (one.source === source) this.#subscriptions.delete(key);
  }

  /** Marks all sources as disconnected. */
  disconnect(): void {
    this.#open.clear();
    for (const source of this.#sources.values()) source.connectedState = false;
  }

  #ended({ source, types, wasOpened, isFailure }: Extract<ClientReport, { kind: "stream-ended" }>): void {
    this.#streams(source, wasOpened ? -1 : 0);
    if (isFailure) for (const type of types) this.#of({ source, type }).updateFailure++;
  }

  #accepted(report: Extract<ClientReport, { kind: "response-accepted" }>): void {
    const { version, isNews } = report;
    const stats = this.#of(report);
    stats.updateSuccess++;
    if (isNews) stats.configReload++;
    stats.updateTimeMs = this.#now();
    stats.versionText = version;
    stats.version =
      version === ""
        ? ""
        : contentDigest([version])
            .toString(16)
            .padStart(2 * VERSION_DIGITS, "0")
            .slice(0, VERSION_DIGITS);
    this.#heardFrom(report);
  }

  #heardFrom({ source, controlPlane }: { readonly source: SourceId; readonly controlPlane: string | undefined }): void {
    if (controlPlane !== undefined) this.#source(source).identifier = controlPlane;
  }

  #streams(source: SourceId, more: -1 | 0 | 1): void {
    const open = (this.#open.get(source) ?? 0) + more;
    this.#open.set(source, open);
    this.#source(source).connectedState = open > 0;
  }

  #source(source: SourceId): Writable<SourceStats> {
    const known = this.#sources.get(source);
    if (known !== undefined) return known;
    const made = { source, connectedState: false, identifier: "", rateLimitEnforced: 0, pendingRequests: 0 };
    this.#sources.set(source, made);
    return made;
  }

  #of({ source, type }: { readonly source: SourceId; readonly type: TypeUrl }): Writable<SubscriptionStats> {
    const key = `${type} ${source}`;
    const known = this.#subscriptions.get(key);
    if (known !== undefined) return known;
    const made = {
      source,
      type,
      updateAttempt: 0,
      updateSuccess: 0,
      updateFailure: 0,
      updateRejected: 0,
      initFetchTimeout: 0,
      configReload: 0,
      updateTimeMs: 0,
      version: "",
      versionText: "",
    };
    this.#subscriptions.set(key, made);
    return made;
  }
}
