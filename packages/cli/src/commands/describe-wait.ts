import type { TypeAnswer } from "@xdskit/server";

/** What a pending response waits for, and the clusters whose removal is pending. */
export function describeWait(waits: TypeAnswer["waits"], pendingRemovals: readonly string[] = []): readonly string[] {
  const kept = pendingRemovals.length === 0 ? [] : [`keeps ${pendingRemovals.join(", ")}`];
  if (waits === undefined) return kept;
  const { resources = [] } = waits;
  const who = resources.length === 0 ? "waits" : `${resources.join(", ")} ${resources.length === 1 ? "waits" : "wait"}`;
  if (waits.for === "cluster") return [`${who} until cluster ${waits.name} is in use`, ...kept];
  if (waits.for === "secret") return [`${who} until cluster ${waits.name} has its secret`, ...kept];
  if (waits.for === "content") return [`${who} until the content of ${waits.name} is at hand`, ...kept];
  if (waits.for === "endpoints") return [`${who} until cluster ${waits.name} has endpoints`, ...kept];
  if (waits.for === "release") return [`${kept.join("")} until the client gives it up`.trim()];
  if (waits.for === "return") return [`${kept.join("")} until the client has asked for all that it uses`.trim()];
  const what = waits.shortName ?? waits.type ?? "";
  const until = waits.nacked === true ? `the NACKed ${what} is corrected` : `${what} is accepted`;
  return [`${kept.join("")} until ${until}`.trim()];
}
