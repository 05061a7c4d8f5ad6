import { type KnownReplicas, type ReplicaState, readReplicas } from "../ledger/replicas.ts";
import type { LedgerStore } from "../ledger/store.ts";
import type { LostReplicaAnswer, ReplicaAnswer, ReplicasAnswer } from "./answers/server.ts";

/** The servers that follow a store, asked without any of them. Rejects if the store cannot be asked. */
export async function replicasOf(store: LedgerStore): Promise<ReplicasAnswer> {
  const known = await readReplicas(store.members);
  const head = (await store.refresh?.()) ?? store.head;
  return describeReplicas(known, head.number);
}

/** The servers of a store, by their names. `head`: the newest record that is known beside theirs. */
export function describeReplicas({ replicas, lost }: KnownReplicas, head: number, problem?: string): ReplicasAnswer {
  const newest = Math.max(head, ...replicas.map(({ number }) => number));
  return {
    head: newest,
    ...(problem !== undefined && { problem }),
    replicas: replicas.toSorted(byName).map((replica) => describeReplica(replica, newest)),
    ...(lost.length > 0 && { lost: lost.toSorted(byName).map(describeLost) }),
  };
}

function describeLost({ id, name, address, version, role, startedAt, ...told }: ReplicaState): LostReplicaAnswer {
  const { number, nodes } = told;
  return {
    ...{ id, name, ...(address !== undefined && { address }), version, role, startedAt: startedAt.toISOString() },
    ...{ number, nodes },
  };
}

function byName(a: ReplicaState, b: ReplicaState): number {
  const [one, other] = [a, b].map(({ name, address = "", id }) => [name, address, id].join("\n"));
  return (one ?? "") < (other ?? "") ? -1 : 1;
}

function describeReplica(replica: ReplicaState, head: number): ReplicaAnswer {
  const { id, name, address, version, role, startedAt, number, numberSince, behindSince, stoppedSince } = replica;
  const { nodes, deployed } = replica;
  return {
    ...{ id, name, ...(address !== undefined && { address }), version, role, startedAt: startedAt.toISOString() },
    ...{ number, numberSince: numberSince.toISOString(), lag: head - number },
    ...(behindSince !== undefined && { lagSince: behindSince.toISOString() }),
    ...(stoppedSince !== undefined && { stoppedSince: stoppedSince.toISOString() }),
    ...{ nodes, deployed },
  };
}
