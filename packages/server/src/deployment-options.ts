import { LONGEST_TIMER_MS } from "@xdskit/disk";
import { aText, fields, globMatches, type RulesOf, rule, wholeNumber } from "@xdskit/protocol/internal";
import { optionsError, XdsError } from "./error.ts";
import type { AwaitedNodes } from "./hub/deployments.ts";
import type { DeploymentOptions } from "./options.ts";

const ofWaiting: RulesOf<DeploymentOptions> = {
  nodes: aText,
  minNodes: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  timeoutMs: wholeNumber(0, LONGEST_TIMER_MS),
  signal: rule("an AbortSignal", (value) => value instanceof AbortSignal),
};
const waiting = fields(ofWaiting);

/** Checks what `whenDeployed` was given. Throws an `XdsError`. */
export function checkDeployment(revision: number, head: number, options: DeploymentOptions): AwaitedNodes {
  const problems = waiting(options);
  if (problems.length > 0) throw optionsError(problems);
  const { nodes = "*", minNodes = 0 } = options;
  if (!Number.isInteger(revision) || revision < 0 || revision > head)
    throw new XdsError("REVISION_UNKNOWN", `there is no revision ${revision}; the newest is ${head}`);
  return { isWanted: (id) => globMatches(nodes, id), minNodes };
}
