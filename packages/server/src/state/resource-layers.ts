import type { AnyMessage } from "@xdskit/envoy-api/resources";
import type { Deletion, LayerChange, Resource, Transaction, TypeUrl } from "@xdskit/protocol";
import { canonicalName, describeKind, describeProblems, plainName } from "@xdskit/protocol/internal";
import { type ResourceProblem, XdsError } from "../error.ts";
import { isThenable } from "../hub/listeners.ts";
import { HeldLayer, type ResourceId } from "./held-layer.ts";
import { plainDigest } from "./plain-digest.ts";
import {
  duplicateProblem,
  type InputPlace,
  pathOf,
  type ReadInput,
  type Reading,
  readInput,
} from "./resource-input.ts";

/** A resource type: a constructor such as `Cluster`, or a type URL. */
export type TypeReference = TypeUrl | { readonly typeUrl: TypeUrl };

/** The change of one resource. */
export interface ResourceChange {
  readonly kind: "put" | "deleted";
  readonly layer: string;
  readonly type: TypeUrl;
  /** Of a variant the name that it shares with others. */
  readonly name: string;
}

/** The result of `set` and `update`. */
export interface ChangeResult {
  /** The revision of the whole state; the same as before if nothing changed. */
  readonly revision: number;
  /** Added, changed and deleted resources, by layer, type and name. */
  readonly changed: readonly ResourceChange[];
}

/**
 * A list of messages. The compiler keeps the element types of a literal of this type apart: as an `AnyMessage[]`, a literal that mixes
 * messages of an `AnyMessage` with others is an error (TS2590).
 */
export type ResourceList = readonly AnyMessage[] | readonly [AnyMessage, ...AnyMessage[]];

/** The changes that `update` makes together. Throws an `XdsError` (SERVER_STATE) once the callback has returned. */
export interface Update {
  layer(name: string): LayerUpdate;
}

/** Changes of one layer. */
export interface LayerUpdate {
  /** Adds or replaces resources. One update puts a name once, unless it deletes it in between. */
  put(...resources: readonly AnyMessage[]): this;
  /**
   * Deletes resources by their names, at least one, with all variants of a name; ignores names that the layer does not
   * hold. What the same update puts afterwards stays.
   */
  delete(type: TypeReference, ...names: readonly string[]): this;
}

/** How resources are read. */
export type ReadingSettings = Pick<Reading, "api" | "validation">;

/** Applies transactions. */
export interface CommitTarget {
  commit(transaction: Transaction): number;
  readonly revision: number;
}

/** The layers as `set` and `update` left them; it ignores what `commit` puts into the same layers. */
export class ResourceLayers {
  readonly #settings: ReadingSettings;
  readonly #target: CommitTarget;
  readonly #layers = new Map<string, HeldLayer>();
  #hasCommitted = false;

  constructor(settings: ReadingSettings, target: CommitTarget) {
    this.#settings = settings;
    this.#target = target;
  }

  /** Replaces the resources of a layer. */
  set(layer: string, resources: ResourceList): ChangeResult {
    const problems: ResourceProblem[] = [];
    checkLayerName(layer, "layer", problems);
    if (!Array.isArray(resources))
      problems.push(
        misuse(typeof layer === "string" ? layer : "", "resources", "a list of resources", describeKind(resources)),
      );
    refuse(problems);
    const before = this.#layers.get(layer) ?? new HeldLayer();
    const held = new HeldLayer();
    const reads: (ReadInput | undefined)[] = [];
    const indexOf = firstIndices(reads);
    const reading = { ...this.#settings, problems };
    for (let index = 0; index < resources.length; index++) {
      const value = resources[index] as AnyMessage;
      const digest = plainDigest(value);
      const place: InputPlace = { layer, list: "resources", index };
      const read = before.recall(digest) ?? readInput(value, place, reading, digest);
      reads.push(read);
      if (read !== undefined && held.put(read) !== undefined)
        problems.push(duplicateProblem(read.resource, place, `resources[${indexOf(read.resource)}]`));
    }
    refuse(problems);
    const change = changeOf(layer, before, held.all, before.notIn(held));
    this.#keep(layer, held);
    return this.#commit(change === undefined ? [] : [change], () => this.#keep(layer, before));
  }

  /** Applies the changes of the callback together. */
  update(change: (update: Update) => unknown): ChangeResult {
    if (typeof change !== "function") refuse([misuse("", "update", "a function", describeKind(change))]);
    const draft = new Draft(this.#settings, this.#layers);
    const result = draft.run(change);
    if (isThenable(result)) {
      result.then(undefined, () => undefined); // its rejection would end the process
      draft.problems.push(misuse("", "update", "a function that is not async", "an async one"));
    }
    refuse(draft.problems);
    const changes: LayerChange[] = [];
    const undos: (() => void)[] = [];
    for (const [layer, { puts, deletes: named }] of draft.layers) {
      // As it is now: the callback may have made changes of its own.
      const held = this.#layers.get(layer) ?? new HeldLayer();
      const deletes = [...named.values()].flatMap((id) => [...held.named(id)]).filter((id) => !puts.has(keyOf(id)));
      const one = changeOf(layer, held, puts.values(), deletes);
      if (one !== undefined) changes.push(one);
      undos.push(editLayer(held, puts.values(), deletes), () => this.#keep(layer, held));
      this.#keep(layer, held);
    }
    return this.#commit(changes, () => {
      for (const undo of undos) undo();
    });
  }

  /** The layers with resources, except one. */
  namesBeside(usual: string): readonly string[] {
    return [...this.#layers.keys()].filter((layer) => layer !== usual);
  }

  /** Every resource of every layer. */
  *entries(): Iterable<ReadInput & { readonly layer: string }> {
    for (const [layer, held] of this.#layers) for (const one of held.all) yield { layer, ...one };
  }

  /** Layers come and go with nodes, so empty ones are not kept. */
  #keep(layer: string, held: HeldLayer): void {
    if (held.isEmpty) this.#layers.delete(layer);
    else this.#layers.set(layer, held);
  }

  /** The layers are changed already, because a listener of the commit may make the next change. */
  #commit(changes: readonly LayerChange[], undo: () => void): ChangeResult {
    try {
      // The first commit makes the server ready, even if it is empty.
      if (changes.length > 0 || !this.#hasCommitted) this.#target.commit({ changes });
    } catch (cause) {
      undo();
      throw cause;
    }
    this.#hasCommitted = true;
    return { revision: this.#target.revision, changed: changes.flatMap(changedBy) };
  }
}

/** Deletes and puts resources; returns what undoes it. */
function editLayer(held: HeldLayer, puts: Iterable<ReadInput>, deletes: Iterable<ResourceId>): () => void {
  const replaced: ReadInput[] = [];
  const added: ResourceId[] = [];
  for (const id of deletes) {
    const old = held.get(id);
    if (old !== undefined) replaced.push(old);
    held.delete(id);
  }
  for (const read of puts) {
    const old = held.put(read);
    if (old === undefined) added.push(read.resource);
    else replaced.push(old);
  }
  return () => {
    for (const id of added) held.delete(id);
    for (const old of replaced) held.put(old);
  };
}

/** Returns a function that finds the first index of a resource, in constant time although more are still added. */
function firstIndices(reads: readonly (ReadInput | undefined)[]): (id: ResourceId) => number | undefined {
  const indices = new Map<string, number>();
  let known = 0;
  return (id) => {
    for (; known < reads.length; known++) {
      const read = reads[known];
      const key = read && keyOf(read.resource);
      if (key !== undefined && !indices.has(key)) indices.set(key, known);
    }
    return indices.get(keyOf(id));
  };
}

function keyOf({ type, name }: ResourceId): string {
  return `${type} ${name}`;
}

/** What an update changes in one layer. */
interface DraftLayer {
  readonly puts: Map<string, ReadInput>;
  /** The keys of variants that are put, by that of the name that they share. */
  readonly variants: Map<string, string[]>;
  /** What is deleted, with all variants, unless it is put. */
  readonly deletes: Map<string, ResourceId>;
}

class Draft implements Update {
  readonly problems: ResourceProblem[] = [];
  readonly layers = new Map<string, DraftLayer>();
  readonly #reading: Reading;
  readonly #before: ReadonlyMap<string, HeldLayer>;
  /** Where each resource was put, by layer and key. */
  readonly #putAt = new Map<string, Map<string, string>>();
  #puts = 0;
  #isOver = false;

  constructor(settings: ReadingSettings, before: ReadonlyMap<string, HeldLayer>) {
    this.#reading = { ...settings, problems: this.problems };
    this.#before = before;
  }

  /** Returns what the callback returns. */
  run(change: (update: Update) => unknown): unknown {
    try {
      return change(this);
    } finally {
      this.#isOver = true;
    }
  }

  /** Whoever changes something later would see nothing happen. */
  #requireRunning(): void {
    if (this.#isOver)
      throw new XdsError("SERVER_STATE", "expected an update that runs, got one whose callback has returned");
  }

  layer(layer: string): LayerUpdate {
    this.#requireRunning();
    checkLayerName(layer, "layer", this.problems);
    const known = this.layers.get(layer);
    const draft = known ?? { puts: new Map(), variants: new Map(), deletes: new Map() };
    this.layers.set(layer, draft);
    const { puts, variants, deletes } = draft;
    const putAt = this.#putAt.get(layer) ?? new Map<string, string>();
    this.#putAt.set(layer, putAt);
    const update: LayerUpdate = {
      put: (...values) => {
        this.#requireRunning();
        for (const value of values) this.#put(value, { layer, list: "put", index: this.#puts++ }, draft, putAt);
        return update;
      },
      delete: (type, ...names) => {
        this.#requireRunning();
        const typeUrl = typeUrlOf(type);
        if (typeUrl === undefined) {
          this.problems.push(misuse(layer, "delete", "a type such as Cluster, or its URL", describeKind(type)));
          return update;
        }
        if (names.length === 0) this.problems.push(misuse(layer, "delete", "at least one name", "none"));
        for (const name of names) {
          if (typeof name !== "string") {
            this.problems.push(misuse(layer, "delete", "names one by one", describeKind(name)));
            continue;
          }
          const id = { type: typeUrl, name: canonicalName(name) };
          const key = keyOf(id);
          deletes.set(key, id);
          for (const one of [key, ...(variants.get(key) ?? [])]) {
            puts.delete(one);
            putAt.delete(one);
          }
          variants.delete(key);
        }
        return update;
      },
    };
    return update;
  }

  #put(value: AnyMessage, place: InputPlace, { puts, variants }: DraftLayer, putAt: Map<string, string>): void {
    const digest = plainDigest(value);
    const read = this.#before.get(place.layer)?.recall(digest) ?? readInput(value, place, this.#reading, digest);
    if (read === undefined) return;
    const key = keyOf(read.resource);
    const firstPath = putAt.get(key);
    if (firstPath !== undefined) this.problems.push(duplicateProblem(read.resource, place, firstPath));
    putAt.set(key, pathOf(place));
    puts.set(key, read);
    const { type, name } = read.resource;
    if (plainName(name) === name) return;
    const shared = keyOf({ type, name: plainName(name) });
    const ofName = variants.get(shared) ?? [];
    variants.set(shared, ofName);
    ofName.push(key);
  }
}

/** The change of a layer by these puts and deletes; undefined if nothing differs. */
function changeOf(
  layer: string,
  before: HeldLayer,
  candidates: Iterable<ReadInput>,
  deleted: Iterable<ResourceId>,
): LayerChange | undefined {
  const puts: Resource[] = [];
  const deletes: Deletion[] = [];
  for (const { resource } of candidates) {
    const old = before.get(resource)?.resource;
    // A changed TTL is sent although the version stays the same.
    if (old?.version !== resource.version || old.ttlMs !== resource.ttlMs) puts.push(resource);
  }
  for (const id of deleted) {
    const old = before.get(id)?.resource;
    if (old !== undefined) deletes.push({ type: old.type, name: old.name });
  }
  return puts.length + deletes.length === 0 ? undefined : { layer, puts, deletes };
}

function changedBy({ layer, puts = [], deletes = [] }: LayerChange): readonly ResourceChange[] {
  return [
    ...puts.map(({ type, name }) => ({ kind: "put", layer, type, name: plainName(name) }) as const),
    ...deletes.map(({ type, name }) => ({ kind: "deleted", layer, type, name: plainName(name) }) as const),
  ];
}

const TYPE_URL_PREFIX = "type.googleapis.com/";

/** Undefined for what is no type. */
function typeUrlOf(type: TypeReference): TypeUrl | undefined {
  // Without a compiler it may be anything.
  const given: unknown = typeof type === "string" ? type : (type as Partial<typeof type> | undefined)?.typeUrl;
  return typeof given === "string" && given.startsWith(TYPE_URL_PREFIX) ? (given as TypeUrl) : undefined;
}

function checkLayerName(layer: unknown, path: string, problems: ResourceProblem[]): void {
  if (typeof layer !== "string" || layer === "")
    problems.push(misuse("", path, "the name of a layer", describeKind(layer)));
}

function misuse(layer: string, path: string, expected: string, got: string): ResourceProblem {
  return { layer, path, code: "ARGUMENT_INVALID", severity: "error", message: `expected ${expected}, got ${got}` };
}

function refuse(problems: readonly ResourceProblem[]): void {
  if (problems.length === 0) return;
  throw new XdsError("RESOURCES_INVALID", describeProblems("nothing was changed", problems), { problems });
}
