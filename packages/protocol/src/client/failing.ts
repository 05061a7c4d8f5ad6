import type { ReceivedError, ReceivedResource } from "../message/response.ts";
import { type Status, statusCode } from "../message/status.ts";
import { isGlob } from "../resource/resource-name.ts";
import type { AcceptedEntry } from "./accepted.ts";
import type { HeldFailure, HeldResource } from "./held.ts";
import { fits, type Term } from "./interest.ts";
import { setStanding } from "./name-state.ts";
import type { Answered, TypeSubscription } from "./type-subscription.ts";
import type { WatchEvent } from "./watch-event.ts";

/** Why a resource is rejected, and the version of its response. */
interface FailedUpdate {
  readonly problem: string;
  readonly version: string;
}

/** Applies a resource error sent by the server (C-ERR-06). Returns whether a held resource is no longer used. */
export function failByServer(topic: TypeSubscription, { name, error }: ReceivedError, answered: Answered): boolean {
  const entry = topic.accepted.get(name);
  const aliases = entry?.aliases ?? [];
  const terms = topic.interest.termsFor(name, aliases);
  if (terms.length === 0) return false;
  const failure = failureOf(topic, error);
  for (const term of terms) {
    answered(term);
    if (term.kind !== "everything" && term.name === name) setStanding(term, "received-error", failure);
  }
  // In delta it equals a removal (S-ERR-05).
  if (error.code === statusCode.NOT_FOUND && topic.spec.variant === "delta" && entry?.resource !== undefined) {
    return topic.endEntry(entry, "removed", failure);
  }
  const isDropped = topic.spec.dialect.failOnDataErrors && isDataError(error);
  setFailed(topic, entry, { name, aliases, status: "received-error", failure, isDropped });
  for (const term of terms) {
    const held = entry === undefined ? heldFor(topic, term) : isDropped ? undefined : entry.resource;
    const news: WatchEvent =
      error.code === statusCode.NOT_FOUND
        ? { kind: "absent", name, why: "does-not-exist", held }
        : { kind: "failed", name, why: "resource-error", error, held };
    topic.tell(term, news);
  }
  return isDropped && entry?.resource !== undefined;
}

/** Rejects a resource and notifies its watches (C-CLI-04). Returns whether a held resource is no longer used. */
export function refuseResource(
  topic: TypeSubscription,
  received: ReceivedResource,
  { problem, version }: FailedUpdate,
  answered: Answered,
): boolean {
  const { name, bytes } = received;
  const error = { code: statusCode.INVALID_ARGUMENT, message: problem };
  const entry = topic.accepted.get(name);
  const aliases = entry?.resource?.aliases ?? received.aliases;
  const terms = topic.interest.termsFor(name, aliases);
  if (terms.length === 0) return false;
  const failure = failureOf(topic, error, { version: received.version === "" ? version : received.version, bytes });
  const isDropped = topic.spec.dialect.failOnDataErrors;
  setFailed(topic, entry, { name, aliases, status: "nacked", failure, isDropped });
  const held = isDropped ? undefined : entry?.resource;
  for (const term of terms) {
    answered(term);
    topic.tell(term, { kind: "failed", name, why: "rejected", error, held });
  }
  return isDropped && entry?.resource !== undefined;
}

/** Leaves out a valid resource because others in its response are invalid (B-ACK-08). */
export function withholdResource(
  topic: TypeSubscription,
  { name, aliases }: ReceivedResource,
  { error, isTold }: { readonly error: Status; readonly isTold: boolean },
  answered: Answered,
): void {
  const before = topic.accepted.get(name)?.resource;
  for (const term of topic.interest.termsFor(name, aliases)) {
    answered(term);
    if (term.kind !== "name" || isTold) continue;
    // A term that only its new aliases match holds nothing of it.
    const held = before !== undefined && fits(term, name, before.aliases) ? before : undefined;
    topic.tell(term, { kind: "failed", name, why: "rejected", error, held });
  }
}

/**
 * Concludes that a term has no resource or is unreachable, after nothing came in time (C-NEX-02, C-ERR-10). Returns
 * whether watches were notified.
 */
export function expectNoLonger(topic: TypeSubscription, text: string, server: number): boolean {
  const term = topic.interest.get(text);
  if (term === undefined || topic.isKnown(term, server)) return false;
  if (topic.spec.dialect.timerIsTransient) {
    const error = { code: statusCode.UNAVAILABLE, message: "nothing came in time" };
    const [entry] = topic.accepted.answering(term);
    const failure = failureOf(topic, error);
    setStanding(term, "timeout", failure);
    if (entry !== undefined) topic.accepted.set({ ...entry, status: "timeout", failure });
    const news = { kind: "failed", name: term.name, why: "timeout", error, held: entry?.resource } as const;
    topic.tell(term, news);
    return true;
  }
  const foreign = [...topic.accepted.answering(term)];
  for (const entry of foreign) topic.endEntry(entry, "does-not-exist");
  if (foreign.length === 0) topic.endTerm(term);
  return true;
}

function setFailed(
  topic: TypeSubscription,
  entry: AcceptedEntry | undefined,
  failed: Pick<AcceptedEntry, "name" | "aliases" | "status" | "failure"> & { readonly isDropped: boolean },
): void {
  const { isDropped, ...standing } = failed;
  // A glob has no resource of its own (B-ERR-12).
  if (isGlob(standing.name)) return;
  if (isDropped) topic.forget(standing.name);
  const resource = isDropped ? undefined : entry?.resource;
  const acceptedAtMs = isDropped ? undefined : entry?.acceptedAtMs;
  topic.accepted.set({ ...standing, resource, acceptedAtMs, server: entry?.server });
}

/** Returns the resource held for a term under another name: a variant, or one that has the term as an alias. */
function heldFor({ accepted }: TypeSubscription, term: Term): HeldResource | undefined {
  if (term.kind !== "name") return undefined;
  for (const { resource } of accepted.answering(term)) if (resource !== undefined) return resource;
  return undefined;
}

function failureOf(
  { nowMs }: TypeSubscription,
  error: Status,
  refused: Pick<HeldFailure, "version" | "bytes"> = unread,
): HeldFailure {
  return { error, ...refused, atMs: nowMs };
}

const unread = { version: "", bytes: undefined } as const;

/** @spec C-ERR-07 */
function isDataError({ code }: Status): boolean {
  return code === statusCode.NOT_FOUND || code === statusCode.PERMISSION_DENIED;
}
