import type { EnvoyApi } from "@xdskit/envoy-api";
import { restPaths } from "@xdskit/envoy-api/internal";
import type { TypeUrl } from "@xdskit/protocol";
import type {
  ClientEffect,
  ClientEvent,
  ClientMachine,
  DiscoveryRequest,
  DiscoveryResponse,
  ReceivedResource,
  WatchEvent,
} from "@xdskit/protocol/internal";
import { createClientMachine, judged, sourceWith } from "./client.ts";

const SOURCE = "rest";

/** A client that polls a management server with `fetch`; the client machine controls requests, ACKs and NACKs. */
export class PollingClient {
  readonly #api: EnvoyApi;
  readonly #type: TypeUrl;
  readonly #path: string;
  readonly #node: string;
  readonly #hear: (news: WatchEvent) => void;
  readonly #machine: ClientMachine;
  readonly #events: ClientEvent[] = [];
  #next: Extract<ClientEffect, { kind: "send-request" }> | undefined;
  #isStopped = false;

  constructor(api: EnvoyApi, shortName: string, node: string, hear: (news: WatchEvent) => void) {
    const type = api.typeNamed(shortName);
    const path = restPaths.find((one) => one.type === type)?.path;
    if (type === undefined || path === undefined) throw new Error(`${shortName} cannot be polled`);
    this.#api = api;
    this.#type = type;
    this.#path = path;
    this.#node = node;
    this.#hear = hear;
    this.#machine = createClientMachine(api, node);
    const source = sourceWith({
      ...{ id: SOURCE, access: "poll", variant: "sotw", isAggregated: false, nodeIn: "every-request" },
    });
    this.#tell({ kind: "source-added", source });
  }

  /** Polls until stopped. The server holds each poll until something changes, so the next one follows at once. */
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
      resources: resources.map((value) => this.#received(value)),
      errors: [],
      controlPlane: undefined,
      problems: [],
    };
  }

  #received(value: unknown): ReceivedResource {
    const { input, problems } = this.#api.readResource(value);
    if (input === undefined) throw new Error(JSON.stringify(problems));
    return judged(this.#api, input, "");
  }
}

/** The fields of a JSON `DiscoveryResponse` that are read. */
interface DiscoveryAnswer {
  readonly versionInfo?: string;
  readonly nonce?: string;
  readonly resources?: readonly unknown[];
}
