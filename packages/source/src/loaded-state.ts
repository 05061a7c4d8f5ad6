import type { ClientRule, Deletion, LayerChange, Placement, Resource, Transaction, TypeUrl } from "@xdskit/protocol";
import { editBetween } from "./known-edits.ts";
import type { Problem } from "./problem.ts";
import type { ListenerSettings } from "./settings/choice-reading.ts";
import type { Settings } from "./settings/setting-table.ts";

/** What a directory holds when nothing is wrong with it. */
export interface LoadedState {
  /** `base`, `group/edge`, `node/edge-7`. A layer whose files did not change is the same list as in the state before. */
  readonly layers: ReadonlyMap<string, readonly Resource[]>;
  /** What `xdskit.yaml` says; empty if there is none. */
  readonly settings: Settings;
  /** How single clients are spoken to; the same list as long as the file is the same. */
  readonly clients: readonly ClientRule[];
  /** Where clients connect besides `listen`. */
  readonly listeners: readonly ListenerSettings[];
  /** The group rules of `xdskit.yaml`, for the layers that there are. */
  readonly placement: Placement;
  /** How many files of resources there are. */
  readonly files: number;
  readonly resources: number;
}

/** One reading of the whole directory. */
export interface Load {
  /** Undefined when there is an error among the problems: nothing of this load may take effect. */
  readonly state: LoadedState | undefined;
  /** In the order of files and lines. */
  readonly problems: readonly Problem[];
}

/** What must be committed to get from one state to the next; undefined when nothing changed. A layer that is gone is emptied. */
export function transactionBetween(before: LoadedState | undefined, after: LoadedState): Transaction | undefined {
  const changes: LayerChange[] = [];
  for (const [layer, resources] of after.layers) {
    const change = changeOf(layer, before?.layers.get(layer) ?? [], resources);
    if (change !== undefined) changes.push(change);
  }
  for (const [layer, resources] of before?.layers ?? []) {
    if (!after.layers.has(layer) && resources.length > 0) changes.push({ layer, deletes: resources.map(deletionOf) });
  }
  return changes.length === 0 ? undefined : { changes };
}

function changeOf(layer: string, before: readonly Resource[], after: readonly Resource[]): LayerChange | undefined {
  if (before === after) return undefined;
  const { added, removed } = editBetween(before, after);
  const old = new Map<TypeUrl, Map<string, Resource>>();
  for (const resource of removed) {
    const names = old.get(resource.type);
    if (names === undefined) old.set(resource.type, new Map([[resource.name, resource]]));
    else names.set(resource.name, resource);
  }
  const puts: Resource[] = [];
  for (const resource of added) {
    const replaced = old.get(resource.type)?.get(resource.name);
    if (replaced === undefined || differs(replaced, resource)) puts.push(resource);
    old.get(resource.type)?.delete(resource.name);
  }
  const deletes = [...old.values()].flatMap((names) => [...names.values()].map(deletionOf));
  if (puts.length === 0 && deletes.length === 0) return undefined;
  return { layer, ...(puts.length === 0 ? {} : { puts }), ...(deletes.length === 0 ? {} : { deletes }) };
}

/** A new time to live is told although the version stays the same. */
function differs(before: Resource, after: Resource): boolean {
  const isAsDemanded = before.onDemand === after.onDemand && before.variant?.onDemand === after.variant?.onDemand;
  return before.version !== after.version || before.ttlMs !== after.ttlMs || !isAsDemanded;
}

function deletionOf({ type, name }: Resource): Deletion {
  return { type, name };
}
