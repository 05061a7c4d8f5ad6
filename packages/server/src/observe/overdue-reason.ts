import { messageNameOf } from "@xdskit/protocol";
import type { Wait } from "@xdskit/protocol/internal";

/** Why a step of the ordering was given up: what did not come. */
export function overdueReason(wait: Wait): string {
  if (wait.for === "return") return "the client has not subscribed to all that it used";
  if (wait.for === "users") {
    const { type, isNacked } = wait;
    return `the client ${isNacked ? "NACKed" : "did not ACK"} ${messageNameOf(type)}`;
  }
  if (wait.for === "content") return `the content of ${wait.name} is not at hand`;
  const cluster = `cluster ${wait.name}`;
  if (wait.for === "endpoints") return `${cluster} has no endpoints`;
  if (wait.for === "secret") return `a secret of ${cluster} is missing`;
  if (wait.for === "release") return `the client is still subscribed to ${cluster}, which was removed`;
  return `the client did not ACK ${cluster}`;
}
