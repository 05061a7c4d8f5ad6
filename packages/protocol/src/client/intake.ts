import type { DiscoveryResponse, ReceivedResource, SotwResponse } from "../message/response.ts";
import type { Status } from "../message/status.ts";
import type { ClientTurn } from "./client-turn.ts";
import { failByServer, refuseResource, withholdResource } from "./failing.ts";
import type { Term } from "./interest.ts";
import type { Answered, TypeSubscription } from "./type-subscription.ts";
import { errorOf, isRefusedWhole, judge, type Verdict } from "./verdict.ts";

/** The stream that a response came on. */
interface Origin {
  readonly server: number;
  /** Whether the wildcard is sticky, so no further names are sent. */
  readonly isPureWildcard: boolean;
  /** Whether the server was told that a term is subscribed. */
  believes(term: string): boolean;
  readonly answered: Answered;
}

/** The result of applying a response. */
interface Taken {
  /** Why the response is NACKed; undefined if it is ACKed. */
  readonly error: Status | undefined;
  /** Whether what is in use changed. */
  readonly isNews: boolean;
}

/** Applies a response as far as it is valid and the dialect allows, and notifies the watches. */
export function takeResponse(
  turn: ClientTurn,
  topic: TypeSubscription,
  response: DiscoveryResponse,
  origin: Origin,
): Taken {
  const { spec, traits, interest, accepted } = topic;
  const verdict = judge(response, {
    dialect: spec.dialect,
    traits,
    // A heartbeat may omit the aliases.
    isCovered: ({ name, aliases }) => interest.termsFor(name, accepted.get(name)?.aliases ?? aliases).length > 0,
    heldVersion: (name) => {
      const entry = accepted.get(name);
      return entry?.status === "does-not-exist" ? undefined : entry?.resource?.version;
    },
  });
  const error = errorOf(verdict);
  const isNews =
    error === undefined ? apply(topic, response, origin, verdict) : refuse(topic, response, origin, verdict, error);
  if (error !== undefined || response.errors.length > 0) topic.forgetOldFailures(namesThere(response, verdict));
  const taken = { error, isNews };
  report(turn, topic, response, taken);
  return taken;
}

/** A delta that names no member leaves a glob unresolved, because it may answer other subscriptions (B-XTP-05). */
function isTold(term: Term, { kind }: DiscoveryResponse, { believes }: Origin): boolean {
  return believes(term.text) && (term.kind === "everything" || kind === "sotw");
}

/** @spec B-ACK-08, C-CLI-04 */
function refuse(
  topic: TypeSubscription,
  response: DiscoveryResponse,
  origin: Origin,
  verdict: Verdict,
  error: Status,
): boolean {
  const version = versionOf(response);
  if (verdict.problems.length > 0) topic.tellFailed("rejected", error);
  const isWhole = isRefusedWhole(verdict, topic.spec.dialect);
  let isNews = !isWhole && apply(topic, response, origin, verdict);
  // What the response takes away is no longer held when its rejected resources are told.
  for (const { resource, problem } of verdict.refused)
    isNews = refuseResource(topic, resource, { problem, version }, origin.answered) || isNews;
  if (isWhole) {
    // Every watch was notified already of the faults of the whole response.
    const isTold = verdict.problems.length > 0;
    for (const put of verdict.puts) withholdResource(topic, put, { error, isTold }, origin.answered);
    if (response.kind === "sotw" && topic.isFullState && verdict.refused.length > 0) topic.forgetRefused(verdict.names);
  }
  if (isNews) topic.version.forget();
  return isNews;
}

function apply(topic: TypeSubscription, response: DiscoveryResponse, origin: Origin, verdict: Verdict): boolean {
  const { server, answered } = origin;
  let isNews = false;
  const note = (isChanged: boolean): void => {
    isNews = isNews || isChanged;
  };
  const gone = response.kind === "delta" ? [...response.removed, ...verdict.missing] : verdict.missing;
  note(topic.removeAliases(gone));
  for (const name of gone) note(topic.remove(name, answered));
  for (const put of verdict.puts) note(topic.put(put, versionOfResource(put, response), server, answered));
  for (const beat of verdict.heartbeats) topic.beat(beat, server, answered);
  if (response.kind === "sotw") note(leaveOut(topic, response, origin, verdict));
  const refused = response.errors.length === 0 ? none : new Set(verdict.refused.map(({ resource }) => resource.name));
  for (const error of response.errors) {
    // A server must not send an error for a resource in the same response (S-ERR-03); such an error is ignored.
    const isHeld = verdict.names.has(error.name) && topic.accepted.get(error.name)?.status === "acked";
    if (!isHeld && !refused.has(error.name)) note(failByServer(topic, error, answered));
  }
  if (response.kind === "sotw" && verdict.refused.length === 0) topic.version.accept(server, response.version);
  for (const term of topic.interest.unsynced) if (isTold(term, response, origin)) topic.sync(term);
  return isNews;
}

/** Applies what the omission of names from a response means. */
function leaveOut(
  topic: TypeSubscription,
  response: SotwResponse,
  { isPureWildcard }: Origin,
  verdict: Verdict,
): boolean {
  if (!topic.isFullState) return false;
  const there = namesThere(response, verdict);
  const isNews = topic.keepOnly(there);
  if (isPureWildcard && topic.spec.dialect.absenceByWildcard) {
    for (const term of topic.interest.terms()) {
      if (term.kind === "name" && !there.has(term.name)) topic.concludeAbsent(term);
    }
  }
  return isNews;
}

/** Names that came without a body are removed already. */
function namesThere({ errors }: DiscoveryResponse, { names }: Verdict): ReadonlySet<string> {
  if (errors.length === 0) return names;
  const there = new Set(names);
  // A name with a resource error does not count as omitted (S-ERR-04).
  for (const { name } of errors) there.add(name);
  return there;
}

function report(
  turn: ClientTurn,
  { spec, type }: TypeSubscription,
  response: DiscoveryResponse,
  { error, isNews }: Taken,
): void {
  const { controlPlane } = response;
  const about = { source: spec.id, type, version: versionOf(response), controlPlane, isNews };
  if (error !== undefined) {
    turn.report({ kind: "response-rejected", ...about, error: error.message });
    return;
  }
  turn.report({
    kind: "response-accepted",
    ...about,
    resources: response.resources.length,
    removed: response.kind === "delta" ? response.removed.length : 0,
  });
}

function versionOf(response: DiscoveryResponse): string {
  return response.kind === "sotw" ? response.version : response.systemVersion;
}

/** In State of the World a resource has the version of its response (C-TTL-11). */
function versionOfResource(resource: ReceivedResource, response: DiscoveryResponse): string {
  return response.kind === "sotw" ? response.version : resource.version;
}

const none: ReadonlySet<string> = new Set();
