import type { LiveReading } from "../../workers/messages.ts";
import type {
  NodeCountsAnswer,
  NodeGroupAnswer,
  RevisionTimeAnswer,
  SampleAnswer,
  SamplesAnswer,
} from "../answers/live.ts";
import type { Merge } from "./merge.ts";

/** How many groups are told. */
const MAX_GROUPS = 20;

/** How far the nodes of all processes are. */
export function mergeProgressParts(
  own: LiveReading["progress"],
  others: readonly LiveReading["progress"][],
): LiveReading["progress"] {
  return others.reduce(
    (sum, { revision, deployed, pending, nacked }) => ({
      head: sum.head,
      revision: Math.min(sum.revision, revision),
      deployed: sum.deployed + deployed,
      pending: sum.pending + pending,
      nacked: sum.nacked + nacked,
    }),
    own,
  );
}

/** The nodes of all processes; one with streams in several of them counts in each. */
export function mergeNodeParts(
  own: LiveReading["nodes"],
  others: readonly LiveReading["nodes"][],
): LiveReading["nodes"] {
  return others.reduce(
    (sum, one) => ({
      ...addCounts(sum, one),
      changes: sum.changes + one.changes,
      streams: sum.streams + one.streams,
      clusters: addGroups(sum.clusters, one.clusters),
      groups: addGroups(sum.groups, one.groups),
      userAgents: addGroups(sum.userAgents, one.userAgents),
    }),
    own,
  );
}

/** The samples of the primary, with those that the workers took in the same interval. */
export const mergeSamples: Merge = (values) => {
  const [own, ...others] = values as readonly SamplesAnswer[];
  if (own === undefined) return undefined;
  const intervalOf = ({ at }: SampleAnswer): number => Math.floor(Date.parse(at) / (own.intervalSeconds * 1000));
  const taken = others.map(({ items }) => new Map(items.map((item) => [intervalOf(item), item])));
  const items = own.items.map((item) =>
    taken.reduce((sum, ofWorker) => addSample(sum, ofWorker.get(intervalOf(item))), item),
  );
  const revisions = new Map<number, RevisionTimeAnswer>();
  for (const one of [own, ...others].flatMap((answer) => answer.revisions)) {
    const known = revisions.get(one.revision);
    revisions.set(one.revision, known === undefined ? one : joinTimes(known, one));
  }
  return {
    intervalSeconds: own.intervalSeconds,
    items,
    revisions: [...revisions.values()].sort((a, b) => a.revision - b.revision).slice(-100),
  } satisfies SamplesAnswer;
};

function joinTimes(one: RevisionTimeAnswer, other: RevisionTimeAnswer): RevisionTimeAnswer {
  return { ...one, acks: one.acks + other.acks, lastAckMs: Math.max(one.lastAckMs, other.lastAckMs) };
}

function addSample(sum: SampleAnswer, one: SampleAnswer | undefined): SampleAnswer {
  if (one === undefined) return sum;
  return {
    at: sum.at,
    streams: sum.streams + one.streams,
    nodes: addCounts(sum.nodes, one.nodes),
    heapBytes: sum.heapBytes + one.heapBytes,
    residentBytes: sum.residentBytes + one.residentBytes,
    lagMs: Math.max(sum.lagMs, one.lagMs),
  };
}

function addCounts(sum: NodeCountsAnswer, one: NodeCountsAnswer): NodeCountsAnswer {
  return {
    total: sum.total + one.total,
    nacked: sum.nacked + one.nacked,
    waiting: sum.waiting + one.waiting,
    pending: sum.pending + one.pending,
    acked: sum.acked + one.acked,
  };
}

function addGroups(groups: readonly NodeGroupAnswer[], others: readonly NodeGroupAnswer[]): readonly NodeGroupAnswer[] {
  const byName = new Map<string, NodeGroupAnswer>();
  for (const group of [...groups, ...others]) {
    const known = byName.get(group.name);
    byName.set(group.name, known === undefined ? group : { name: group.name, ...addCounts(known, group) });
  }
  return [...byName.values()].sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1)).slice(0, MAX_GROUPS);
}
