import type { Case, CaseLevel } from "../case.ts";
import type { Requirement } from "./requirement.ts";

/**
 * What a server or client that fails a case breaks: the level of the case, or that of its requirement. What a diagram
 * shows is a must.
 */
export function levelOf({ id, level }: Pick<Case, "id" | "level">, requirements: readonly Requirement[]): CaseLevel {
  const rule = id.split("/")[0];
  return level ?? requirements.find((each) => each.id === rule)?.level ?? "must";
}
