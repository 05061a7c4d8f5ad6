import type { TtlVerdict } from "../../dialect/ttl.ts";
import { type Resource, referredNames } from "../../resource/resource.ts";
import { isSame, type SentMark, type Ttls } from "../../resource/ttl.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { createResource, type Digest } from "../../resource/version.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import { NameSets } from "../subscription/name-set.ts";
import { SharedCurrentPairs } from "./current-pairs.ts";
import { SharedErrors } from "./error-difference.ts";
import { PastVersions } from "./past-versions.ts";
import { ServedVersions } from "./served.ts";
import { SharedBodies } from "./shared-bodies.ts";
import { SharedChanges } from "./shared-changes.ts";
import { SharedComparisons } from "./shared-comparisons.ts";
import { SharedPendingRemovals } from "./shared-pending-removals.ts";
import { SharedSelections, type Uses } from "./shared-selections.ts";
import { ResponseSplitter } from "./split.ts";

/** What the two instances for one state, with and without TTLs, share and where they differ. */
interface SharedResponsesOptions {
  readonly ttls?: Ttls;
  readonly nameSets?: NameSets;
  readonly served?: ServedVersions;
  readonly past?: PastVersions;
  readonly namesPerStep?: number | undefined;
  readonly maxRemoved?: number | undefined;
}

/** How many names of one client are compared or found before other streams are flushed: 1 to 5 ms. */
const NAMES_PER_STEP = 5_000;

/**
 * The newest state, with all that was computed from it for one stream and serves others too: differences, selections,
 * comparisons, encoded bodies. It is dropped when the next transaction takes effect.
 */
export class SharedResponses {
  readonly nameSets: NameSets;
  readonly served: ServedVersions;
  /** Versions that clients of another server may hold. */
  readonly past: PastVersions;
  /** Splits large bodies into several responses. */
  readonly parts: ResponseSplitter = new ResponseSplitter();
  /** What changed since a position. */
  readonly changes: SharedChanges;
  /** What subscriptions cover. */
  readonly selections: SharedSelections;
  readonly bodies: SharedBodies;
  /** Deleted Clusters that clients still hold. */
  readonly pendingRemovals: SharedPendingRemovals;
  /** Comparisons of what reconnecting clients hold with what they should hold. */
  readonly comparisons: SharedComparisons = new SharedComparisons();
  /** What these found out about single pairs of name and version. */
  readonly currentPairs: SharedCurrentPairs = new SharedCurrentPairs();
  /** Resource errors, and how they change. */
  readonly errors: SharedErrors = new SharedErrors();
  /** Whether bodies made here carry TTLs. */
  readonly ttls: Ttls;
  /** How many names of one client are compared or found in one flush. */
  readonly namesPerStep: number;
  /** How many removals a comparison finds at most for the parameters that a client uses; undefined: no limit. */
  readonly maxRemoved: number | undefined;
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
      past = new PastVersions(),
      namesPerStep = NAMES_PER_STEP,
      maxRemoved,
    }: SharedResponsesOptions = {},
  ) {
    this.#digest = digest;
    this.ttls = ttls;
    this.nameSets = nameSets;
    this.served = served;
    this.past = past;
    this.namesPerStep = namesPerStep;
    this.maxRemoved = maxRemoved;
    this.changes = new SharedChanges(ttls);
    this.selections = new SharedSelections(this.changes, nameSets, ttls);
    this.bodies = new SharedBodies(this.changes, this.selections, nameSets, ttls);
    this.pendingRemovals = new SharedPendingRemovals(this.changes, nameSets, ttls);
  }

  get revision(): number {
    return this.#revision;
  }

  /**
   * The instance for clients that are sent TTLs; it has its own differences and bodies. For a type that never had a TTL
   * it is this instance, so that all clients share everything.
   */
  forTtls(type: TypeUrl, ttl: TtlVerdict, view: View): SharedResponses {
    if (ttl !== "told" || !view.knowsTtls(type)) return this;
    if (this.#withTtls === undefined) {
      const { nameSets, served, past, namesPerStep, maxRemoved } = this;
      this.#withTtls = new SharedResponses(this.#digest, {
        ttls: "told",
        nameSets,
        served,
        past,
        namesPerStep,
        maxRemoved,
      });
      this.#withTtls.advance(this.#revision, this.#systemVersion);
    }
    return this.#withTtls;
  }

  /**
   * Whether two states of a resource are the same for clients of this instance; TTLs count only where they are sent.
   */
  isSame(a: SentMark | undefined, b: SentMark | undefined): boolean {
    return isSame(a, b, this.ttls);
  }

  /** Moves to the revision of a transaction that took effect. */
  advance(revision: number, systemVersion: string | undefined): void {
    this.#revision = revision;
    if (systemVersion !== undefined) this.#systemVersion = systemVersion;
    this.#withTtls?.advance(revision, systemVersion);
    this.changes.clear();
    this.selections.clear();
    this.bodies.advance(systemVersion);
    this.pendingRemovals.advance(revision);
    this.comparisons.clear();
    this.currentPairs.clear();
    this.#placeholders.clear();
    this.#newUses.clear();
  }

  /** Drops what only streams that are flushed at the same time share; called when none is due. */
  rest(): void {
    this.comparisons.clear();
    this.selections.rest();
    this.bodies.rest();
    this.#placeholders.clear();
    this.#newUses.clear();
    this.#withTtls?.rest();
  }

  /** Continues the revisions of the previous server. */
  resumeAt(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
    this.pendingRemovals.advance(this.#revision);
    this.#withTtls?.resumeAt(revision);
  }

  /** The names of a type that a resource references and its former version did not; computed once for all clients. */
  newUses(resource: Resource, before: Uses, type: TypeUrl): ReadonlySet<string> {
    const known = memo(this.#newUses, resource, () => new Map<object, Map<TypeUrl, ReadonlySet<string>>>());
    const byType = memo(known, before, () => new Map<TypeUrl, ReadonlySet<string>>());
    return memo(byType, type, () => {
      const used = new Set(referredNames(before, type));
      return new Set(referredNames(resource, type).filter((name) => !used.has(name)));
    });
  }

  /**
   * Whether a resource references one of these types by a name without a resource, such as a Cluster without endpoints.
   */
  isVacant({ references }: Resource, view: View, owes: readonly TypeUrl[]): boolean {
    return references.some(({ type, name }) => owes.includes(type) && view.find(type, name) === undefined);
  }

  /** The placeholder for a name that has no resource but is referenced in the view; undefined: none. */
  placeholder({ type, placeholder }: TypeTraits, view: View, name: string): Resource | undefined {
    if (placeholder === undefined || !view.refersTo(type, name) || view.error(type, name) !== undefined)
      return undefined;
    return memo(this.#placeholders, `${type} ${name}`, () =>
      createResource({ type, name, bytes: placeholder(name) }, this.#digest),
    );
  }
}
