import type { Dialect } from "../../dialect/dialect.ts";
import type { Body, Segment } from "../../message/body.ts";
import { areSame, type ErrorSet, noErrors } from "../../resource/error-set.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { isOfV2, type TypeUrl } from "../../resource/type-url.ts";
import { addSums, type Digest, formatVersion } from "../../resource/version.ts";
import { reaches } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import { NAMES_SHOWN, namesIn } from "../ack/delivery.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { DeliveryState, ResourceErrorState } from "../contract/inspect.ts";
import type { Subscription } from "../subscription/subscription.ts";
import { withMissing } from "../type/sent-errors.ts";

/** Everything that there is of a topic, for all who do not have it. */
export interface PolledResponse {
  readonly body: Body;
  readonly summary: ResponseSummary;
  readonly errors: ErrorSet;
}

/** What is kept of a body when it was given: no resources. */
export interface ResponseSummary extends DeliveryState {
  readonly type: TypeUrl;
  /** Of its resources; at most 100 of them, as of all lists here. */
  readonly names: readonly string[];
  /** Names that nothing answers to. */
  readonly missing: readonly string[];
  readonly errors: readonly ResourceErrorState[];
}

/** What polls of some view ask for: one object for all who ask for the same. */
export interface TopicOptions {
  /** What tells it from other topics of its type and view. */
  readonly key: string;
  readonly view: View;
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly resourceErrors: Dialect["resourceErrors"];
  readonly digest: Digest;
}

/**
 * A type and the names asked for, in one view. Its version is made from what is selected, not from the type: names may have
 * changed under an unchanged type, and then something is to be told (S-RST-13, client-behaviours I3).
 */
export class PolledSubscription {
  readonly key: string;
  readonly view: View;
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly resourceErrors: Dialect["resourceErrors"];
  /** How many are remembered who ask for it. */
  pollers = 0;
  readonly #digest: Digest;
  #told: PolledResponse | undefined;
  /** The revision at which `told` was last found to be so. */
  #lookedAt = 0;

  constructor({ key, view, traits, subscription, resourceErrors, digest }: TopicOptions) {
    this.key = key;
    this.view = view;
    this.traits = traits;
    this.subscription = subscription;
    this.resourceErrors = resourceErrors;
    this.#digest = digest;
  }

  /** The names of the layers that it is looked for in, top-most first. */
  get layers(): readonly string[] {
    return this.view.layers.map(({ name }) => name);
  }

  /** Somebody looked at what there is when a revision was in force, or since. */
  isLookedAtAfter(revision: number): boolean {
    return this.#told !== undefined && this.#lookedAt >= revision;
  }

  /** Nothing changed of what it asks for, up to this revision. */
  passOver(revision: number): void {
    this.#lookedAt = revision;
  }

  /** What there is now. The same object while nothing of it changed, at the cost of looking at what changed around it. */
  told(responses: SharedResponses): PolledResponse {
    const known = this.#told;
    if (known !== undefined && !this.#isConcerned(known, responses)) {
      this.#lookedAt = responses.revision;
      return known;
    }
    const made = this.#make(responses);
    this.#lookedAt = responses.revision;
    if (known?.body.version !== made.body.version) this.#told = made;
    return this.#told ?? made;
  }

  /** Lets go of a body that nobody waits with; it may be that of a state that is long gone. */
  forget(): void {
    this.#told = undefined;
  }

  #isConcerned(known: PolledResponse, responses: SharedResponses): boolean {
    const { view, subscription } = this;
    const { type } = this.traits;
    if (view.changedAt(type) <= this.#lookedAt) return false;
    const from = { view, revision: this.#lookedAt };
    if (subscription.isWildcard || subscription.terms !== undefined || !reaches(from, type)) return true;
    if (!areSame(known.errors, this.#errors(responses))) return true;
    return responses.changes
      .between(from, view, type)
      .changes.some(
        ({ then, now }) =>
          (then !== undefined && subscription.covers(then)) || (now !== undefined && subscription.covers(now)),
      );
  }

  #make(responses: SharedResponses): PolledResponse {
    const { view, subscription } = this;
    const { type } = this.traits;
    const errors = this.#errors(responses);
    const { segments, resources, missing, version } = subscription.isSoleWildcard
      ? this.#whole(errors)
      : this.#selected(responses, errors);
    const isCanary = this.view.isCanary(type);
    const told = { variant: "sotw", type, version, segments: [...segments, ...errorSegments(errors)] } as const;
    const body: Body = { ...told, ...(isCanary && { isCanary }) };
    const summary: ResponseSummary = {
      type,
      nonce: version,
      version,
      revision: view.changedAt(type),
      resources,
      removed: 0,
      names: namesIn(body),
      missing: missing.slice(0, NAMES_SHOWN),
      errors: shownErrors(errors),
    };
    return { body, summary, errors };
  }

  #whole(errors: ErrorSet): Selected {
    const { view } = this;
    const { type } = this.traits;
    const version = errors.size === 0 ? view.typeVersion(type) : view.typeVersionWith(type, this.#sumOf(errors));
    return { segments: view.whole(type), resources: view.coveredBy(type), missing: [], version };
  }

  #selected(responses: SharedResponses, errors: ErrorSet): Selected {
    const { view, subscription } = this;
    const { type } = this.traits;
    const { puts, removed: missing } = responses.selections.all(view, type, subscription);
    const sum = puts.reduce((total, put) => addSums(total, put.sum), this.#sumOf(errors));
    const printed = view.printedVersion(type);
    // A version that a caller set is that of the type; which of its resources it is of has to be told apart.
    const version = printed === undefined ? formatVersion(sum) : `${printed}+${formatVersion(sum)}`;
    return { segments: [{ puts, removed: [], missing: [] }], resources: puts.length, missing, version };
  }

  /** An error is told as long as it stands, in every answer: a poll knows nothing of the one before it. */
  #errors(responses: SharedResponses): ErrorSet {
    const { type } = this.traits;
    if (this.resourceErrors === "off" || isOfV2(type)) return noErrors;
    const errors = responses.errors.of(this.view, type, this.subscription, responses.nameSets);
    if (this.resourceErrors === "failed") return errors;
    return withMissing(errors, this.subscription, { type }, this.view);
  }

  #sumOf(errors: ErrorSet): bigint {
    let sum = 0n;
    for (const { name, version } of errors.values()) {
      sum = addSums(sum, this.#digest(["resource error", name, version]));
    }
    return sum;
  }
}

interface Selected {
  readonly segments: readonly Segment[];
  readonly resources: number;
  readonly missing: readonly string[];
  readonly version: string;
}

function errorSegments(errors: ErrorSet): readonly Segment[] {
  return errors.size === 0 ? [] : [{ puts: [], removed: [], missing: [], errors: [...errors.values()] }];
}

function shownErrors(errors: ErrorSet): readonly ResourceErrorState[] {
  const shown = [...errors.values()].slice(0, NAMES_SHOWN);
  return shown.flatMap(({ name, error }) => (error === undefined ? [] : [{ name, error }]));
}
