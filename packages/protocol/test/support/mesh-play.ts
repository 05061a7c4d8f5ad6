import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import {
  type Dependency,
  type HeldResource,
  type MeshEffect,
  type MeshEvent,
  MeshMachine,
  type MeshNode,
  type MeshOptions,
  type MeshReport,
  type MeshRoot,
  type TypeKind,
  type WatchEvent,
} from "@xdskit/protocol/internal";
import { CLUSTER, ENDPOINTS, EXTENSION, HOST, LB_ENDPOINT, LISTENER, ROUTE } from "./resources.ts";

export const SECRET: TypeUrl = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");
export const SCOPE: TypeUrl = formatTypeUrl("envoy.config.route.v3.ScopedRouteConfiguration");

const kinds: ReadonlyMap<TypeUrl, TypeKind> = new Map<TypeUrl, TypeKind>([
  [LISTENER, "lds"],
  [ROUTE, "rds"],
  [CLUSTER, "cds"],
  [ENDPOINTS, "eds"],
  [SECRET, "sds"],
  [SCOPE, "srds"],
  [HOST, "vhds"],
  [LB_ENDPOINT, "leds"],
  [EXTENSION, "ecds"],
]);

const needs = new WeakMap<HeldResource, readonly Dependency[]>();

/** A resource that says no more than which version it is, and what it needs. */
export function held(
  type: TypeUrl,
  name: string,
  version: string,
  dependencies: readonly Dependency[] = [],
): HeldResource {
  const bytes = new Uint8Array(Buffer.from(`${name} ${version}`));
  const resource = { type, name, version, bytes, aliases: [], ttlMs: undefined };
  needs.set(resource, dependencies);
  return resource;
}

const ADS = { source: { kind: "ads" }, timeoutMs: 15_000, warms: true, fetched: "at-once" } as const;

/** What resources need, as `envoy-api` tells it. */
export const need = {
  routes: (name: string, more: Partial<Dependency> = {}): Dependency => ({
    ...{ ...ADS, type: ROUTE, name, outlivesRemoval: true },
    ...more,
  }),
  endpoints: (name: string, more: Partial<Dependency> = {}): Dependency => ({
    ...{ ...ADS, type: ENDPOINTS, name, outlivesRemoval: true, isAskedAnew: true },
    ...more,
  }),
  secret: (name: string): Dependency => ({ ...ADS, type: SECRET, name, outlivesRemoval: true }),
  cluster: (name: string): Dependency => ({
    ...{ ...ADS, type: CLUSTER, name, warms: false, timeoutMs: 0 },
    source: { kind: "roots" },
  }),
  scopes: (): Dependency => ({
    ...{ ...ADS, type: SCOPE, name: "*" },
    handsDown: { source: { kind: "self" }, timeoutMs: 7_000 },
  }),
  routesOfScope: (name: string, isOnDemand = false): Dependency => ({
    ...{ ...ADS, type: ROUTE, name, outlivesRemoval: true, timeoutMs: 0 },
    source: { kind: "parent" },
    ...(isOnDemand && { warms: false, fetched: "demand" as const }),
  }),
  hosts: (): Dependency => ({ ...ADS, type: HOST, name: "*" }),
  lbEndpoints: (name: string): Dependency => ({ ...ADS, type: LB_ENDPOINT, name }),
  extension: (name: string, types: readonly TypeUrl[], more: Partial<Dependency> = {}): Dependency => ({
    ...{ ...ADS, type: EXTENSION, name, extension: { fallback: undefined, types } },
    ...more,
  }),
};

export const ROOT = {
  clusters: { root: 1, source: "ads", type: CLUSTER, term: "*", timeoutMs: 15_000 },
  listeners: { root: 2, source: "ads", type: LISTENER, term: "*", timeoutMs: 15_000, isLast: true },
} as const satisfies Record<string, MeshRoot>;

type Watch = Extract<MeshEffect, { kind: "start-watch" }>;

/** What a mesh is told, for all of its sources. */
export interface PlayOptions extends Partial<MeshOptions> {
  readonly edsCache?: "on" | "off" | "at-once";
  readonly childRemoval?: "retain" | "drop";
}

/** A mesh machine whose effects are written down in a few words, and which is told things by name. */
export class MeshPlay {
  readonly machine: MeshMachine;
  readonly watches = new Map<number, Watch>();
  readonly timers = new Map<number, number>();
  readonly nodes = new Map<string, MeshNode>();
  readonly reports: MeshReport[] = [];
  isComplete = true;
  nowMs = 0;
  #said: string[] = [];

  constructor({ edsCache = "on", childRemoval = "retain", ...options }: PlayOptions = {}) {
    this.machine = new MeshMachine({
      kindOf: (type) => kinds.get(type) ?? "opaque",
      dependenciesOf: (resource) => needs.get(resource) ?? [],
      configuredTypeOf: ({ version }) => formatTypeUrl(version),
      sourceOf: ({ source }, from) => {
        if (source.kind === "api") return Buffer.from(source.bytes).toString() || undefined;
        return source.kind === "self" ? from : "ads";
      },
      followsClusters: false,
      isAggregated: (source) => source === "ads",
      edsCacheOf: () => edsCache,
      childRemovalOf: () => childRemoval,
      ...options,
    });
  }

  /** What was asked for since this was asked last; publications and reports left out. */
  get said(): readonly string[] {
    return this.#said.splice(0);
  }

  /** What there is, in few words. */
  get view(): Readonly<Record<string, string>> {
    const lines = [...this.nodes.values()].map(
      (node) => [`${kindOf(node.type)} ${node.name}`, describe(node)] as const,
    );
    return Object.fromEntries(lines.sort());
  }

  get terms(): readonly string[] {
    return [...this.watches.values()].map(({ type, term }) => `${kindOf(type)} ${term}`).sort();
  }

  node(type: TypeUrl, name: string): MeshNode {
    const found = [...this.nodes.values()].find((node) => node.type === type && node.name === name);
    if (found === undefined) throw new Error(`expected a node ${kindOf(type)} ${name}, got none`);
    return found;
  }

  start(...roots: readonly MeshRoot[]): this {
    for (const root of roots) this.on({ kind: "root-added", root });
    return this;
  }

  on(event: MeshEvent): this {
    for (const effect of this.machine.on(event, { nowMs: this.nowMs })) this.#perform(effect);
    return this;
  }

  /** A server sends it: whoever watches its name or everything is told. */
  gets(...resources: readonly HeldResource[]): this {
    for (const resource of resources) {
      const { name } = resource;
      this.#tell(resource, () => ({ kind: "changed", name, resource }));
    }
    return this;
  }

  /** It came again as it was. */
  confirms(resource: HeldResource): this {
    const { name } = resource;
    this.#tell(resource, (watch) => (watch.wantsConfirmations ? { kind: "confirmed", name, resource } : undefined));
    return this;
  }

  loses(type: TypeUrl, name: string, more: Partial<Extract<WatchEvent, { kind: "absent" }>> = {}): this {
    this.#tell({ type, name }, () => ({ kind: "absent", name, why: "removed", held: undefined, ...more }));
    return this;
  }

  fails(type: TypeUrl, name: string): this {
    const error = { code: 3, message: "no" };
    this.#tell({ type, name }, () => ({ kind: "failed", name, why: "rejected", error, held: undefined }));
    return this;
  }

  syncs(type: TypeUrl, term = "*"): this {
    for (const { watch } of this.#watching(type, (each) => each.term === term))
      this.on({ kind: "news", watch, news: { kind: "synced" } });
    return this;
  }

  /** Time goes by; timers fire in order. */
  passes(ms: number): this {
    const until = this.nowMs + ms;
    for (;;) {
      const [next] = [...this.timers].filter(([, at]) => at <= until).sort(([, a], [, b]) => a - b);
      if (next === undefined) break;
      this.nowMs = Math.max(this.nowMs, next[1]);
      this.timers.delete(next[0]);
      this.on({ kind: "timer-fired", timer: next[0] });
    }
    this.nowMs = until;
    return this;
  }

  #tell({ type, name }: Pick<HeldResource, "type" | "name">, news: (watch: Watch) => WatchEvent | undefined): void {
    for (const watch of this.#watching(type, ({ term }) => covers(term, name))) {
      const told = news(watch);
      if (told !== undefined) this.on({ kind: "news", watch: watch.watch, news: told });
    }
  }

  #watching(type: TypeUrl, wants: (watch: Watch) => boolean): readonly Watch[] {
    return [...this.watches.values()].filter((watch) => watch.type === type && wants(watch));
  }

  #perform(effect: MeshEffect): void {
    switch (effect.kind) {
      case "start-watch":
        this.watches.set(effect.watch, effect);
        this.#said.push(
          `watch ${kindOf(effect.type)} ${effect.term}${effect.source === "ads" ? "" : ` @${effect.source}`}`,
        );
        break;
      case "stop-watch":
        this.#said.push(`stop ${this.#label(effect.watch)}`);
        this.watches.delete(effect.watch);
        break;
      case "start-timer":
        this.timers.set(effect.timer, this.nowMs + effect.ms);
        break;
      case "cancel-timer":
        this.timers.delete(effect.timer);
        break;
      case "changed":
        this.#publish();
        break;
      case "demand-ended":
        this.#said.push(`demand ${effect.demand} ${effect.outcome}`);
        break;
      case "report":
        this.reports.push(effect.report);
        break;
      default:
        this.#said.push(effect.kind);
    }
  }

  #publish(): void {
    const changes = this.machine.takeChanges();
    if (changes === undefined) return;
    for (const node of changes.changed) this.nodes.set(node.id, node);
    for (const id of changes.gone) this.nodes.delete(id);
    this.isComplete = changes.isComplete;
  }

  #label(watch: number): string {
    const { type, term } = this.watches.get(watch) ?? {};
    return `${type === undefined ? "" : kindOf(type)} ${term ?? ""}`;
  }
}

export function kindOf(type: TypeUrl): string {
  return kinds.get(type) ?? type;
}

export function covers(term: string, name: string): boolean {
  return term === "*" || term === name || (term.endsWith("/*") && name.startsWith(term.slice(0, -1)));
}

function describe({ state, resource, warming }: MeshNode): string {
  const next = warming === undefined ? "" : `, ${warming.version} warms`;
  return `${state}${resource === undefined ? "" : ` ${resource.version}`}${next}`;
}
