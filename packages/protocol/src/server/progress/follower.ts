import type { Standing } from "../contract/progress.ts";
import type { ProgressMember } from "./member.ts";

/** Follows one revision until every counted client has it. Costs one comparison for each flush and request of a client. */
export class RevisionFollower {
  readonly revision: number;
  readonly #isWanted: (member: ProgressMember) => boolean;
  readonly #pending = new Set<ProgressMember>();
  readonly #nacked = new Set<ProgressMember>();
  readonly #deployed = new Set<ProgressMember>();
  /** How many clients of each node have it, by node id. */
  readonly #deployedNodes = new Map<string, number>();

  constructor(revision: number, isWanted: (member: ProgressMember) => boolean) {
    this.revision = revision;
    this.#isWanted = isWanted;
  }

  /** How many clients have neither ACKed nor NACKed everything. */
  get pending(): number {
    return this.#pending.size;
  }

  /** How many clients have nothing pending, and a NACK in force. */
  get nacked(): number {
    return this.#nacked.size;
  }

  /** How many nodes have a client that has it; while nothing is pending or NACKed, all clients of a node have it. */
  get deployedNodes(): number {
    return this.#deployedNodes.size;
  }

  /** Takes in how far a client is now. */
  note(member: ProgressMember): void {
    if (!this.#isWanted(member)) return;
    const standing: Standing = member.standing(this.revision);
    move(this.#pending, member, standing === "pending");
    move(this.#nacked, member, standing === "nacked");
    this.#noteDeployed(member, standing === "deployed");
  }

  /** A client disconnected. */
  forget(member: ProgressMember): void {
    this.#pending.delete(member);
    this.#nacked.delete(member);
    this.#noteDeployed(member, false);
  }

  #noteDeployed(member: ProgressMember, isDeployed: boolean): void {
    if (this.#deployed.has(member) === isDeployed) return;
    move(this.#deployed, member, isDeployed);
    const { id } = member.node;
    const clients = (this.#deployedNodes.get(id) ?? 0) + (isDeployed ? 1 : -1);
    if (clients === 0) this.#deployedNodes.delete(id);
    else this.#deployedNodes.set(id, clients);
  }
}

function move(members: Set<ProgressMember>, member: ProgressMember, isOne: boolean): void {
  if (isOne) members.add(member);
  else members.delete(member);
}
