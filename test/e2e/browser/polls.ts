import { type EnvoyApi, restPaths } from "@xdskit/envoy-api";
import {
  anonymousNode,
  type ClientEffect,
  type ClientEvent,
  ClientMachine,
  clientDialect,
  type DiscoveryRequest,
  type DiscoveryResponse,
  type News,
  opaqueTraits,
  type ReceivedResource,
  type TypeUrl,
} from "@xdskit/protocol";

const SOURCE = "rest";

/** A client that polls a management server with `fetch`: the machine decides what is asked, believed and answered. */
export class PollingClient {
  readonly #api: EnvoyApi;
  readonly #type: TypeUrl;
  readonly #path: string;
  readonly #node: string;
  readonly #hear: (news: News) => void;
  readonly #machine: ClientMachine;
  readonly #events: ClientEvent[] = [];
  #next: Extract<ClientEffect, { kind: "send-request" }> | undefined;
  #isStopped = false;

  constructor(api: EnvoyApi, shortName: string, node: string, hear: (news: News) => void) {
    const type = api.typeNamed(shortName);
    const path = restPaths.find((one) => one.type === type)?.path;
    if (type === undefined || path === undefined) throw new Error(`${shortName} cannot be polled`);
    this.#api = api;
    this.#type = type;
    this.#path = path;
    this.#node = node;
    this.#hear = hear;
    this.#machine = new ClientMachine({
      traits: (one) => api.traits(one) ?? opaqueTraits(one),
      node: { ...anonymousNode, id: node },
    });
    const source = {
      id: SOURCE,
      access: "poll",
      variant: "sotw",
      isAggregated: false,
      servers: 1,
      failover: "cycle",
      nodeIn: "every-request",
      absenceMs: 15_000,
      backOff: { baseMs: 500, maxMs: 30_000 },
      rateLimit: undefined,
      dialect: clientDialect(),
    } as const;
    this.#tell({ kind: "source-added", source });
  }

  /** Polls until it is stopped: the server holds a poll while nothing changes, so the next one follows at once. */
  async watch(term: string): Promise<void> {
    this.#tell({ kind: "watch-started", watch: 1, source: SOURCE, type: this.#type, term });
    while (!this.#isStopped && this.#next !== undefined) {
      const { stream, request } = this.#next;
      this.#next = undefined;
      const answer = await fetch(this.#path, { method: "POST", body: JSON.stringify(this.#bodyOf(request)) });
      if (answer.status === 200) {
        this.#tell({ kind: "response-received", stream, response: this.#responseOf(await answer.json()) });
      } else if (answer.status === 304) this.#tell({ kind: "poll-unchanged", stream, type: this.#type });
      else throw new Error(`${this.#path}: ${answer.status}`);
      if (this.#next === undefined) this.#tell({ kind: "poll-due", stream, type: this.#type });
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  #tell(event: ClientEvent): void {
    this.#events.push(event);
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      const effects = this.#machine.on(next, { nowMs: performance.now(), chance: Math.random() });
      for (const effect of effects) this.#perform(effect);
    }
  }

  #perform(effect: ClientEffect): void {
    if (effect.kind === "open-stream") this.#events.push({ kind: "stream-opened", stream: effect.stream });
    else if (effect.kind === "send-request") this.#next = effect;
    else if (effect.kind === "notify") this.#hear(effect.news);
  }

  #bodyOf(request: DiscoveryRequest): object {
    if (request.kind !== "sotw") throw new Error("there is no delta over REST");
    const { versionInfo, nonce, names, error } = request;
    return {
      node: { id: this.#node },
      typeUrl: this.#type,
      resourceNames: names,
      ...(versionInfo !== undefined && { versionInfo }),
      ...(nonce !== undefined && { responseNonce: nonce }),
      ...(error !== undefined && { errorDetail: error }),
    };
  }

  #responseOf(answer: unknown): DiscoveryResponse {
    const { versionInfo = "", nonce = "", resources = [] } = answer as DiscoveryAnswer;
    return {
      kind: "sotw",
      type: this.#type,
      version: versionInfo,
      nonce,
      resources: resources.map((value) => this.#judge(value)),
      errors: [],
      controlPlane: undefined,
      problems: [],
    };
  }

  /** As a client does: what breaks a rule of its descriptors is refused. */
  #judge(value: unknown): ReceivedResource {
    const { input, problems } = this.#api.readResource(value);
    if (input === undefined) throw new Error(JSON.stringify(problems));
    const { type, name, bytes, aliases = [], references = [] } = input;
    const [problem] = this.#api.validate(type, bytes);
    const judged = { name, aliases, version: "", bytes, ttlMs: undefined, references };
    return problem === undefined ? judged : { ...judged, problem: `${problem.path.join(".")}: ${problem.message}` };
  }
}

/** What is read of the JSON of a `DiscoveryResponse`. */
interface DiscoveryAnswer {
  readonly versionInfo?: string;
  readonly nonce?: string;
  readonly resources?: readonly unknown[];
}
