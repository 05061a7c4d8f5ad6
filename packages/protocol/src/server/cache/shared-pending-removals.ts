import type { Body } from "../../message/body.ts";
import type { Ttls } from "../../resource/ttl.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { type Position, wasTouched } from "../../state/difference.ts";
import type { Past } from "../../state/journal.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import { Recent } from "../memory/recent.ts";
import type { NameSets } from "../subscription/name-set.ts";
import { isSameScope, type Scope, type Subscription } from "../subscription/subscription.ts";
import {
  type PendingRemovals,
  partAt,
  type Removable,
  type RemovalSplit,
  type SplitBody,
  type Step,
  stepFrom,
  withhold,
} from "./pending-removals.ts";
import { type SharedChanges, wayKey } from "./shared-changes.ts";

/** How many names are kept of each kind of result. */
const ELEMENTS_KEPT = 100_000;

/**
 * Computes how pending removals change; once for all clients with the same set and position. Dropped with the next
 * transaction.
 */
export class SharedPendingRemovals {
  readonly #changes: SharedChanges;
  readonly #nameSets: NameSets;
  readonly #ttls: Ttls;
  readonly #ids = new WeakMap<PendingRemovals, number>();
  #lastId = 0;
  #revision = 0;
  readonly #steps = new Recent<Step>(ELEMENTS_KEPT, ({ pendingRemovals }) => pendingRemovals.names.size);
  readonly #partings = new Recent<RemovalSplit>(ELEMENTS_KEPT, ({ stays, goes }) => stays.names.size + goes.length);
  readonly #carriedOver = new Recent<PendingRemovals>(ELEMENTS_KEPT, ({ names }) => names.size);
  #resumed = new WeakMap<PendingRemovals, PendingRemovals>();
  #withheld = new WeakMap<Body, Map<string, SplitBody>>();

  constructor(changes: SharedChanges, nameSets: NameSets, ttls: Ttls) {
    this.#changes = changes;
    this.#nameSets = nameSets;
    this.#ttls = ttls;
  }

  /** Moves to a revision. */
  advance(revision: number): void {
    this.#revision = revision;
    for (const made of [this.#steps, this.#partings, this.#carriedOver]) made.clear();
    this.#resumed = new WeakMap();
    this.#withheld = new WeakMap();
  }

  /** The pending removals after a difference, for all clients with this position, subscription and set. */
  step(
    pendingRemovals: PendingRemovals,
    from: Position,
    view: View,
    {
      type,
      subscription,
      asked,
      goesAtOnce,
    }: { type: TypeUrl; subscription: Subscription; asked: Scope } & Pick<Removable, "goesAtOnce">,
  ): Step {
    const { scope } = subscription;
    const ttls = this.#ttls;
    const make = (): Step => {
      return stepFrom(
        pendingRemovals,
        this.#changes.concerning(subscription, from, view, type),
        { before: asked, after: scope },
        { revision: this.#revision, goesAtOnce, ttls },
      );
    };
    if (goesAtOnce !== undefined || !isSameScope(asked, scope)) return make();
    const set = subscription.sharedKey(this.#nameSets);
    return this.#steps.get(set && `${this.#idOf(pendingRemovals)} ${wayKey(from, view, type)} ${set}`, make);
  }

  /**
   * The set of a client after its position advanced. A name that changed since may have been in use again, so it counts
   * as deleted now.
   */
  carryOver(set: PendingRemovals, from: Position, view: View, type: TypeUrl): PendingRemovals {
    if (set.isEmpty) return set;
    return this.#carriedOver.get(`${this.#idOf(set)} ${wayKey(from, view, type)}`, () =>
      set.deletedAt((name) => wasTouched(from, view, type, name), this.#revision),
    );
  }

  /** The set of a reconnecting client. What it used meanwhile is unknown, so all of it counts as deleted now. */
  resume(set: PendingRemovals): PendingRemovals {
    return memo(this.#resumed, set, () => set.deletedAt(() => true, this.#revision));
  }

  /** Splits a set into what may be removed up to a revision, and the rest. */
  part(set: PendingRemovals, removableTo: number): RemovalSplit {
    if (set.oldest > removableTo) return { stays: set, goes: [] };
    const key = `${this.#idOf(set)} ${Math.min(set.newest, removableTo)}`;
    return this.#partings.get(key, () => partAt(set, removableTo));
  }

  /** A delta body without removals that have to wait, and with pending removals that are due. */
  withhold(
    body: Body,
    pendingRemovals: PendingRemovals,
    removable: Removable,
    {
      asked,
      past,
    }: {
      readonly asked: Pick<ReadonlySet<string>, "has" | "size"> | undefined;
      readonly past: ReadonlyMap<string, Past> | undefined;
    },
  ): SplitBody {
    const removes = body.segments.some((segment) => segment.removed.length > 0);
    if (pendingRemovals.isEmpty && (!removes || removable.to >= this.#revision))
      return { pendingRemovals: pendingRemovals, body };
    const make = (): SplitBody =>
      withhold(body, pendingRemovals, {
        revision: this.#revision,
        removable,
        ...(asked !== undefined && { asked }),
        ...(past !== undefined && { pastOf: (name) => past.get(name) }),
      });
    if (past !== undefined || removable.goesAtOnce !== undefined || (asked !== undefined && asked.size > 0))
      return make();
    const known = memo(this.#withheld, body, () => new Map<string, SplitBody>());
    // What this body removes is of the present revision, so that bounds from the newest pending one up to it split alike.
    const to = removable.to >= this.#revision ? this.#revision : Math.min(pendingRemovals.newest, removable.to);
    return memo(known, `${this.#idOf(pendingRemovals)} ${to}`, make);
  }

  /** A number for this object. */
  #idOf(set: PendingRemovals): number {
    const known = this.#ids.get(set);
    if (known !== undefined) return known;
    this.#ids.set(set, ++this.#lastId);
    return this.#lastId;
  }
}
