import { statusCode } from "../message/status.ts";
import type { AcceptedEntry } from "./accepted.ts";
import type { HeldFailure } from "./held.ts";
import type { Term } from "./interest.ts";
import type { WatchEvent } from "./watch-event.ts";

/** The state of a name. */
type NameState = Pick<AcceptedEntry, "name" | "resource" | "status" | "failure">;

/** Returns the notifications of a name's state for a watch that starts late (C-CLI-02). */
export function newsOf({ name, resource, status, failure }: NameState): readonly WatchEvent[] {
  if (status === "does-not-exist") return [{ kind: "absent", name, why: "does-not-exist", held: resource }];
  const changed: readonly WatchEvent[] = resource === undefined ? [] : [{ kind: "changed", name, resource }];
  return failure === undefined ? changed : [...changed, newsOfFailure({ name, resource, status, failure })];
}

/** Sets the state of a term while no resource is held for it. */
export function setStanding(term: Term, status: Term["status"], failure?: HeldFailure): void {
  term.status = status;
  term.failure = failure;
}

/** @spec C-ERR-08 */
function newsOfFailure({
  name,
  resource: held,
  status,
  failure,
}: NameState & { readonly failure: HeldFailure }): WatchEvent {
  const { error } = failure;
  if (status === "nacked") return { kind: "failed", name, why: "rejected", error, held };
  if (status === "timeout") return { kind: "failed", name, why: "timeout", error, held };
  return error.code === statusCode.NOT_FOUND
    ? { kind: "absent", name, why: "does-not-exist", held }
    : { kind: "failed", name, why: "resource-error", error, held };
}
