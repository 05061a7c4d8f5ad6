import type { Resource } from "@xdskit/protocol";
import { noteEdit } from "../known-edits.ts";
import type { Load, LoadedState } from "../loaded-state.ts";
import type { Problem } from "../problem.ts";
import { applyRuns, FreshItems, leftOut, type Run, runsBetween } from "./list-edit.ts";
import { type PackedResources, packInParts } from "./packed-resources.ts";

/** A new part of a load, small enough to process in one turn of the event loop. */
export type LoadPart =
  | { readonly kind: "resources"; readonly packed: PackedResources }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] };

/** How a load differs from the previous one, once all its new parts are sent. */
export interface LoadChange {
  readonly problems: readonly Run[];
  readonly state: StateChange | undefined;
  readonly recounted?: Load["recounted"];
}

interface StateChange extends Pick<LoadedState, "files" | "resources"> {
  /** By name, in order; undefined for an unchanged layer. */
  readonly layers: readonly (readonly [string, readonly Run[] | undefined])[];
  /** Undefined if unchanged. */
  readonly settings: Pick<LoadedState, "settings" | "groups" | "clients" | "access" | "listeners"> | undefined;
}

const PART_PROBLEMS = 500;
const noLoad: Load = { state: undefined, problems: [] };

/** Sends loads to another thread as differences. */
export class LoadTeller {
  #problems = noLoad.problems;
  /** The last state without errors. */
  #state: LoadedState | undefined;

  /**
   * All parts must be sent, in order, before the returned change; `sent` are resources that were sent before as parts of
   * this load, in order, whether or not they are in it.
   */
  *tell({ state, problems, recounted }: Load, sent: readonly Resource[] = []): Generator<LoadPart, LoadChange> {
    const newResources = new FreshItems(sent);
    const newProblems = new FreshItems<Problem>();
    const runs = runsBetween(this.#problems, problems, newProblems);
    const stateChange = state === undefined ? undefined : changeBetween(this.#state, state, newResources);
    this.#problems = problems;
    this.#state = state ?? this.#state;
    for (const packed of packInParts(newResources.unsent)) yield { kind: "resources", packed };
    for (let begin = 0; begin < newProblems.list.length; begin += PART_PROBLEMS) {
      yield { kind: "problems", problems: newProblems.list.slice(begin, begin + PART_PROBLEMS) };
    }
    return { problems: runs, state: stateChange, ...(recounted !== undefined && { recounted }) };
  }
}

function changeBetween(before: LoadedState | undefined, after: LoadedState, fresh: FreshItems<Resource>): StateChange {
  const { settings, groups, clients, access, listeners, files, resources } = after;
  const hasSameSettings =
    before?.settings === settings &&
    before.groups === groups &&
    before.clients === clients &&
    before.access === access &&
    before.listeners === listeners;
  return {
    layers: [...after.layers].map(([layer, held]) => {
      const known = before?.layers.get(layer);
      return [layer, known === held ? undefined : runsBetween(known ?? [], held, fresh)] as const;
    }),
    settings: hasSameSettings ? undefined : { settings, groups, clients, access, listeners },
    files,
    resources,
  };
}

/** Rebuilds loads from what a `LoadTeller` sends. Unchanged parts stay the same objects, as in the sending thread. */
export class LoadFollower {
  #problems = noLoad.problems;
  #state: LoadedState | undefined;

  /** The load after a change; `resources` and `problems` come from its parts. */
  follow(change: LoadChange, resources: readonly Resource[], problems: readonly Problem[]): Load {
    this.#problems = applyRuns(change.problems, this.#problems, problems);
    if (change.state === undefined) return { state: undefined, problems: this.#problems };
    this.#state = stateAfter(this.#state, change.state, resources);
    const { recounted } = change;
    return { state: this.#state, problems: this.#problems, ...(recounted !== undefined && { recounted }) };
  }
}

function stateAfter(
  before: LoadedState | undefined,
  { layers: edits, settings, files, resources }: StateChange,
  fresh: readonly Resource[],
): LoadedState {
  const layers = new Map(
    edits.map(([layer, runs]) => {
      const known = before?.layers.get(layer) ?? [];
      return [layer, runs === undefined ? known : layerAfter(known, runs, fresh)] as const;
    }),
  );
  const kept = settings ?? before;
  if (kept === undefined) throw new TypeError("expected settings with the first state");
  return {
    layers,
    settings: kept.settings,
    groups: kept.groups,
    clients: kept.clients,
    access: kept.access,
    listeners: kept.listeners,
    files,
    resources,
  };
}

function layerAfter(
  before: readonly Resource[],
  runs: readonly Run[],
  fresh: readonly Resource[],
): readonly Resource[] {
  const after = applyRuns(runs, before, fresh);
  const newRuns = runs.filter(({ of }) => of === "new");
  noteEdit(before, after, { added: applyRuns(newRuns, before, fresh), removed: leftOut(runs, before) });
  return after;
}
