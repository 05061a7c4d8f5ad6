import { EffectQueue, Timers } from "@xdskit/disk";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { SourceId, TypeUrl } from "@xdskit/protocol";
import {
  areSameBytes,
  type MeshChanges,
  type MeshEffect,
  type MeshEvent,
  MeshMachine,
  type MeshWatchId,
} from "@xdskit/protocol/internal";
import type { ClientConfig, SourceConfig } from "../config/client-config.ts";
import type { ConfigDefaults } from "../config/config-defaults.ts";
import type { Driver, Interest } from "../driver/driver.ts";
import { kindOf } from "../resource/kind-of.ts";
import { typeAt } from "../routing/route.ts";
import { termOf } from "../routing/term.ts";
import { Finder } from "../watch/finder.ts";
import type { MeshReport } from "./mesh-report.ts";
import { MeshSources } from "./mesh-sources.ts";
import { STATIC_SOURCE, type StaticResources } from "./static-source.ts";

type DemandEnd = Extract<MeshEffect, { kind: "demand-ended" }>;

/** What a mesh depends on. */
export interface MeshGround {
  readonly api: EnvoyApi;
  readonly config: ClientConfig;
  readonly defaults: ConfigDefaults;
  readonly statics: StaticResources;
  readonly driver: Pick<Driver, "watch" | "warmingEnded">;
  readonly report: (report: MeshReport) => void;
}

/** Receives the changes of a mesh. */
export interface MeshListener {
  /** Changes are ready to publish: `takeChanges` returns them. */
  changed(): void;
  started(): void;
  demandEnded(end: DemandEnd): void;
}

/** Options of the mesh machine. */
export interface MeshMode {
  /** Clusters that resources name are watched one by one (C-SUB-21). */
  readonly followsClusters: boolean;
}

/** Drives one mesh machine: performs its effects and feeds it events. */
export class MeshRunner {
  readonly sources: MeshSources;
  readonly #ground: MeshGround;
  readonly #listener: MeshListener;
  readonly #machine: MeshMachine;
  readonly #timers = new Timers((timer) => this.on({ kind: "timer-fired", timer }));
  readonly #watches = new Map<
    MeshWatchId,
    { readonly type: TypeUrl; readonly term: string; readonly stop: () => void }
  >();
  /** The watches of extension configs by name. */
  readonly #extensions = new Map<string, Set<MeshWatchId>>();
  readonly #effects = new EffectQueue<MeshEffect>((effect) => this.#perform(effect));
  #isClosed = false;

  constructor(ground: MeshGround, mode: MeshMode, listener: MeshListener) {
    const { api, config, defaults, statics } = ground;
    const sources = new MeshSources({ api, config, defaults, statics });
    this.#ground = ground;
    this.#listener = listener;
    this.sources = sources;
    this.#machine = new MeshMachine({
      ...mode,
      kindOf: (type) => kindOf(type, api),
      // Whether a secret is missing is known only if the bootstrap says which static secrets exist.
      dependenciesOf: ({ type, bytes }) =>
        api.dependencies(type, bytes).filter(({ source }) => source.kind !== "static" || statics.isKnown),
      configuredTypeOf: ({ type, bytes }) => api.configuredType(type, bytes),
      sourceOf: (dependency, from) => sources.resolve(dependency, from),
      isAggregated: (source) => {
        const known = sources.get(source);
        return known?.kind === "grpc" && known.isAggregated;
      },
      edsCacheOf: (source) => {
        if (mode.followsClusters) return "at-once";
        return sources.get(source)?.dialect.edsCache === false ? "off" : "on";
      },
      childRemovalOf: (source) => sources.get(source)?.dialect.childRemoval ?? "retain",
    });
  }

  isWarming(source: SourceId): boolean {
    return this.#machine.isWarming(source);
  }

  /** Why an extension config with this name does not fit where the mesh uses it (C-ECD-04); undefined: it fits. */
  problemWith(type: TypeUrl, name: string, configured: TypeUrl | undefined): string | undefined {
    for (const watch of this.#extensions.get(name) ?? []) {
      if (this.#watches.get(watch)?.type !== type) continue;
      const problem = this.#machine.problemWith(watch, configured);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Changes since the last call; undefined: none. */
  takeChanges(): MeshChanges | undefined {
    return this.#machine.takeChanges();
  }

  on(event: MeshEvent): void {
    if (this.#isClosed) return;
    this.#effects.add(this.#machine.on(event, { nowMs: performance.now() }));
    // Once every effect is performed: a watch may still be to start, and to stop.
    if (this.sources.isUntidy) queueMicrotask(() => this.sources.tidy(this.#machine.sources()));
  }

  close(): void {
    this.#isClosed = true;
    this.#timers.cancelAll();
    for (const { stop } of this.#watches.values()) stop();
    this.#watches.clear();
    this.#extensions.clear();
  }

  #perform(effect: MeshEffect): void {
    if (this.#isClosed) return;
    switch (effect.kind) {
      case "start-watch":
        this.#watch(effect);
        this.#noteExtension(effect);
        break;
      case "stop-watch":
        this.#stop(effect.watch);
        break;
      case "start-timer":
        this.#timers.start(effect.timer, effect.ms);
        break;
      case "cancel-timer":
        this.#timers.cancel(effect.timer);
        break;
      case "changed":
        this.#listener.changed();
        break;
      case "started":
        this.#listener.started();
        break;
      case "warming-ended":
        this.#endWarming(effect.source);
        break;
      case "demand-ended":
        this.#listener.demandEnded(effect);
        break;
      case "report":
        this.#ground.report(effect.report);
        break;
      default:
        effect satisfies never;
    }
  }

  #watch({ watch, source: id, type, term, wantsConfirmations }: Extract<MeshEffect, { kind: "start-watch" }>): void {
    const { api, driver, statics } = this.#ground;
    if (id === STATIC_SOURCE) {
      this.#watches.set(watch, { type, term, stop: () => {} });
      // Publishes only when all roots are known; otherwise startup would end before it began.
      queueMicrotask(() => {
        for (const news of statics.newsOf(type, term)) this.on({ kind: "news", watch, news });
      });
      return;
    }
    if (this.sources.get(id) === undefined) throw new Error(`a mesh asked for a source that nobody named: ${id}`);
    const interestAt = (at: SourceConfig, of: TypeUrl, name: string): Interest => ({
      ...this.#interest(at, of, name),
      ...(wantsConfirmations && { wantsConfirmations }),
    });
    const placesOf = (of: TypeUrl, name: string): readonly Interest[] =>
      this.sources
        .placesOf({ type: of, name, isThere: name === term }, id)
        .map(({ source: at, name: asked }) => interestAt(at, of, asked));
    const start = new Finder({ api, driver, type, placesOf }).find(term);
    const stop = start?.((news) => {
      const own = "name" in news && news.name !== undefined ? statics.owned(type, news.name) : undefined;
      if (own === undefined) this.on({ kind: "news", watch, news });
      else if (news.kind === "changed" && !areSameBytes(own.bytes, news.resource.bytes))
        this.#ground.report({ kind: "overruled", source: id, type, name: news.name });
    });
    this.#watches.set(watch, { type, term, stop: stop ?? (() => {}) });
  }

  #noteExtension({ watch, type, term }: Extract<MeshEffect, { kind: "start-watch" }>): void {
    if (kindOf(type, this.#ground.api) !== "ecds") return;
    this.#extensions.set(term, (this.#extensions.get(term) ?? new Set()).add(watch));
  }

  #stop(watch: MeshWatchId): void {
    const watched = this.#watches.get(watch);
    if (watched === undefined) return;
    watched.stop();
    this.#watches.delete(watch);
    const same = this.#extensions.get(watched.term);
    if (same?.delete(watch) === true && same.size === 0) this.#extensions.delete(watched.term);
  }

  #interest(source: SourceConfig, type: TypeUrl, name: string): Interest {
    const { api, config } = this.#ground;
    return {
      source,
      type: typeAt(source, type, api.traits(type)),
      term: termOf(name, { contextParams: config.nodeContextParams, parameters: source.parameters }),
    };
  }

  /** Ends warming only after the whole response is applied, because its resources arrive one by one (C-ACK-15). */
  #endWarming(source: SourceId): void {
    if (source === STATIC_SOURCE) return;
    queueMicrotask(() => {
      if (!this.#isClosed && !this.#machine.isWarming(source)) this.#ground.driver.warmingEnded(source);
    });
  }
}
