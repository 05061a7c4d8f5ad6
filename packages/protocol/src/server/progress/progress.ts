import type { Node } from "../../node/node.ts";
import { isObserver } from "../../node/observer.ts";
import type { LostNode, NodeStates, RevisionProgress, Straggler, StragglerType } from "../contract/progress.ts";
import { RevisionFollower } from "./follower.ts";
import type { ProgressMember } from "./member.ts";

/** How many disconnected nodes are remembered, and how long their ids may be, in UTF-16 code units. */
const MOST_LOST = 10_000;
const LONGEST_ID = 1_024;

/**
 * Which clients have which revision. It keeps nothing for connected clients: a question is a scan, and who waits for a
 * revision is a follower that each client updates as it goes on.
 */
export class Progress {
  readonly #clients: () => readonly Iterable<ProgressMember>[];
  readonly #followers = new Set<RevisionFollower>();
  /** Nodes of which a client disconnected, by id: what it had, and the newest revision then; the newest last. */
  readonly #lost = new Map<string, { readonly reached: number; readonly head: number }>();

  /** `clients`: every connected client whose node is known; observers among them do not count. */
  constructor(clients: () => readonly Iterable<ProgressMember>[]) {
    this.#clients = clients;
  }

  /** A client did something, or was sent something. */
  note(member: ProgressMember): void {
    if (this.#followers.size === 0 || isObserver(member.node)) return;
    for (const follower of this.#followers) follower.note(member);
  }

  /** A node connected. */
  found(node: Node): void {
    if (!isObserver(node)) this.#lost.delete(node.id);
  }

  /** A client disconnected, having everything up to `reached`, when `head` was the newest revision. */
  left(member: ProgressMember, reached: number, head: number): void {
    if (isObserver(member.node)) return;
    for (const follower of this.#followers) follower.forget(member);
    const { id } = member.node;
    if (id.length > LONGEST_ID) return;
    const known = this.#lost.get(id);
    this.#lost.delete(id);
    // The clients of a node that goes away disconnect together: what one of them lacks, the node lacks.
    const together = known?.head === head ? Math.min(known.reached, reached) : reached;
    this.#lost.set(id, { reached: together, head });
    const [oldest] = this.#lost.keys();
    if (this.#lost.size > MOST_LOST && oldest !== undefined) this.#lost.delete(oldest);
  }

  /** Follows a revision that is not in the future until `unfollow`; the answer is kept current as events come. */
  follow(revision: number, isWanted: (nodeId: string) => boolean): RevisionFollower {
    const follower = new RevisionFollower(revision, ({ node }) => isWanted(node.id));
    this.#visit((member) => follower.note(member));
    this.#followers.add(follower);
    return follower;
  }

  unfollow(follower: RevisionFollower): void {
    this.#followers.delete(follower);
  }

  /** How far the wanted nodes are with a revision. Costs a look at every client. */
  of(revision: number, isWanted: (nodeId: string) => boolean): RevisionProgress {
    const nodes = new Map<string, Straggler>();
    this.#visit((member) => {
      const { node } = member;
      if (!isWanted(node.id)) return;
      const behind = member.behind(revision);
      const known = nodes.get(node.id);
      if (known === undefined) nodes.set(node.id, { node, types: behind });
      else if (behind.length > 0) nodes.set(node.id, { node, types: [...known.types, ...behind] });
    });
    const stragglers = [...nodes.values()].filter(({ types }) => types.length > 0);
    const nacked = stragglers.filter(({ types }) => types.every(isRejected));
    return {
      revision,
      nodes: nodes.size,
      deployed: nodes.size - stragglers.length,
      pending: stragglers.filter(({ types }) => !types.every(isRejected)),
      nacked,
      disconnected: [...this.#lostBefore(revision, nodes)].filter(({ id }) => isWanted(id)),
    };
  }

  /**
   * What each client has, by node; a node with several clients comes several times, and has the least of them. May be
   * iterated over several turns of the event loop: clients that come or go meanwhile may be missing.
   */
  *reached(): Iterable<{ readonly id: string; readonly reached: number }> {
    for (const clients of this.#clients())
      for (const { node, reached } of clients) if (!isObserver(node)) yield { id: node.id, reached };
  }

  /** How many nodes are how far with a revision. Costs a look at every client, as `of`, and builds nothing for most. */
  states(revision: number): NodeStates {
    const ranks = new Map<string, number>();
    this.#visit((member) => {
      const rank = rankOf(member, revision);
      const { id } = member.node;
      if (rank > (ranks.get(id) ?? -1)) ranks.set(id, rank);
    });
    const [deployed = 0, nacked = 0, pending = 0, waiting = 0] = countRanks(ranks.values());
    const disconnected = [...this.#lostBefore(revision, ranks)].length;
    return { deployed, pending, waiting, nacked, disconnected };
  }

  #visit(visit: (member: ProgressMember) => void): void {
    for (const clients of this.#clients()) for (const client of clients) if (!isObserver(client.node)) visit(client);
  }

  *#lostBefore(revision: number, connected: ReadonlyMap<string, unknown>): Iterable<LostNode> {
    for (const [id, { reached }] of this.#lost) if (reached < revision && !connected.has(id)) yield { id, reached };
  }
}

/** 0: deployed, 1: nacked, 2: pending, 3: waiting. What is furthest from done counts for a node. */
function rankOf(member: ProgressMember, revision: number): number {
  const standing = member.standing(revision);
  if (standing === "deployed") return 0;
  if (standing === "nacked") return 1;
  return member.behind(revision).some(({ wait }) => wait !== undefined) ? 3 : 2;
}

function countRanks(ranks: Iterable<number>): readonly number[] {
  const counts = [0, 0, 0, 0];
  for (const rank of ranks) counts[rank] = (counts[rank] ?? 0) + 1;
  return counts;
}

function isRejected({ state }: StragglerType): boolean {
  return state === "nacked";
}
