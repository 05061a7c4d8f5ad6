import { type Dialect, forKind } from "../../dialect/dialect.ts";
import type { Body, Segment } from "../../message/body.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import { statusCode } from "../../message/status.ts";
import type { Variant } from "../../message/variant.ts";
import { areSame, type ErrorSet, noErrors } from "../../resource/error-set.ts";
import type { ErrorDetail, Resource } from "../../resource/resource.ts";
import { errorResource } from "../../resource/resource-error.ts";
import { nameOfTerm } from "../../resource/resource-name.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { type ErrorDifference, replaceNames } from "../cache/error-difference.ts";
import { countOfAll, type NameList } from "../subscription/names.ts";
import type { Subscription } from "../subscription/subscription.ts";
import type { PendingResponse, TypeStream } from "./type-stream.ts";

/**
 * Codes that say that a client may not have a resource, or that it does not exist; on all others the client keeps the
 * resource (C-ERR-07).
 */
const FINAL_CODES: ReadonlySet<number> = new Set([statusCode.NOT_FOUND, statusCode.PERMISSION_DENIED]);

/** The state of a flush that `tell` needs. */
export interface ErrorFlush {
  readonly current: CurrentView;
  readonly dialect: Dialect;
  /** Whether newer content had to wait when the answers were made. */
  readonly wasBlocked: boolean;
}

/**
 * The `resource_errors` of one type that one client was sent, each error once (S-ERR-02). Equal subscriptions in a view
 * share one set of errors, and equal differences one list.
 */
export class SentErrors {
  readonly #variant: Variant;
  readonly #ignoresHints: boolean;
  #sent: ErrorSet = noErrors;
  /** The last names where names are only hints. */
  #hints: ReadonlySet<string> | undefined;
  #namesKept = 0;

  constructor(variant: Variant, ignoresHints = false) {
    this.#variant = variant;
    this.#ignoresHints = ignoresHints;
  }

  get sent(): ErrorSet {
    return this.#sent;
  }

  /** How many names are kept of the last request, as limits count them. */
  get namesKept(): number {
    return this.#namesKept;
  }

  /** Forgets the errors of names that the client gives up, even in a request that is otherwise ignored. */
  onRequest(request: DiscoveryRequest, { isWildcard, names }: Subscription): void {
    const hints = this.#hints;
    if (this.#ignoresHints && request.kind === "sotw") {
      this.#hints = new Set(request.names);
      this.#namesKept = countOfAll(this.#hints);
    }
    if (this.#sent.size === 0) return;
    const isUnlisted = forgottenBy(request, isWildcard, names);
    // Where names are hints, errors of names that were never listed were sent too; a request for other names does not
    // give them up.
    const wasListed = (name: string): boolean => hints === undefined || hints.has(name) || hints.has("*");
    const isForgotten = (name: string): boolean => isUnlisted(name) && (request.nonce === undefined || wasListed(name));
    const left = [...this.#sent].filter(([name]) => !isForgotten(name));
    if (left.length < this.#sent.size) this.#sent = left.length === 0 ? noErrors : new Map(left);
  }

  /** Adds new errors to the answers, and replaces what they say about names that have an error. */
  add(answers: readonly PendingResponse[], type: TypeStream, flush: ErrorFlush): readonly PendingResponse[] {
    const { current, wasBlocked } = flush;
    const now = this.#errorsFor(type, flush);
    if (now.size + this.#sent.size === 0 || type.isPaused) return answers;
    const mayTell = !wasBlocked || answers.some((answer) => answer.isInOrder);
    const news = current.shared.errors.between(mayTell ? this.#sent : now, now);
    const sent = mayTell ? now : undefined;
    const said =
      this.#variant === "delta" ? this.#delta(answers, type, now, news, flush) : this.#sotw(answers, type, news, flush);
    if (sent !== undefined) this.#sent = sent;
    return said;
  }

  /** The errors that the client is to know. A pending removal is still held by the client, so its error is left out. */
  #errorsFor(type: TypeStream, { current, dialect }: ErrorFlush): ErrorSet {
    const errors = current.errorsFor(type.traits.type, type.subscription);
    const all =
      this.#variant === "sotw" && dialect.resourceErrors === "failed-and-missing"
        ? withMissing(errors, type.subscription, type.traits, current.view)
        : errors;
    const { names } = type.pendingRemovals;
    const shown = names.size === 0 ? all : new Map([...all].filter(([name]) => !names.has(name)));
    return areSame(shown, this.#sent) ? this.#sent : shown;
  }

  #delta(
    answers: readonly PendingResponse[],
    type: TypeStream,
    now: ErrorSet,
    news: ErrorDifference,
    { current, dialect }: ErrorFlush,
  ): readonly PendingResponse[] {
    const lost = forKind(dialect.deltaMissing, type.traits.kind) === "removed" ? this.#lostBy(news, dialect) : [];
    const lifted = [...news.lifted.filter((name) => this.#isMissed(name, type, current.view)), ...lost];
    const answer = answers.at(-1);
    if (answer === undefined) {
      if (news.errors.length + lifted.length === 0) return [];
      return [this.#own({ puts: [], removed: lifted, missing: [], errors: news.errors }, type, current)];
    }
    const { asked } = answer;
    const isKept = ({ name, error }: Resource): boolean =>
      !dialect.errorsEndWaiting && (asked?.has(name) === true || isFinal(error));
    const make = (): Body => replaceNames(answer.body, now, { news: news.errors, lifted, isKept });
    const isShared = lifted.length === 0 && (asked?.size ?? 0) === 0;
    const body = isShared
      ? current.shared.errors.body(answer.body, news, String(dialect.errorsEndWaiting), make)
      : make();
    if (!answer.isInOrder) this.#noteSent(answer.body, now);
    return [...answers.slice(0, -1), { ...answer, body }];
  }

  #sotw(
    answers: readonly PendingResponse[],
    type: TypeStream,
    { errors, lifted }: ErrorDifference,
    { current, wasBlocked }: ErrorFlush,
  ): readonly PendingResponse[] {
    const last = answers.at(-1);
    if (last !== undefined) {
      if (errors.length === 0) return answers;
      const body = current.shared.errors.body(last.body, { errors, lifted }, "sotw", () =>
        withErrors(last.body, errors),
      );
      return [...answers.slice(0, -1), { ...last, body }];
    }
    if (wasBlocked) return [];
    if (!type.traits.isFullState) {
      const segment = { puts: [], removed: [], missing: [], errors };
      return errors.length === 0 ? [] : [this.#own(segment, type, current)];
    }
    // A client keeps a resource in spite of an error. When the error is lifted and the resource does not exist, only a
    // full state without it removes it.
    if (errors.length === 0 && !lifted.some((name) => this.#isMissed(name, type, current.view))) return [];
    // A response without all other resources would delete them (S-ERR-04).
    const full = current.fullBody(type.traits.type, type.subscription, type.pendingRemovals);
    return [{ body: withErrors(full, errors), isInOrder: true, news: [] }];
  }

  /** Names that a client without support for errors kept under a transient error, and has to lose under a final one. */
  #lostBy({ errors }: ErrorDifference, { errorsEndWaiting }: Dialect): readonly string[] {
    if (errorsEndWaiting) return [];
    const wasLeft = ({ name }: Resource): boolean => this.#sent.has(name) && !isFinal(this.#sent.get(name)?.error);
    return errors.filter((one) => isFinal(one.error) && wasLeft(one)).map(({ name }) => name);
  }

  /** Whether the client subscribes to a name that has no resource. */
  #isMissed(name: string, { subscription, traits }: TypeStream, view: View): boolean {
    const isAsked = subscription.isWildcard || subscription.names.has(name);
    return isAsked && view.find(traits.type, name) === undefined;
  }

  /** Errors that a response out of order contained need not be sent again. */
  #noteSent({ segments }: Body, now: ErrorSet): void {
    const names = segments.flatMap(({ removed, missing }) => [...removed, ...missing]);
    const sent = names.flatMap((name) => now.get(name) ?? []);
    if (sent.length > 0) this.#sent = new Map([...this.#sent, ...sent.map((error) => [error.name, error] as const)]);
  }

  #own(segment: Segment, { traits }: TypeStream, current: CurrentView): PendingResponse {
    const variant = this.#variant;
    const { type } = traits;
    const body: Body = { variant, type, version: current.version(variant, type), segments: [segment] };
    return { body, isInOrder: true, news: [] };
  }
}

function forgottenBy(request: DiscoveryRequest, isWildcard: boolean, names: NameList): (name: string) => boolean {
  if (request.kind === "delta") {
    const dropped = new Set(request.unsubscribe);
    return (name) => dropped.has(name) || (dropped.has("*") && !names.has(name));
  }
  // A request without a nonce in mid-stream: the client has forgotten the type.
  if (request.nonce === undefined) return () => true;
  const listed = new Set(request.names);
  const listsAll = listed.has("*") || (isWildcard && listed.size === 0);
  return (name) => !listsAll && !listed.has(name);
}

function isFinal(error: ErrorDetail | undefined): boolean {
  return error !== undefined && FINAL_CODES.has(error.code);
}

function withErrors(body: Body, errors: readonly Resource[]): Body {
  if (errors.length === 0) return body;
  return { ...body, segments: [...body.segments, { puts: [], removed: [], missing: [], errors }] };
}

/** Adds errors for missing names: State of the World has no other way to say that a name does not exist (S-RES-15). */
export function withMissing(
  errors: ErrorSet,
  subscription: Subscription,
  { type, placeholder }: Pick<TypeTraits, "type" | "placeholder">,
  view: View,
): ErrorSet {
  const missing: Resource[] = [];
  for (const term of subscription.names) {
    const name = nameOfTerm(term);
    const mayHavePlaceholder = placeholder !== undefined && view.refersTo(type, name);
    if (view.answersTo(type, term).length === 0 && !errors.has(name) && !mayHavePlaceholder)
      missing.push(missingResource(type, name));
  }
  return missing.length === 0 ? errors : new Map([...errors, ...missing.map((one) => [one.name, one] as const)]);
}

function missingResource(type: TypeUrl, name: string): Resource {
  const error = { code: statusCode.NOT_FOUND, message: "no resource has this name" };
  return errorResource({ type, name, error }, "missing");
}
