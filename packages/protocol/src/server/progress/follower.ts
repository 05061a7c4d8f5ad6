import type { Standing } from "../contract/progress.ts";
import type { ProgressMember } from "./member.ts";

/** Follows one revision until every counted client has it. Costs one comparison for each flush and request of a client. */
export class RevisionFollower {
  readonly revision: number;
  readonly #isWanted: (member: ProgressMember) => boolean;
  readonly #pending = new Set<ProgressMember>();
  readonly #rejected = new Set<ProgressMember>();
  readonly #deployed = new Set<ProgressMember>();

  constructor(revision: number, isWanted: (member: ProgressMember) => boolean) {
    this.revision = revision;
    this.#isWanted = isWanted;
  }

  /** How many clients have neither ACKed nor NACKed everything. */
  get pending(): number {
    return this.#pending.size;
  }

  /** How many clients have nothing pending, and a NACK in force. */
  get rejected(): number {
    return this.#rejected.size;
  }

  /** How many clients have it; a node may be several. */
  get deployed(): number {
    return this.#deployed.size;
  }

  /** Takes in how far a client is now. */
  note(member: ProgressMember): void {
    if (!this.#isWanted(member)) return;
    const standing: Standing = member.standing(this.revision);
    move(this.#pending, member, standing === "pending");
    move(this.#rejected, member, standing === "rejected");
    move(this.#deployed, member, standing === "deployed");
  }

  /** A client disconnected. */
  forget(member: ProgressMember): void {
    this.#pending.delete(member);
    this.#rejected.delete(member);
    this.#deployed.delete(member);
  }
}

function move(members: Set<ProgressMember>, member: ProgressMember, isOne: boolean): void {
  if (isOne) members.add(member);
  else members.delete(member);
}
