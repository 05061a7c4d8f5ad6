import type { EnvoyApi } from "@xdskit/envoy-api";
import type { AnyMessage } from "@xdskit/envoy-api/resources";
import type { Deletion, LayerChange, Resource, Transaction, TypeUrl } from "@xdskit/protocol";
import { canonicalName } from "@xdskit/protocol/internal";
import { describeProblems, type ResourceProblem, XdsError } from "../error.ts";
import { describeKind } from "../option-kinds.ts";
import { duplicateProblem, type InputPlace, type ReadInput, readInput } from "./resource-input.ts";

/** A resource type: a constructor such as `Cluster`, or a type URL. */
export type TypeReference = TypeUrl | { readonly typeUrl: TypeUrl };

/** The change of one resource. */
export interface ResourceChange {
  readonly kind: "put" | "deleted";
  readonly layer: string;
  readonly type: TypeUrl;
  readonly name: string;
}

/** The result of `set` and `update`. */
export interface ChangeResult {
  /** The revision of the whole state; the same as before if nothing changed. */
  readonly revision: number;
  /** Added, changed and deleted resources, by layer, type and name. */
  readonly changed: readonly ResourceChange[];
}

/** The changes that `update` makes together. */
export interface Update {
  layer(name: string): LayerUpdate;
}

/** Changes of one layer. */
export interface LayerUpdate {
  /** Adds or replaces resources. One update puts a name once, unless it deletes it in between. */
  put(...resources: readonly AnyMessage[]): this;
  /** Deletes resources by their names, at least one; ignores names that the layer does not hold. */
  delete(type: TypeReference, ...names: readonly string[]): this;
}

/** Applies transactions. */
export interface CommitTarget {
  commit(transaction: Transaction): number;
  readonly revision: number;
}

/** The resources of one layer by type and name. */
type Held = ReadonlyMap<string, ReadInput>;

/** The layers as `set` and `update` left them; it ignores what `commit` puts into the same layers. */
export class ResourceLayers {
  readonly #api: EnvoyApi;
  readonly #target: CommitTarget;
  #layers: ReadonlyMap<string, Held> = new Map();
  #hasCommitted = false;

  constructor(api: EnvoyApi, target: CommitTarget) {
    this.#api = api;
    this.#target = target;
  }

  /** Replaces the resources of a layer. */
  set(layer: string, resources: readonly AnyMessage[]): ChangeResult {
    const problems: ResourceProblem[] = [];
    checkLayerName(layer, "layer", problems);
    if (!Array.isArray(resources))
      problems.push(misuse(layer, "resources", "a list of resources", describeKind(resources)));
    const held = new Map<string, ReadInput>();
    const paths = new Map<string, string>();
    for (const [index, value] of problems.length > 0 ? [] : resources.entries()) {
      const place = { layer, path: `resources[${index}]` };
      const read = readInput(value, place, { api: this.#api, problems });
      if (read === undefined) continue;
      const key = keyOf(read.resource);
      const firstPath = paths.get(key);
      if (firstPath !== undefined) problems.push(duplicateProblem(read.resource, place, firstPath));
      else paths.set(key, place.path);
      held.set(key, read);
    }
    refuse(problems);
    return this.#become(new Map([[layer, held]]));
  }

  /** Applies the changes of the callback together. */
  update(change: (update: Update) => unknown): ChangeResult {
    const draft = new Draft(this.#api, this.#layers);
    const result = change(draft);
    if (result instanceof Promise)
      draft.problems.push(misuse("", "update", "a function that is not async", "an async one"));
    refuse(draft.problems);
    return this.#become(draft.layers);
  }

  /** The layers with resources, except one. */
  namesBeside(usual: string): readonly string[] {
    return [...this.#layers].flatMap(([layer, held]) => (layer === usual || held.size === 0 ? [] : [layer]));
  }

  /** Every resource of every layer. */
  *entries(): Iterable<ReadInput & { readonly layer: string }> {
    for (const [layer, held] of this.#layers) for (const one of held.values()) yield { layer, ...one };
  }

  #become(next: ReadonlyMap<string, Held>): ChangeResult {
    const changes = [...next].flatMap(([layer, held]) => differenceOf(layer, this.#layers.get(layer) ?? nothing, held));
    // The first commit makes the server ready, even if it is empty.
    if (changes.length > 0 || !this.#hasCommitted) this.#target.commit({ changes });
    this.#hasCommitted = true;
    this.#layers = new Map([...this.#layers, ...next]);
    return { revision: this.#target.revision, changed: changes.flatMap(changedBy) };
  }
}

const nothing: Held = new Map();

class Draft implements Update {
  readonly problems: ResourceProblem[] = [];
  readonly layers = new Map<string, Map<string, ReadInput>>();
  readonly #api: EnvoyApi;
  readonly #before: ReadonlyMap<string, Held>;
  /** Where each resource was put, by layer and key. */
  readonly #putAt = new Map<string, Map<string, string>>();
  #puts = 0;

  constructor(api: EnvoyApi, before: ReadonlyMap<string, Held>) {
    this.#api = api;
    this.#before = before;
  }

  layer(layer: string): LayerUpdate {
    checkLayerName(layer, "layer", this.problems);
    const held = this.layers.get(layer) ?? new Map(this.#before.get(layer));
    this.layers.set(layer, held);
    const putAt = this.#putAt.get(layer) ?? new Map<string, string>();
    this.#putAt.set(layer, putAt);
    const update: LayerUpdate = {
      put: (...values) => {
        for (const value of values) this.#put(value, { layer, path: `put[${this.#puts++}]` }, held, putAt);
        return update;
      },
      delete: (type, ...names) => {
        const typeUrl = typeof type === "string" ? type : type.typeUrl;
        if (names.length === 0) this.problems.push(misuse(layer, "delete", "at least one name", "none"));
        for (const name of names) {
          const key = keyOf({ type: typeUrl, name: canonicalName(name) });
          held.delete(key);
          putAt.delete(key);
        }
        return update;
      },
    };
    return update;
  }

  #put(value: AnyMessage, place: InputPlace, held: Map<string, ReadInput>, putAt: Map<string, string>): void {
    const read = readInput(value, place, { api: this.#api, problems: this.problems });
    if (read === undefined) return;
    const key = keyOf(read.resource);
    const firstPath = putAt.get(key);
    if (firstPath !== undefined) this.problems.push(duplicateProblem(read.resource, place, firstPath));
    putAt.set(key, place.path);
    held.set(key, read);
  }
}

function keyOf({ type, name }: Pick<Resource, "type" | "name">): string {
  return `${type} ${name}`;
}

function differenceOf(layer: string, before: Held, after: Held): readonly LayerChange[] {
  const puts: Resource[] = [];
  const deletes: Deletion[] = [];
  for (const [key, { resource }] of after) {
    const old = before.get(key)?.resource;
    // A changed TTL is sent although the version stays the same.
    if (old?.version !== resource.version || old.ttlMs !== resource.ttlMs) puts.push(resource);
  }
  for (const [key, { resource }] of before) {
    if (!after.has(key)) deletes.push({ type: resource.type, name: resource.name });
  }
  return puts.length + deletes.length === 0 ? [] : [{ layer, puts, deletes }];
}

function changedBy({ layer, puts = [], deletes = [] }: LayerChange): readonly ResourceChange[] {
  return [
    ...puts.map(({ type, name }) => ({ kind: "put", layer, type, name }) as const),
    ...deletes.map(({ type, name }) => ({ kind: "deleted", layer, type, name }) as const),
  ];
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
