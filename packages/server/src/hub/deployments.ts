import type { Progress, RevisionFollower, RevisionProgress } from "@xdskit/protocol/internal";

/** What a wait for a revision waits for. */
export interface AwaitedNodes {
  /** Which nodes count, by id. */
  readonly isWanted: (nodeId: string) => boolean;
  /** How many of them must have the revision at least. */
  readonly minNodes: number;
}

interface DeploymentWait {
  readonly minNodes: number;
  readonly follower: RevisionFollower;
  readonly done: () => void;
  readonly fail: (reason: Error) => void;
}

/** Those who wait until a revision is everywhere. */
export class Deployments {
  readonly #progress: Progress;
  readonly #waits = new Set<DeploymentWait>();

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  /** How many waits there are. */
  get size(): number {
    return this.#waits.size;
  }

  /** How far the wanted nodes are with a revision. */
  progress(revision: number, { isWanted }: Pick<AwaitedNodes, "isWanted">): RevisionProgress {
    return this.#progress.of(revision, isWanted);
  }

  /**
   * Resolves once nothing of a revision is pending on enough wanted nodes, or when the signal is aborted; rejects on
   * `close`.
   */
  async whenSettled(revision: number, { isWanted, minNodes }: AwaitedNodes, signal: AbortSignal): Promise<void> {
    const follower = this.#progress.follow(revision, isWanted);
    let wait: DeploymentWait | undefined;
    let onAbort: (() => void) | undefined;
    try {
      await new Promise<void>((done, fail) => {
        wait = { minNodes, follower, done, fail };
        this.#waits.add(wait);
        onAbort = done;
        signal.addEventListener("abort", onAbort);
        if (signal.aborted || this.#isSettled(wait)) done();
      });
    } finally {
      if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
      if (wait !== undefined) this.#waits.delete(wait);
      this.#progress.unfollow(follower);
    }
  }

  /** Clients went on: ends the waits that are over. */
  check(): void {
    for (const wait of this.#waits) if (this.#isSettled(wait)) wait.done();
  }

  /** Rejects all waits. */
  close(reason: Error): void {
    for (const wait of this.#waits) wait.fail(reason);
  }

  #isSettled({ follower, minNodes }: DeploymentWait): boolean {
    if (follower.pending > 0) return false;
    return follower.rejected > 0 || follower.deployedNodes >= minNodes;
  }
}
