import { contentDigest } from "@xdskit/envoy-api";
import type { ClientReport, SourceId, TypeUrl } from "@xdskit/protocol";

/** Of one type at one source, under the names that Envoy has for it (C-OBS-01). */
export interface SubscriptionStats {
  readonly source: SourceId;
  readonly type: TypeUrl;
  /** Requests that were sent, and reads of a file. */
  readonly updateAttempt: number;
  /** Updates that were taken, and polls that nothing had changed for. */
  readonly updateSuccess: number;
  /** Streams that ended before they were answered, polls that failed, files that are not there. */
  readonly updateFailure: number;
  /** Updates that were refused: they cannot be read, or break a rule. */
  readonly updateRejected: number;
  /** Names that nothing came for in time. */
  readonly initFetchTimeout: number;
  /** Updates that changed something, refused ones too if something good in them was taken. */
  readonly configReload: number;
  /** Of the last update that was taken, in milliseconds since 1970; 0: none yet. */
  readonly updateTimeMs: number;
  /** A hash of `versionText`, in hexadecimal digits; "" if there is none. */
  readonly version: string;
  /** Of the last update that was taken. */
  readonly versionText: string;
}

/** Of one source. */
export interface SourceStats {
  readonly source: SourceId;
  /** A server of it is connected to; of polls, the last one was answered; of files, one is there. */
  readonly connectedState: boolean;
  /** What the server calls itself; "" if it does not. */
  readonly identifier: string;
  /** How often the limit held requests back. */
  readonly rateLimitEnforced: number;
  /** Requests that wait now. */
  readonly pendingRequests: number;
}

/** What happened so far. */
export interface ClientStats {
  readonly sources: readonly SourceStats[];
  readonly subscriptions: readonly SubscriptionStats[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const VERSION_DIGITS = 16;

/** Counts what is reported. */
export class StatsCounter {
  readonly #sources = new Map<SourceId, Writable<SourceStats>>();
  readonly #open = new Map<SourceId, number>();
  readonly #subscriptions = new Map<string, Writable<SubscriptionStats>>();
  readonly #now: () => number;

  /** Times are told by `now`, in milliseconds since 1970. */
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

  /** A copy of what was counted. */
  read(): ClientStats {
    return {
      sources: [...this.#sources.values()].map((one) => ({ ...one })),
      subscriptions: [...this.#subscriptions.values()].map((one) => ({ ...one })),
    };
  }

  /** Nothing is connected any more. */
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
