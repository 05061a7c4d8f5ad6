import { contentDigest, type EnvoyApi } from "@xdskit/envoy-api";
import { createResource, type Resource, type Transaction, type TypeUrl, type Variant } from "@xdskit/protocol";
import {
  type ClientEffect,
  type ClientEvent,
  type ClientMachine,
  type ClientStreamId,
  type DiscoveryResponse,
  type MeshEffect,
  type MeshEvent,
  MeshMachine,
  type MeshNode,
  type ReceivedResource,
  type ServerEffect,
  ServerMachine,
} from "@xdskit/protocol/internal";
import { createClientMachine, judged, sourceWith, traitsIn } from "./client.ts";

const SOURCE = "memory";
const PEER = { address: "", isLoopback: true, isTls: false, names: [] };

type Send = Extract<ServerEffect, { kind: "send" }>;

/**
 * A server machine, a client machine and a mesh in one page, connected directly; `said` records what an observer would
 * see.
 */
export class Conversation {
  readonly said: string[] = [];
  readonly #api: EnvoyApi;
  readonly #variant: Variant;
  readonly #plane: ServerMachine;
  readonly #client: ClientMachine;
  readonly #mesh: MeshMachine;
  readonly #events: ClientEvent[] = [];
  readonly #nodes = new Map<string, MeshNode>();
  #nowMs = 0;

  constructor(api: EnvoyApi, variant: Variant) {
    this.#api = api;
    this.#variant = variant;
    this.#plane = new ServerMachine({ digest: contentDigest, traits: api.traits, nodeMapping: () => ["base"] });
    this.#client = createClientMachine(api, "page");
    const traits = traitsIn(api);
    this.#mesh = new MeshMachine({
      kindOf: (type) => traits(type).kind,
      dependenciesOf: ({ type, bytes }) => api.dependencies(type, bytes),
      configuredTypeOf: ({ type, bytes }) => api.configuredType(type, bytes),
      sourceOf: () => SOURCE,
      followsClusters: true,
      isAggregated: () => true,
      edsCacheOf: () => "on",
      childRemovalOf: () => "retain",
    });
    const source = sourceWith({
      ...{ id: SOURCE, access: "stream", variant, isAggregated: true, nodeIn: "first-request" },
    });
    this.#tell({ kind: "source-added", source });
  }

  /** Follows a resource and everything that it refers to. */
  follow(type: string, term: string): void {
    const root = { root: 1, source: SOURCE, type: this.#typeNamed(type), term, timeoutMs: 0 };
    this.#tellMesh({ kind: "root-added", root });
    this.#settle();
  }

  /** Publishes resources in the form that operators write, and deletes others. */
  publish(values: readonly unknown[], deletes: readonly { readonly type: string; readonly name: string }[] = []): void {
    const change = {
      layer: "base",
      puts: values.map((value) => this.#read(value)),
      deletes: deletes.map(({ type, name }) => ({ type: this.#typeNamed(type), name })),
    };
    const transaction: Transaction = { changes: [change] };
    this.#performPlane(this.#plane.on({ kind: "transaction-committed", transaction }));
    this.#settle();
  }

  #read(value: unknown): Resource {
    const { input, problems } = this.#api.readResource(value);
    if (input === undefined) throw new Error(JSON.stringify(problems));
    return createResource(input, contentDigest);
  }

  #typeNamed(name: string): TypeUrl {
    const type = this.#api.typeNamed(name);
    if (type === undefined) throw new Error(`there is no type ${name}`);
    return type;
  }

  /** Processes events until none is left. */
  #settle(): void {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) this.#tell(event);
      else if (this.#plane.isDue) this.#performPlane(this.#plane.next(1));
      else return;
    }
  }

  #tell(event: ClientEvent): void {
    for (const effect of this.#client.on(event, { nowMs: ++this.#nowMs, chance: 0.5 })) this.#performClient(effect);
  }

  #tellMesh(event: MeshEvent): void {
    for (const effect of this.#mesh.on(event, { nowMs: this.#nowMs })) this.#performMesh(effect);
  }

  #performClient(effect: ClientEffect): void {
    if (effect.kind === "open-stream") this.#open(effect.stream);
    else if (effect.kind === "send-request") {
      const { stream, request } = effect;
      this.#performPlane(this.#plane.on({ kind: "request-received", stream, request }));
    } else if (effect.kind === "notify") {
      this.#tellMesh({ kind: "news", watch: effect.watch, news: effect.news });
    }
  }

  #open(stream: ClientStreamId): void {
    const opened = { stream, variant: this.#variant, onlyType: undefined, apiVersion: "v3", peer: PEER } as const;
    this.#performPlane(this.#plane.on({ kind: "stream-opened", ...opened, connection: 1 }));
    this.#events.push({ kind: "stream-opened", stream });
  }

  #performPlane(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "send") {
        const { stream } = effect;
        this.#events.push({ kind: "response-received", stream, response: this.#responseOf(effect) });
      } else if (effect.kind === "report") this.#note(effect.report);
    }
  }

  #note(report: Extract<ServerEffect, { kind: "report" }>["report"]): void {
    if (report.kind === "response-acked") this.said.push(`ACK ${this.#shortName(report.type)}`);
    if (report.kind === "response-nacked")
      this.said.push(`NACK ${this.#shortName(report.type)}: ${report.error.message}`);
  }

  #responseOf({ body, nonce }: Send): DiscoveryResponse {
    const { type, segments, version } = body;
    const resources = segments.flatMap(({ puts }) => puts.map((put) => this.#received(put)));
    const common = { type, nonce, resources, errors: [], controlPlane: undefined, problems: [] };
    if (body.variant === "sotw") return { kind: "sotw", version, ...common };
    const removed = segments.flatMap((segment) => [...segment.removed, ...segment.missing]);
    return { kind: "delta", systemVersion: version, removed, ...common };
  }

  #received(resource: Resource): ReceivedResource {
    return judged(this.#api, resource, this.#variant === "delta" ? resource.version : "");
  }

  #performMesh(effect: MeshEffect): void {
    if (effect.kind === "start-watch") this.#events.push({ ...effect, kind: "watch-started" } as ClientEvent);
    else if (effect.kind === "stop-watch") this.#events.push({ kind: "watch-stopped", watch: effect.watch });
    else if (effect.kind === "changed") this.#publish();
  }

  #publish(): void {
    const { changed = [], gone = [], isComplete = false } = this.#mesh.takeChanges() ?? {};
    for (const node of changed) this.#nodes.set(node.id, node);
    for (const id of gone) this.#nodes.delete(id);
    if (!isComplete) return;
    const nodes = [...this.#nodes.values()].map(
      ({ type, name, state, failure }) =>
        `${this.#shortName(type)} ${name} ${state}${failure === undefined ? "" : ` (${failure.why})`}`,
    );
    this.said.push(`mesh: ${nodes.sort().join(", ")}`);
  }

  #shortName(wanted: TypeUrl): string {
    return this.#api.types.find(({ type }) => type === wanted)?.shortName ?? wanted;
  }
}
