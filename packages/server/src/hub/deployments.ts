import type { RevisionFollower, RevisionProgress, ServerMachine } from "@xdskit/protocol/internal";

/** What a wait for a revision waits for. */
export interface AwaitedNodes {
  /** Which nodes count, by id. */
  readonly isWanted: (nodeId: string) => boolean;
  /** How many of them must have the revision at least. */
  readonly minNodes: number;
}

interface DeploymentWait extends AwaitedNodes {
  readonly follower: RevisionFollower;
  readonly done: () => void;
}

/** Those who wait until a revision is everywhere. */
export class Deployments {
  readonly #machine: ServerMachine;
  readonly #waits = new Set<DeploymentWait>();

  constructor(machine: ServerMachine) {
    this.#machine = machine;
  }

  /** How many waits there are. */
  get size(): number {
    return this.#waits.size;
  }

  /** How far the wanted nodes are with a revision. */
  progress(revision: number, { isWanted }: Pick<AwaitedNodes, "isWanted">): RevisionProgress {
    return this.#machine.progress(revision, isWanted);
  }

  /** Resolves once nothing of a revision is pending on enough wanted nodes, or when the signal is aborted. */
  async whenSettled(revision: number, nodes: AwaitedNodes, signal: AbortSignal): Promise<void> {
    const follower = this.#machine.follow(revision, nodes.isWanted);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener("abort", done);
        this.#waits.delete(wait);
        resolve();
      };
      const wait: DeploymentWait = { ...nodes, follower, done };
      this.#waits.add(wait);
      signal.addEventListener("abort", done);
      if (signal.aborted || this.#isSettled(wait)) done();
    });
    this.#machine.unfollow(follower);
  }

  /** Clients went on: ends the waits that are over. */
  check(): void {
    for (const wait of this.#waits) if (this.#isSettled(wait)) wait.done();
  }

  #isSettled({ follower, isWanted, minNodes }: DeploymentWait): boolean {
    if (follower.pending > 0) return false;
    // A node may have several streams: only a count of nodes says whether they are enough.
    if (follower.rejected > 0 || minNodes === 0) return true;
    if (follower.deployed < minNodes) return false;
    return this.#machine.progress(follower.revision, isWanted).deployed >= minNodes;
  }
}
