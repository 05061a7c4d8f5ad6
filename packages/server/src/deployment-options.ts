import { LONGEST_TIMER_MS } from "@xdskit/disk";
import { globMatches } from "@xdskit/protocol/internal";
import { type OptionProblem, optionsError, XdsError } from "./error.ts";
import type { AwaitedNodes } from "./hub/deployments.ts";
import type { DeploymentOptions } from "./options.ts";

/** Checks what `whenDeployed` was given. Throws an `XdsError`. */
export function checkDeployment(
  revision: number,
  head: number,
  { nodes = "*", minNodes = 0, timeoutMs, signal }: DeploymentOptions,
): AwaitedNodes & { readonly signal: AbortSignal } {
  const problems: readonly OptionProblem[] = [
    ...findCountProblems("minNodes", minNodes, Number.MAX_SAFE_INTEGER),
    ...(timeoutMs === undefined ? [] : findCountProblems("timeoutMs", timeoutMs, LONGEST_TIMER_MS)),
  ];
  if (problems.length > 0) throw optionsError(problems);
  if (!Number.isInteger(revision) || revision < 0 || revision > head)
    throw new XdsError("REVISION_UNKNOWN", `there is no revision ${revision}; the newest is ${head}`);
  const signals = [
    ...(signal === undefined ? [] : [signal]),
    ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
  ];
  return { isWanted: (id) => globMatches(nodes, id), minNodes, signal: AbortSignal.any(signals) };
}

function findCountProblems(path: string, count: number, most: number): readonly OptionProblem[] {
  if (Number.isInteger(count) && count >= 0 && count <= most) return [];
  return [{ path, message: `expected a whole number from 0 to ${most}, got ${count}` }];
}
