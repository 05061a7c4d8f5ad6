import type { LostReplicaAnswer, ReplicaAnswer, ReplicasAnswer } from "@xdskit/server";
import { formatAge } from "../output/age.ts";
import type { Colors } from "../output/color.ts";
import { oneLine } from "../output/one-line.ts";
import { plural } from "../output/problems.ts";
import { formatTable } from "../output/table.ts";

/** The servers of a store, a line each. */
export function formatReplicas(
  { replicas, problem, lost = [] }: ReplicasAnswer,
  { colors, width, now }: { readonly colors: Colors; readonly width: number | undefined; readonly now: Date },
): string {
  const others = problem === undefined ? "" : colors.red(`others are not known: ${oneLine(problem)}\n`);
  const missed = lost.map((one) => colors.red(`${describeLost(one)}\n`)).join("");
  if (replicas.length === 0) return `${others}no server follows the store\n${missed}`;
  const table = formatTable(
    replicas,
    [
      { title: "REPLICA", text: ({ name }) => name },
      { title: "ADDRESS", text: ({ address }) => address ?? "" },
      { title: "VERSION", text: ({ version }) => version },
      { title: "ROLE", text: ({ role }) => role },
      { title: "UP", text: ({ startedAt }) => formatAge(startedAt, now) },
      { title: "RECORD", text: ({ number }) => `${number}` },
      { title: "BEHIND", text: (one) => describeLag(one, now), color: (text) => colors.yellow(text) },
      { title: "NODES", text: ({ nodes }) => `${nodes}` },
      { title: "HAVE IT", text: ({ deployed }) => `${deployed}` },
    ],
    { colors, width },
  );
  return `${others}${table}${missed}`;
}

/** A server that did not leave in order, as it told last. */
function describeLost({ name, address, number, nodes }: LostReplicaAnswer): string {
  const who = oneLine(address === undefined ? name : `${name} at ${address}`);
  return `lost: ${who}, which did not leave the store in order; at last it had record ${number} and ${plural(nodes, "node")}`;
}

/** How much a server lacks, and since when. */
function describeLag({ lag, lagSince, stoppedSince }: ReplicaAnswer, now: Date): string {
  const parts: string[] = [];
  if (lag > 0)
    parts.push(`${plural(lag, "record")}${lagSince === undefined ? "" : ` for ${formatAge(lagSince, now)}`}`);
  if (stoppedSince !== undefined) parts.push(`stopped for ${formatAge(stoppedSince, now)}`);
  return parts.join(", ");
}
