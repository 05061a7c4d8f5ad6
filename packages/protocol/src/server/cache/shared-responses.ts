import type { TtlVerdict } from "../../dialect/ttl.ts";
import { type Resource, referredNames } from "../../resource/resource.ts";
import { isSame, type SentMark, type Ttls } from "../../resource/ttl.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { createResource, type Digest } from "../../resource/version.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import { NameSets } from "../subscription/name-set.ts";
import { SharedErrors } from "./error-difference.ts";
import { ServedVersions } from "./served.ts";
import { SharedBodies } from "./shared-bodies.ts";
import { SharedChanges } from "./shared-changes.ts";
import { SharedComparisons } from "./shared-comparisons.ts";
import { SharedPendingRemovals } from "./shared-pending-removals.ts";
import { SharedSelections, type Uses } from "./shared-selections.ts";
import { ResponseSplitter } from "./split.ts";

/** What two presents of one state have in common, and in what they differ. */
interface PresentOptions {
  readonly ttls?: Ttls;
  readonly nameSets?: NameSets;
  readonly served?: ServedVersions;
  readonly namesPerStep?: number | undefined;
}

/** How many names of a client that comes back are compared before other streams get their turn: 1 to 9 ms. */
const NAMES_PER_STEP = 10_000;

/**
 * The newest state, with everything that was made of it for one stream and serves others too: differences, selections of
 * name sets, comparisons, bodies. All of that is forgotten when the next transaction takes effect.
 */
export class SharedResponses {
  readonly nameSets: NameSets;
  readonly served: ServedVersions;
  /** The responses that large bodies leave in. */
  readonly parts: ResponseSplitter = new ResponseSplitter();
  /** What changed since a position. */
  readonly changes: SharedChanges;
  /** What subscriptions cover. */
  readonly selections: SharedSelections;
  readonly bodies: SharedBodies;
  /** What becomes of Clusters that are gone. */
  readonly pendingRemovals: SharedPendingRemovals;
  /** What clients that come back hold, compared with what they should hold. */
  readonly comparisons: SharedComparisons = new SharedComparisons();
  /** What becomes of errors that stand in place of resources. */
  readonly errors: SharedErrors = new SharedErrors();
  /** Whether ttls are told in what is made here. */
  readonly ttls: Ttls;
  /** How many names of a client that comes back are compared in one turn. */
  readonly namesPerStep: number;
  readonly #digest: Digest;
  #withTtls: SharedResponses | undefined;
  #revision = 0;
  #systemVersion: string | undefined;
  readonly #placeholders = new Map<string, Resource>();
  readonly #newUses = new Map<Resource, Map<object, Map<TypeUrl, ReadonlySet<string>>>>();

  constructor(
    digest: Digest,
    {
      ttls = "left-off",
      nameSets = new NameSets(),
      served = new ServedVersions({ listsNews: false }),
      namesPerStep = NAMES_PER_STEP,
    }: PresentOptions = {},
  ) {
    this.#digest = digest;
    this.ttls = ttls;
    this.nameSets = nameSets;
    this.served = served;
    this.namesPerStep = namesPerStep;
    this.changes = new SharedChanges(ttls);
    this.selections = new SharedSelections(this.changes, nameSets, ttls);
    this.bodies = new SharedBodies(this.changes, this.selections, nameSets, ttls);
    this.pendingRemovals = new SharedPendingRemovals(this.changes, nameSets, ttls);
  }

  get revision(): number {
    return this.#revision;
  }

  /**
   * The state as it is told to whoever is told of ttls. What is made for them is kept apart: it has other differences and
   * other bodies. Of a type of which nothing ever had a ttl it is this very one, and everybody shares everything.
   */
  forTtls(type: TypeUrl, ttl: TtlVerdict, view: View): SharedResponses {
    if (ttl !== "told" || !view.knowsTtls(type)) return this;
    if (this.#withTtls === undefined) {
      const { nameSets, served, namesPerStep } = this;
      this.#withTtls = new SharedResponses(this.#digest, { ttls: "told", nameSets, served, namesPerStep });
      this.#withTtls.advance(this.#revision, this.#systemVersion);
    }
    return this.#withTtls;
  }

  /** Whether, to those for whom this is made, what they were told is the same as what they would be. */
  isSame(a: SentMark | undefined, b: SentMark | undefined): boolean {
    return isSame(a, b, this.ttls);
  }

  /** A transaction took effect. */
  advance(revision: number, systemVersion: string | undefined): void {
    this.#revision = revision;
    if (systemVersion !== undefined) this.#systemVersion = systemVersion;
    this.#withTtls?.advance(revision, systemVersion);
    this.changes.clear();
    this.selections.clear();
    this.bodies.advance(systemVersion);
    this.pendingRemovals.advance(revision);
    this.comparisons.clear();
    this.#placeholders.clear();
    this.#newUses.clear();
  }

  /** Nobody waits for a turn: forgets what serves only those who ask at the same time. */
  rest(): void {
    this.comparisons.clear();
    this.selections.rest();
    this.#placeholders.clear();
    this.#newUses.clear();
    this.#withTtls?.rest();
  }

  /** Takes up the count of a server that was there before. */
  resumeAt(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
    this.pendingRemovals.advance(this.#revision);
    this.#withTtls?.resumeAt(revision);
  }

  /** What of a type a resource names that the one before it did not; found once for all who are told of it. */
  newUses(resource: Resource, before: Uses, type: TypeUrl): ReadonlySet<string> {
    const known = memo(this.#newUses, resource, () => new Map<object, Map<TypeUrl, ReadonlySet<string>>>());
    const byType = memo(known, before, () => new Map<TypeUrl, ReadonlySet<string>>());
    return memo(byType, type, () => {
      const used = new Set(referredNames(before, type));
      return new Set(referredNames(resource, type).filter((name) => !used.has(name)));
    });
  }

  /** Whether a resource waits for another one of these types that is not there: a Cluster without endpoints. */
  isVacant({ references }: Resource, view: View, owes: readonly TypeUrl[]): boolean {
    return references.some(({ type, name }) => owes.includes(type) && view.find(type, name) === undefined);
  }

  /** What stands in for a name that nothing answers to but something in the view refers to. */
  placeholder({ type, placeholder }: TypeTraits, view: View, name: string): Resource | undefined {
    if (placeholder === undefined || !view.refersTo(type, name) || view.error(type, name) !== undefined)
      return undefined;
    return memo(this.#placeholders, `${type} ${name}`, () =>
      createResource({ type, name, bytes: placeholder(name) }, this.#digest),
    );
  }
}
