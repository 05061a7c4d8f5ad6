import { type ClientDialect, formatTypeUrl, messageNameOf, type TypeUrl } from "@xdskit/protocol";
import {
  type ClientEffect,
  type ClientEvent,
  ClientMachine,
  type ClientReport,
  type ClientStreamId,
  clientDialect,
  type DeltaResponse,
  type DiscoveryRequest,
  type KeptResource,
  opaqueTraits,
  type ReceivedError,
  type ReceivedResource,
  type SotwResponse,
  type SourceSpec,
  shownName,
  type TypeTraits,
  type WatchEvent,
  type WatchStarted,
} from "@xdskit/protocol/internal";
import { node } from "./conversation.ts";
import { traits } from "./resources.ts";

/** A source with nothing out of the ordinary: one server, an aggregated State of the World stream. */
export function sourceOf({
  dialect = {},
  ...what
}: Partial<Omit<SourceSpec, "dialect">> & { readonly dialect?: Partial<ClientDialect> } = {}): SourceSpec {
  return {
    id: "ads",
    access: "stream",
    variant: "sotw",
    isAggregated: true,
    servers: 1,
    failover: "cycle",
    nodeIn: "first-request",
    absenceMs: 15_000,
    backOff: { baseMs: 500, maxMs: 30_000 },
    rateLimit: undefined,
    dialect: clientDialect(dialect),
    ...what,
  };
}

/** A resource as it was received: `a=1` has the bytes `a=1`. */
export function received(name: string, label: string, extras: Partial<ReceivedResource> = {}): ReceivedResource {
  const bytes = new TextEncoder().encode(`${name}=${label}`);
  return { name, aliases: [], version: label, bytes, ttlMs: undefined, ...extras };
}

/** One without a body. */
export function empty(name: string, version: string, extras: Partial<ReceivedResource> = {}): ReceivedResource {
  return received(name, version, { bytes: undefined, ...extras });
}

export function errorOf(name: string, code: number, message = "why"): ReceivedError {
  return { name, error: { code, message } };
}

/** A State of the World response. */
export function whole(
  type: TypeUrl,
  version: string,
  nonce: string,
  what: readonly ReceivedResource[] | Partial<SotwResponse>,
): SotwResponse {
  const rest = "length" in what ? { resources: what as readonly ReceivedResource[] } : (what as Partial<SotwResponse>);
  return {
    kind: "sotw",
    type,
    version,
    nonce,
    resources: [],
    errors: [],
    controlPlane: undefined,
    problems: [],
    ...rest,
  };
}

/** A delta response. */
export function change(type: TypeUrl, nonce: string, what: Partial<DeltaResponse>): DeltaResponse {
  return {
    kind: "delta",
    type,
    nonce,
    systemVersion: "",
    resources: [],
    removed: [],
    errors: [],
    controlPlane: undefined,
    problems: [],
    ...what,
  };
}

/** A client machine with a clock, and what it asks for as short texts. */
export class ClientStory {
  readonly machine: ClientMachine;
  readonly reports: ClientReport[] = [];
  readonly requests: DiscoveryRequest[] = [];
  chance = 0.5;
  nowMs = 0;
  readonly #timers = new Map<number, number>();

  constructor(...sources: readonly SourceSpec[]) {
    this.machine = new ClientMachine({ traits: traitsOf, node: node("me") });
    for (const source of sources.length === 0 ? [sourceOf()] : sources) this.on({ kind: "source-added", source });
  }

  on(...events: readonly ClientEvent[]): readonly string[] {
    const effects = this.machine.onAll(events, { nowMs: this.nowMs, chance: this.chance });
    return effects.flatMap((effect) => this.#show(effect));
  }

  watch(watch: number, type: TypeUrl, term: string, more: Partial<WatchStarted> = {}): readonly string[] {
    return this.on(started(watch, type, term, more));
  }

  stop(watch: number): readonly string[] {
    return this.on({ kind: "watch-stopped", watch });
  }

  open(stream: ClientStreamId): readonly string[] {
    return this.on({ kind: "stream-opened", stream });
  }

  receive(stream: ClientStreamId, response: SotwResponse | DeltaResponse): readonly string[] {
    return this.on({ kind: "response-received", stream, response });
  }

  close(stream: ClientStreamId, message = "gone"): readonly string[] {
    return this.on({ kind: "stream-closed", stream, status: { code: 14, message } });
  }

  restore(...resources: readonly KeptResource[]): readonly string[] {
    return this.on({ kind: "resources-restored", source: "ads", resources });
  }

  /** Time goes by: timers go off, each at its moment. */
  pass(ms: number): readonly string[] {
    const untilMs = this.nowMs + ms;
    const shown: string[] = [];
    for (;;) {
      const [next] = [...this.#timers].sort(([, a], [, b]) => a - b);
      if (next === undefined || next[1] > untilMs) break;
      this.nowMs = next[1];
      this.#timers.delete(next[0]);
      shown.push(...this.on({ kind: "timer-fired", timer: next[0] }));
    }
    this.nowMs = untilMs;
    return shown;
  }

  /** How long each timer that runs has still to go. */
  get timers(): readonly number[] {
    return [...this.#timers.values()].map((atMs) => atMs - this.nowMs).sort((a, b) => a - b);
  }

  /** Where every name stands: `Cluster a@1 acked`. */
  get states(): readonly string[] {
    return [...this.machine.states()].map(({ type, name, status, resource, failure }) => {
      const held = resource === undefined ? shownName(name) : labelOf(resource);
      return `${shortName(type)} ${held} ${status}${failure === undefined ? "" : `: ${failure.error.message}`}`;
    });
  }

  reported<K extends ClientReport["kind"]>(kind: K): readonly Extract<ClientReport, { kind: K }>[] {
    return this.reports.filter((one): one is Extract<ClientReport, { kind: K }> => one.kind === kind);
  }

  #show(effect: ClientEffect): readonly string[] {
    switch (effect.kind) {
      case "report":
        this.reports.push(effect.report);
        return [];
      case "start-timer":
        this.#timers.set(effect.timer, this.nowMs + effect.ms);
        return [];
      case "cancel-timer":
        this.#timers.delete(effect.timer);
        return [];
      case "send-request":
        this.requests.push(effect.request);
        return [`${effect.stream}${effect.isUrgent ? "!" : ""}> ${shownRequest(effect.request)}`];
      case "open-stream":
        return [
          `open ${effect.stream}${effect.server === 0 ? "" : ` at ${effect.server}`}${
            effect.onlyType === undefined ? "" : ` for ${shortName(effect.onlyType)}`
          }`,
        ];
      case "close-stream":
        return [`close ${effect.stream}`];
      case "source-forgotten":
        return [`forgot ${effect.source}`];
      case "notify":
        return [`${effect.watch}: ${shownNews(effect.news)}`];
    }
  }
}

/** An event of a watch that starts. */
export function started(watch: number, type: TypeUrl, term: string, more: Partial<WatchStarted> = {}): WatchStarted {
  return { kind: "watch-started", watch, source: "ads", type, term, ...more };
}

/** A type that nobody described but for its twin. */
export const STRANGE: TypeUrl = formatTypeUrl("acme.Strange");
export const STRANGE_TWIN: TypeUrl = formatTypeUrl("acme.old.Strange");

function traitsOf(type: TypeUrl): TypeTraits {
  if (type === STRANGE) return { ...opaqueTraits(type), twin: STRANGE_TWIN };
  return traits(type) ?? opaqueTraits(type);
}

function shortName(type: TypeUrl): string {
  return messageNameOf(type).split(".").at(-1) ?? type;
}

function labelOf({ bytes, isRestored }: { readonly bytes: Uint8Array; readonly isRestored?: true }): string {
  const [name = "", label = ""] = new TextDecoder().decode(bytes).split("=");
  return `${shownName(name)}@${label}${isRestored ? " (restored)" : ""}`;
}

function shownNews(news: WatchEvent): string {
  switch (news.kind) {
    case "changed":
    case "confirmed":
      return `${news.kind} ${labelOf(news.resource)}`;
    case "absent":
      return `absent ${shownName(news.name)} ${news.why}${news.held === undefined ? "" : ` (holds ${labelOf(news.held)})`}`;
    case "failed": {
      const held = news.held === undefined ? "" : ` (holds ${labelOf(news.held)})`;
      return `failed ${news.name === undefined ? "all" : shownName(news.name)} ${news.why}: ${news.error.message}${held}`;
    }
    case "recovered":
    case "synced":
      return news.kind;
  }
}

/** `Cluster [a,b] v1 n1 !why node`, `Cluster +a -b {a@1} n1 !why node`. */
function shownRequest(request: DiscoveryRequest): string {
  const { type, nonce, error, node: told } = request;
  const rest = [
    nonce === undefined ? [] : [nonce],
    error === undefined ? [] : [`!${error.message}`],
    told === undefined ? [] : [`(${told.id})`],
  ].flat();
  const name = type === undefined ? "?" : shortName(type);
  if (request.kind === "sotw") {
    const version = request.versionInfo === undefined ? [] : [`v${request.versionInfo}`];
    return [name, `[${request.names.map(shownName).join()}]`, ...version, ...rest].join(" ");
  }
  const held = [...request.initialVersions].map(([key, version]) => `${key}@${version}`);
  return [
    name,
    ...request.subscribe.map((term) => `+${shownName(term)}`),
    ...request.unsubscribe.map((term) => `-${shownName(term)}`),
    ...(held.length === 0 ? [] : [`{${held.join()}}`]),
    ...rest,
  ].join(" ");
}
