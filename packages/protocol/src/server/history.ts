import type { Resource } from "../resource/resource.ts";
import { withoutError } from "../resource/resource-error.ts";
import { hasSameContent } from "../resource/ttl.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { deletedKey } from "../state/layer.ts";
import type { LayerSet } from "../state/layer-set.ts";
import { ITEMS_A_STEP, type Steps } from "../state/steps.ts";
import type { LayerChange, Transaction } from "../state/transaction.ts";
import { noPendingRemovals, type PendingRemoval, PendingRemovals } from "./cache/pending-removals.ts";
import type { Served } from "./cache/served.ts";
import type { SharedResponses } from "./cache/shared-responses.ts";
import type { ServerEffect } from "./contract/effect.ts";
import type { Remembered } from "./contract/remembered.ts";
import type { ClusterSources, NotedSource } from "./order/cluster-sources.ts";

type Remember = Extract<ServerEffect, { kind: "remember" }>;

/**
 * Carries Clusters and scopes over a restart: writes the records for the next server, and restores those of the previous one. A
 * restarted server goes on from the state of the previous one, so a client that reconnects in the middle of a change is
 * sent only the difference.
 */
export class History<W extends object> {
  readonly #layers: LayerSet<W>;
  readonly #responses: SharedResponses;
  /** Whether State of the World clients may hold deleted resources of a type. */
  readonly #keeps: (type: TypeUrl) => boolean;
  readonly #clusterSources: ClusterSources;
  /** Layers that still hold resources of the previous server. */
  readonly #restored = new Set<string>();

  constructor(
    layers: LayerSet<W>,
    responses: SharedResponses,
    keeps: (type: TypeUrl) => boolean,
    clusterSources: ClusterSources,
  ) {
    this.#layers = layers;
    this.#responses = responses;
    this.#keeps = keeps;
    this.#clusterSources = clusterSources;
  }

  /** Whether the next transaction replaces what the previous server had. */
  get isRestored(): boolean {
    return this.#restored.size > 0;
  }

  /** Restores the records of the previous server. */
  restore(remembered: Iterable<Remembered>): void {
    for (const one of remembered) {
      if (one.kind === "clusters-elsewhere") {
        this.#clusterSources.restore(one);
        continue;
      }
      if (one.kind === "changed") this.#restoreChange(one);
      else this.#restoreServed(one);
      this.#responses.resumeAt(one.revision);
    }
    this.#responses.served.takeNews();
    this.#clusterSources.takeNews();
  }

  /**
   * Notes what another server with the same resources served: its clients may come here. Returns the records of what was
   * served here since the last call.
   */
  noteElsewhere(remembered: Iterable<Remembered>): readonly Remember[] {
    const own = this.served();
    for (const one of remembered) {
      if (one.kind === "served") this.#restoreServed(one);
      else if (one.kind === "clusters-elsewhere") this.#clusterSources.restore(one);
    }
    this.#responses.served.takeNews();
    this.#clusterSources.takeNews();
    return own;
  }

  /**
   * Extends the first transaction so that it replaces the resources of the previous server: those that it does not put
   * are deleted.
   */
  complete(transaction: Transaction): Transaction {
    if (this.#restored.size === 0) return transaction;
    const puts = new Set<string>();
    for (const { layer, puts: given } of transaction.changes) {
      const tables = this.#layers.layer(layer)?.tables;
      for (const put of given ?? []) {
        if (!this.#keeps(put.type)) continue;
        puts.add(JSON.stringify([layer, put.type, put.name]));
        const table = tables?.get(put.type);
        const before = table?.resources.get(put.name);
        // Restored resources have no metadata; an equal version shows that the resource is the same.
        if (before?.version === put.version && areEqual(before.bytes, put.bytes)) table?.adopt(put);
      }
    }
    const leftovers = [...this.#restored].map((layer): LayerChange => {
      const tables = [...(this.#layers.layer(layer)?.tables.entries() ?? [])];
      const deletes = tables.flatMap(([type, { resources }]) =>
        [...resources.keys()].flatMap((name) =>
          puts.has(JSON.stringify([layer, type, name])) ? [] : [{ type, name }],
        ),
      );
      return { layer, deletes };
    });
    this.#restored.clear();
    return { ...transaction, changes: [...leftovers, ...transaction.changes] };
  }

  /** The records of a transaction that is about to take effect. */
  *changed(transaction: Transaction, revision: number): Steps<readonly Remember[]> {
    let taken = 0;
    const records: Remember[] = [];
    for (const { layer, puts = [], deletes = [] } of transaction.changes) {
      const byType = new Map<TypeUrl, { puts: Resource[]; deletes: string[] }>();
      const of = (type: TypeUrl): { puts: Resource[]; deletes: string[] } => {
        const known = byType.get(type) ?? { puts: [], deletes: [] };
        byType.set(type, known);
        return known;
      };
      const held = (type: TypeUrl, name: string): Resource | undefined =>
        this.#layers.layer(layer)?.table(type)?.resources.get(name);
      for (const put of puts) {
        if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
        // To a reconnecting client, an error in place of a resource means that there is none.
        if (put.error !== undefined && this.#keeps(put.type)) {
          if (withoutError(held(put.type, put.name)) !== undefined) of(put.type).deletes.push(put.name);
        } else if (this.#keeps(put.type) && !hasSameContent(held(put.type, put.name), put)) of(put.type).puts.push(put);
      }
      for (const deletion of deletes) {
        if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
        const { type } = deletion;
        const name = deletedKey(deletion);
        if (this.#keeps(type) && held(type, name) !== undefined) of(type).deletes.push(name);
      }
      for (const [type, what] of byType) records.push(remember({ kind: "changed", revision, type, layer, ...what }));
    }
    return records;
  }

  /** Records of all current Clusters and scopes, of the versions under which clients hold them, and of nodes without any. */
  *present(): Iterable<Remembered> {
    const { revision } = this.#responses;
    for (const { name: layer } of this.#layers.describe()) {
      for (const [type, { resources }] of this.#layers.layer(layer)?.tables ?? []) {
        const puts = [...resources.values()].filter((one) => one.error === undefined && one.isStandIn !== true);
        if (this.#keeps(type) && puts.length > 0) yield { kind: "changed", revision, type, layer, puts, deletes: [] };
      }
    }
    for (const served of this.#responses.served.current()) if (isKept(served)) yield servedRecord(served, revision);
    for (const one of this.#clusterSources.current()) yield sourceRecord(one);
  }

  /** Records of the versions that clients were sent, and of where they get their Clusters, since the last call. */
  served(): readonly Remember[] {
    const versions = this.#responses.served.takeNews().filter(isKept);
    const sources = this.#clusterSources.takeNews();
    if (versions.length + sources.length === 0) return nothing;
    return [
      ...versions.map((one) => remember(servedRecord(one, one.position.revision))),
      ...sources.map((one) => remember(sourceRecord(one))),
    ];
  }

  #restoreChange({ revision, type, layer, puts, deletes }: Extract<Remembered, { kind: "changed" }>): void {
    this.#restored.add(layer);
    const changes = [{ layer, puts, deletes: deletes.map((name) => ({ type, name })) }];
    this.#layers.apply({ changes }, revision);
  }

  #restoreServed({ revision, type, layers, version, pendingRemovals }: Extract<Remembered, { kind: "served" }>): void {
    const held = new Map(pendingRemovals.map((was): [string, PendingRemoval] => [was.name, { was, since: revision }]));
    this.#responses.served.note({
      type,
      version,
      position: { view: this.#layers.viewOf(layers), revision },
      pendingRemovals: held.size === 0 ? noPendingRemovals : new PendingRemovals(held),
    });
  }
}

const nothing: readonly Remember[] = [];

/** A record names layers only, so what was served of parts of them is not kept. */
function isKept({ position: { view } }: Served): boolean {
  return view.grant.isWhole;
}

function servedRecord({ type, version, position: { view }, pendingRemovals }: Served, revision: number): Remembered {
  const layers = view.layers.map((layer) => layer.name);
  return { kind: "served", revision, type, layers, version, pendingRemovals: pendingRemovals.segment.puts };
}

function sourceRecord(one: NotedSource): Remembered {
  return { kind: "clusters-elsewhere", ...one };
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function remember(what: Remembered): Remember {
  return { kind: "remember", what };
}
