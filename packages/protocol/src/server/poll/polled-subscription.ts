import type { Dialect } from "../../dialect/dialect.ts";
import type { Body, Segment } from "../../message/body.ts";
import { areSame, type ErrorSet, noErrors } from "../../resource/error-set.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { isOfV2, type TypeUrl } from "../../resource/type-url.ts";
import { addSums, type Digest, formatVersion } from "../../resource/version.ts";
import { reaches } from "../../state/difference.ts";
import { NAMES_SHOWN, namesIn } from "../ack/body-names.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { DeliveryState, ResourceErrorState } from "../contract/inspect.ts";
import type { Subscription } from "../subscription/subscription.ts";
import { withMissing } from "../type/sent-errors.ts";
import { bytesOfNames } from "./poller-cost.ts";

/** The complete response of a polled subscription, shared by all clients that are given it. */
export interface PolledResponse {
  readonly body: Body;
  readonly summary: ResponseSummary;
  readonly errors: ErrorSet;
}

/** What is remembered of a response that was given, without its resources. */
export interface ResponseSummary extends DeliveryState {
  readonly type: TypeUrl;
  /** The names of its resources; at most 100, as in all lists here. */
  readonly names: readonly string[];
  /** Names without a resource. */
  readonly missing: readonly string[];
  readonly errors: readonly ResourceErrorState[];
}

/** Options of a polled subscription. */
export interface PolledSubscriptionOptions {
  /** Differs for each polled subscription of the same type and view. */
  readonly key: string;
  readonly current: CurrentView;
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly resourceErrors: Dialect["resourceErrors"];
  readonly digest: Digest;
}

/**
 * A type and a set of names in one view, shared by all polls that subscribe to them. Its version comes from the
 * selected resources, not from the type: the names may have changed while the type did not, and then the client needs a
 * response (S-RST-13, client-behaviours I3).
 */
export class PolledSubscription {
  readonly key: string;
  readonly current: CurrentView;
  readonly traits: TypeTraits;
  readonly subscription: Subscription;
  readonly resourceErrors: Dialect["resourceErrors"];
  /** How many remembered pollers have it. */
  pollers = 0;
  /** What it costs to remember its names, in bytes. */
  readonly bytes: number;
  readonly #digest: Digest;
  #response: PolledResponse | undefined;
  /** The newest revision at which `#told` was found to be current. */
  #lookedAt = 0;

  constructor({ key, current, traits, subscription, resourceErrors, digest }: PolledSubscriptionOptions) {
    this.key = key;
    this.current = current;
    this.traits = traits;
    this.subscription = subscription;
    this.bytes = bytesOfNames(subscription.names, resourceErrors === "failed-and-missing");
    this.resourceErrors = resourceErrors;
    this.#digest = digest;
  }

  /** The names of the layers, top-most first. */
  get layers(): readonly string[] {
    return this.current.view.layers.map(({ name }) => name);
  }

  /** Whether it was evaluated at this revision or a later one. */
  isLookedAtAfter(revision: number): boolean {
    return this.#response !== undefined && this.#lookedAt >= revision;
  }

  /** Notes that nothing it covers changed up to this revision. */
  passOver(revision: number): void {
    this.#lookedAt = revision;
  }

  /**
   * The present response; the same object while its content is unchanged. Costs an evaluation of the changes since the
   * last call.
   */
  response(): PolledResponse {
    const known = this.#response;
    if (known !== undefined && !this.#isConcerned(known)) {
      this.#lookedAt = this.current.revision;
      return known;
    }
    const made = this.#make();
    this.#lookedAt = this.current.revision;
    if (known?.body.version !== made.body.version) this.#response = made;
    return this.#response ?? made;
  }

  /** Drops the response of a subscription that no poll waits on; its state may be long outdated. */
  forget(): void {
    this.#response = undefined;
  }

  #isConcerned(known: PolledResponse): boolean {
    const { current, subscription } = this;
    const { view } = current;
    const { type } = this.traits;
    if (view.changedAt(type) <= this.#lookedAt) return false;
    const from = { view, revision: this.#lookedAt };
    if (subscription.isWildcard || subscription.terms !== undefined || !reaches(from, type)) return true;
    if (!areSame(known.errors, this.#errors())) return true;
    return current
      .changesConcerning(subscription, from, type)
      .some(
        ({ then, now }) =>
          (then !== undefined && subscription.covers(then)) || (now !== undefined && subscription.covers(now)),
      );
  }

  #make(): PolledResponse {
    const { subscription } = this;
    const { view } = this.current;
    const { type } = this.traits;
    const errors = this.#errors();
    const { segments, resources, missing, version } = subscription.isSoleWildcard
      ? this.#whole(errors)
      : this.#selected(errors);
    const isCanary = view.isCanary(type);
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
    const { view } = this.current;
    const { type } = this.traits;
    const version = errors.size === 0 ? view.typeVersion(type) : view.typeVersionWith(type, this.#sumOf(errors));
    return { segments: view.whole(type), resources: view.coveredBy(type), missing: [], version };
  }

  #selected(errors: ErrorSet): Selected {
    const { current, subscription } = this;
    const { type } = this.traits;
    const { puts, removed: missing } = current.select(type, subscription);
    const sum = puts.reduce((total, put) => addSums(total, put.sum), this.#sumOf(errors));
    const printed = current.view.printedVersion(type);
    // A version set by the caller is that of the whole type, so the selected resources are added to it.
    const version = printed === undefined ? formatVersion(sum) : `${printed}+${formatVersion(sum)}`;
    return { segments: [{ puts, removed: [], missing: [] }], resources: puts.length, missing, version };
  }

  /** The errors to send. Each response repeats all of them, because polls are independent of one another. */
  #errors(): ErrorSet {
    const { type } = this.traits;
    if (this.resourceErrors === "off" || isOfV2(type)) return noErrors;
    const errors = this.current.errorsFor(type, this.subscription);
    if (this.resourceErrors === "failed") return errors;
    return withMissing(errors, this.subscription, { type }, this.current.view);
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
