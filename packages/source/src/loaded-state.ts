import type {
  AccessRules,
  ClientRule,
  Commit,
  Deletion,
  GroupRule,
  LayerChange,
  Resource,
  TypeUrl,
} from "@xdskit/protocol";
import { finish, ITEMS_A_STEP, type Steps } from "@xdskit/protocol/internal";
import { editBetween } from "./known-edits.ts";
import type { Problem } from "./problem.ts";
import type { RecountedFile } from "./recounted-files.ts";
import type { ListenerSettings } from "./settings/choice-reading.ts";
import type { Settings } from "./settings/setting-table.ts";

/** The content of a directory without errors. */
export interface LoadedState {
  /**
   * Resources by layer: `base`, `group/edge`, `node/edge-7`. A layer without changed files is the same list as in the
   * previous state.
   */
  readonly layers: ReadonlyMap<string, readonly Resource[]>;
  /** The settings in `xdskit.yaml`; empty without that file. */
  readonly settings: Settings;
  /** Rules for single clients; the same list while the file stays the same. */
  readonly clients: readonly ClientRule[];
  /** Access rules; the same object while the file stays the same. */
  readonly access?: AccessRules | undefined;
  /** Listen addresses besides `listen`. */
  readonly listeners: readonly ListenerSettings[];
  /** The node mapping, as plain data; the same list while the file stays the same. */
  readonly groups: readonly GroupRule[];
  /** The number of resource files. */
  readonly files: number;
  readonly resources: number;
}

/** One reading of the whole directory. */
export interface Load {
  /** Undefined if a problem is an error: nothing of this load may take effect. */
  readonly state: LoadedState | undefined;
  /** Ordered by file and line. */
  readonly problems: readonly Problem[];
  /** Of a watch: when the change was noticed, and when it was read. */
  readonly reading?: ReadingTimes;
  /** Files with more or fewer resources than in the last load without errors; absent: none, or it is the first. */
  readonly recounted?: readonly RecountedFile[];
}

/** When a change was noticed, and when it was read. */
export interface ReadingTimes {
  /**
   * When the first of the changes was reported that were read together; where the system reports none, when the check
   * began that found them.
   */
  readonly noticedAt: Date;
  readonly beganAt: Date;
  readonly endedAt: Date;
}

/**
 * The commit that leads from one state to the next, with node mapping, access rules and client overrides as far as they
 * changed; undefined when nothing did. Removed layers are emptied.
 */
export function transactionBetween(before: LoadedState | undefined, after: LoadedState): Commit | undefined {
  const changes = layerChangesBetween(before?.layers ?? new Map(), after.layers);
  const rules = {
    ...(!isSame(before?.groups, after.groups) && { nodeMapping: { groups: after.groups } }),
    ...(!isSame(before?.access, after.access) && { access: after.access ?? ("default" as const) }),
    ...(!isSame(before?.clients, after.clients) && { clientOverrides: after.clients }),
  };
  return changes.length + Object.keys(rules).length === 0 ? undefined : { changes, ...rules };
}

/** The changes that lead from some layers to others; lists that are the same object are not looked into. */
export function layerChangesBetween(
  before: LoadedState["layers"],
  after: LoadedState["layers"],
): readonly LayerChange[] {
  return finish(layerChangesInSteps(before, after));
}

/** As `layerChangesBetween`, to be spread over turns of the event loop. */
export function* layerChangesInSteps(
  before: LoadedState["layers"],
  after: LoadedState["layers"],
): Steps<readonly LayerChange[]> {
  const changes: LayerChange[] = [];
  for (const [layer, resources] of after) {
    const change = yield* changeOf(layer, before.get(layer) ?? [], resources);
    if (change !== undefined) changes.push(change);
  }
  for (const [layer, resources] of before)
    if (!after.has(layer) && resources.length > 0) changes.push({ layer, deletes: resources.map(deletionOf) });
  return changes;
}

/** Whether plain data is equal; a thread that begins anew tells equal data again. */
function isSame(before: unknown, after: unknown): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after);
}

function* changeOf(
  layer: string,
  before: readonly Resource[],
  after: readonly Resource[],
): Steps<LayerChange | undefined> {
  let taken = 0;
  if (before === after) return undefined;
  const { added, removed } = yield* editBetween(before, after);
  const old = new Map<TypeUrl, Map<string, Resource>>();
  for (const resource of removed) {
    const names = old.get(resource.type);
    if (names === undefined) old.set(resource.type, new Map([[resource.name, resource]]));
    else names.set(resource.name, resource);
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  const puts: Resource[] = [];
  for (const resource of added) {
    const replaced = old.get(resource.type)?.get(resource.name);
    if (replaced === undefined || differs(replaced, resource)) puts.push(resource);
    old.get(resource.type)?.delete(resource.name);
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  const deletes: Deletion[] = [];
  for (const names of old.values()) {
    for (const resource of names.values()) {
      deletes.push(deletionOf(resource));
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
  }
  if (puts.length === 0 && deletes.length === 0) return undefined;
  return { layer, ...(puts.length === 0 ? {} : { puts }), ...(deletes.length === 0 ? {} : { deletes }) };
}

/** A new TTL is a change even though the version stays the same. */
function differs(before: Resource, after: Resource): boolean {
  const isAsDemanded = before.onDemand === after.onDemand && before.variant?.onDemand === after.variant?.onDemand;
  return before.version !== after.version || before.ttlMs !== after.ttlMs || !isAsDemanded;
}

function deletionOf({ type, name }: Resource): Deletion {
  return { type, name };
}
