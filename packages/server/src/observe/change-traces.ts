import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { TypeUrl } from "@xdskit/protocol";
import type { RevisionProgress } from "@xdskit/protocol/internal";
import type { Hub } from "../hub/hub.ts";
import type { ObservedOperation } from "../ledger/operation-observer.ts";
import type { PublishResult } from "../ledger/publication.ts";
import { sdkTracer } from "./sdk-tracer.ts";

/** How long the clients are followed, in milliseconds. */
const FOLLOWED_MS = 60_000;
/** Most changes whose clients are followed; one more ends the oldest. */
const MOST_FOLLOWED = 16;
/** Most traces that begin within a second. */
const MOST_A_SECOND = 10;
/** Most events of one kind in a span. */
const MOST_EVENTS = 10;
/** Most revisions whose commit is remembered while operations run. */
const MOST_COMMITS = 1_000;
/** Most NACKs of one change whose time is remembered. */
const MOST_NACKS = 1_000;
/** Most characters of an attribute that a client or an operator wrote. */
const LONGEST_TEXT = 256;

/** How the following of a change ended. */
type DeliveryEnd = "settled" | "timeout" | "superseded" | "closed";

/** When a transaction took effect, by `performance.now()`. */
interface CommitTime {
  readonly beganAtMs: number;
  readonly endedAtMs: number;
}

/** The beginning of a trace: what is not known before the end is added to it. */
interface ChangeStart {
  readonly tracer: Tracer;
  readonly parent: Context;
  readonly at: (performanceMs: number) => number;
  readonly beganAtMs: number;
}

/** A change whose clients are followed. */
interface FollowedChange {
  readonly end: (why: DeliveryEnd) => void;
  /** When nodes NACKed last, by node and type. */
  readonly nackedAtMs: Map<string, number>;
}

/** A change without a ledger. */
export interface PlainChange<T> {
  readonly kind: "commit" | "set" | "update" | "rules";
  /** The types that it changed; undefined: it changed rules. */
  readonly typesOf: (result: T) => Iterable<TypeUrl> | undefined;
}

export type ChangeTracesOptions = Pick<Hub, "listeners" | "deployments"> & {
  readonly revision: () => number;
  readonly isLiveType: (type: TypeUrl) => boolean;
  /** Called with what an SDK threw. */
  readonly failed: (error: unknown) => void;
};

/**
 * Traces changes, from the moment they were noticed until the last ACK, with the OpenTelemetry SDK of the program.
 * Without an SDK each change costs one look for it, and nothing is listened to. Live data is not traced.
 */
export class ChangeTraces {
  readonly #options: ChangeTracesOptions;
  readonly #followed = new Set<FollowedChange>();
  readonly #commits = new Map<number, CommitTime>();
  #running = 0;
  #ignoreCommits: (() => void) | undefined;
  #ignoreNacks: (() => void) | undefined;
  #begun: number[] = [];
  #untraced = 0;

  constructor(options: ChangeTracesOptions) {
    this.#options = options;
  }

  /** Runs an operation on the ledger. */
  operation(about: ObservedOperation, run: () => Promise<PublishResult>): Promise<PublishResult> {
    const tracer = sdkTracer();
    return tracer === undefined ? run() : this.#operation(startOf(tracer), about, run);
  }

  /** Runs a change that takes effect at once. */
  plain<T>({ kind, typesOf }: PlainChange<T>, run: () => T): T {
    const tracer = sdkTracer();
    if (tracer === undefined) return run();
    const { revision, isLiveType } = this.#options;
    const before = revision();
    const start = startOf(tracer);
    const result = run();
    const after = revision();
    const types = typesOf(result);
    if (after === before || (types !== undefined && [...types].every(isLiveType))) return result;
    const commit = { beganAtMs: start.beganAtMs, endedAtMs: performance.now() };
    this.#tell(async () => {
      const change = this.#begin(start, { kind, beganAt: start.at(start.beganAtMs) });
      if (change !== undefined) await this.#deliver(start, change, { revision: after, commit });
    });
    return result;
  }

  async #operation(
    start: ChangeStart,
    about: ObservedOperation,
    run: () => Promise<PublishResult>,
  ): Promise<PublishResult> {
    this.#listenToCommits();
    try {
      const result = await run();
      if (isTraced(result, about)) this.#tell(() => this.#tellResult(start, about, result));
      return result;
    } catch (cause) {
      this.#tell(() => this.#tellFailure(start, about, cause));
      throw cause;
    } finally {
      this.#running--;
      if (this.#running === 0) {
        this.#ignoreCommits?.();
        this.#commits.clear();
      }
    }
  }

  /** What an SDK throws must not become that of a change. */
  #tell(tell: () => Promise<void>): void {
    tell().catch((error: unknown) => this.#options.failed(error));
  }

  /** Remembers when transactions take effect, until no operation runs any more. */
  #listenToCommits(): void {
    this.#running++;
    if (this.#running > 1) return;
    this.#ignoreCommits = this.#options.listeners.on("committed", ({ revision, tookMs }) => {
      const endedAtMs = performance.now();
      this.#commits.set(revision, { beganAtMs: endedAtMs - tookMs, endedAtMs });
      const [oldest] = this.#commits.keys();
      if (this.#commits.size > MOST_COMMITS && oldest !== undefined) this.#commits.delete(oldest);
    });
  }

  #beginOperation(start: ChangeStart, about: ObservedOperation): StartedChange | undefined {
    const { kind, reading } = about;
    const beganAt = reading?.noticedAt.getTime() ?? start.at(start.beganAtMs);
    const change = this.#begin(start, { kind, beganAt });
    if (change === undefined || reading === undefined) return change;
    const span = start.tracer.startSpan("xds.read", { startTime: reading.noticedAt }, change.context);
    span.addEvent("xds.read.began", {}, reading.beganAt);
    span.end(reading.endedAt);
    return change;
  }

  async #tellResult(start: ChangeStart, about: ObservedOperation, result: PublishResult): Promise<void> {
    const change = this.#beginOperation(start, about);
    if (change === undefined) return;
    const { tracer, at, beganAtMs } = start;
    const now = performance.now();
    const commit = "revision" in result ? this.#commits.get(result.revision) : undefined;
    const { beganAtMs: endedAtMs } = commit ?? { beganAtMs: now };
    const number = "number" in result ? { "xds.number": result.number } : {};
    const span = tracer.startSpan("xds.publish", { startTime: at(beganAtMs) }, change.context);
    span.setAttributes({ "xds.publish.result": result.kind, ...number, ...authorship(about) });
    const trips = "trips" in result ? (result.trips ?? []) : [];
    for (const { message } of trips.slice(0, MOST_EVENTS))
      span.addEvent("xds.fuse.tripped", { "xds.fuse.message": cut(message) }, at(endedAtMs));
    const isFailed = result.kind === "refused" || result.kind === "unavailable";
    if (isFailed) fail([span, change.span], result.reason);
    span.end(at(endedAtMs));
    change.span.setAttributes(number);
    if (result.kind === "applied") {
      const { revision } = result;
      await this.#deliver(start, change, { revision, commit: commit ?? { beganAtMs: now, endedAtMs: now } });
      return;
    }
    change.span.setAttribute("xds.change.outcome", result.kind);
    change.span.end(at(endedAtMs));
  }

  async #tellFailure(start: ChangeStart, about: ObservedOperation, cause: unknown): Promise<void> {
    const change = this.#beginOperation(start, about);
    if (change === undefined) return;
    const { tracer, at, beganAtMs } = start;
    const span = tracer.startSpan("xds.publish", { startTime: at(beganAtMs) }, change.context);
    span.setAttributes({ "xds.publish.result": "failed", ...authorship(about) });
    change.span.setAttribute("xds.change.outcome", "failed");
    fail([span, change.span], cause instanceof Error ? cause.message : String(cause));
    const endedAt = at(performance.now());
    for (const one of [span, change.span]) one.end(endedAt);
  }

  /** Begins a trace, unless the SDK drops it or too many began within a second. */
  #begin(start: ChangeStart, { kind, beganAt }: { kind: string; beganAt: number }): StartedChange | undefined {
    const now = performance.now();
    this.#begun = this.#begun.filter((one) => now - one < 1_000);
    if (this.#begun.length >= MOST_A_SECOND) {
      this.#untraced++;
      return undefined;
    }
    this.#begun.push(now);
    const untraced = this.#untraced;
    this.#untraced = 0;
    const attributes: Attributes = {
      "xds.change.kind": kind,
      ...(untraced > 0 && { "xds.change.untraced_before": untraced }),
    };
    const span = start.tracer.startSpan("xds.change", { startTime: beganAt, attributes }, start.parent);
    if (span.isRecording()) return { span, context: trace.setSpan(start.parent, span) };
    span.end();
    return undefined;
  }

  /** Follows a revision until every client ACKed or NACKed it. */
  async #deliver(
    { tracer, at }: ChangeStart,
    change: StartedChange,
    { revision, commit }: { readonly revision: number; readonly commit: CommitTime },
  ): Promise<void> {
    const { deployments } = this.#options;
    const [beganAt, committedAt] = [at(commit.beganAtMs), at(commit.endedAtMs)];
    const attributes = { "xds.revision": revision };
    tracer.startSpan("xds.commit", { startTime: beganAt, attributes }, change.context).end(committedAt);
    change.span.setAttributes(attributes);
    const span = tracer.startSpan("xds.deliver", { startTime: committedAt, attributes }, change.context);
    const { why, nackedAtMs } = await this.#follow(revision);
    const progress = deployments.progress(revision, { isWanted: () => true });
    const endedAt = at(performance.now());
    const counts = countsOf(progress);
    for (const one of [span, change.span]) one.setAttributes(counts);
    span.setAttribute("xds.deliver.end", why);
    for (const { key, ...event } of nacksOf(progress)) {
      const nackedMs = nackedAtMs.get(key);
      span.addEvent("xds.nack", event, nackedMs === undefined ? endedAt : at(nackedMs));
    }
    if (progress.nacked.length > 0) fail([span, change.span], describeNacks(progress));
    span.end(endedAt);
    change.span.setAttribute("xds.change.outcome", outcomeOf(progress, why));
    change.span.end(endedAt);
  }

  async #follow(revision: number): Promise<{ why: DeliveryEnd; nackedAtMs: ReadonlyMap<string, number> }> {
    const [oldest] = this.#followed;
    if (oldest !== undefined && this.#followed.size >= MOST_FOLLOWED) oldest.end("superseded");
    const ending = new AbortController();
    let why: DeliveryEnd = "settled";
    const followed: FollowedChange = {
      end: (reason) => {
        why = reason;
        this.#followed.delete(followed);
        ending.abort();
      },
      nackedAtMs: new Map(),
    };
    this.#followed.add(followed);
    this.#ignoreNacks ??= this.#options.listeners.on("response-nacked", ({ node, type }) => {
      const now = performance.now();
      for (const { nackedAtMs } of this.#followed)
        if (nackedAtMs.size < MOST_NACKS) nackedAtMs.set(keyOf(node.id, type), now);
    });
    const timer = setTimeout(() => followed.end("timeout"), FOLLOWED_MS);
    timer.unref();
    try {
      const awaited = { isWanted: () => true, minNodes: 0 };
      await this.#options.deployments.whenSettled(revision, awaited, ending.signal);
    } catch {
      why = "closed";
    } finally {
      clearTimeout(timer);
      this.#followed.delete(followed);
      if (this.#followed.size === 0) {
        this.#ignoreNacks?.();
        this.#ignoreNacks = undefined;
      }
    }
    return { why, nackedAtMs: followed.nackedAtMs };
  }
}

interface StartedChange {
  readonly span: Span;
  /** The context of its children. */
  readonly context: Context;
}

/** A clock that does not jump within a trace: the system's at its beginning, and what has passed since. */
function startOf(tracer: Tracer): ChangeStart {
  const beganAtMs = performance.now();
  const originMs = Date.now() - beganAtMs;
  return { tracer, parent: context.active(), beganAtMs, at: (performanceMs) => originMs + performanceMs };
}

/** Whether an operation was a change: what another server publishes, and what is in force already, is none. */
function isTraced(result: PublishResult, { isLive }: ObservedOperation): boolean {
  if (result.kind === "applied") return !isLive(result);
  return result.kind !== "unchanged" && result.kind !== "standby";
}

function authorship({ author, message }: ObservedOperation): Attributes {
  return {
    ...(author !== undefined && { "xds.author": cut(author) }),
    ...(message !== undefined && { "xds.message": cut(message) }),
  };
}

function countsOf({ deployed, nacked, pending, disconnected }: RevisionProgress): Attributes {
  return {
    "xds.nodes.deployed": deployed,
    "xds.nodes.nacked": nacked.length,
    "xds.nodes.pending": pending.length,
    "xds.nodes.disconnected": disconnected.length,
  };
}

/** The NACKs in force, as the attributes of events. */
function* nacksOf({ nacked }: RevisionProgress): Iterable<Attributes & { readonly key: string }> {
  let told = 0;
  for (const { node, types } of nacked)
    for (const { type, names, error } of types) {
      if (told === MOST_EVENTS) return;
      told++;
      yield {
        key: keyOf(node.id, type),
        "xds.node.id": cut(node.id),
        "xds.resource.type": type,
        "xds.resource.names": names.slice(0, MOST_EVENTS).map(cut),
        "xds.nack.reason": cut(error?.message ?? ""),
      };
    }
}

function describeNacks({ nacked }: RevisionProgress): string {
  const reason = nacked[0]?.types[0]?.error?.message ?? "";
  const nodes = nacked.length === 1 ? "1 node" : `${nacked.length} nodes`;
  return `NACK by ${nodes}: ${reason}`;
}

function fail(spans: readonly Span[], reason: string): void {
  for (const span of spans) span.setStatus({ code: SpanStatusCode.ERROR, message: cut(reason) });
}

function outcomeOf({ nacked, pending }: RevisionProgress, why: DeliveryEnd): string {
  if (nacked.length > 0) return "nacked";
  if (why === "closed") return why;
  return pending.length > 0 ? "pending" : "deployed";
}

function keyOf(node: string, type: TypeUrl): string {
  return `${type} ${node}`;
}

function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`;
}
