import type { NodeStates, Progress, RevisionFollower, RevisionProgress } from "@xdskit/protocol/internal";

/** What a wait for a revision waits for. */
export interface AwaitedNodes {
  /** Which nodes count, by id. */
  readonly isWanted: (nodeId: string) => boolean;
  /** How many of them must have the revision at least. */
  readonly minNodes: number;
}

interface DeploymentWait {
  readonly minNodes: number;
  readonly done: () => void;
  readonly fail: (reason: Error) => void;
}

/** Those who wait until a revision is everywhere. */
export class Deployments {
  readonly #progress: Progress;
  readonly #listeners: (() => void)[] = [];
  readonly #waits = new Map<RevisionFollower, DeploymentWait>();

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

  /** How many nodes are how far with a revision. */
  states(revision: number): NodeStates {
    return this.#progress.states(revision);
  }

  /** What each client has, by node; see `Progress.reached`. */
  reached(): Iterable<{ readonly id: string; readonly reached: number }> {
    return this.#progress.reached();
  }

  /** Calls back whenever clients went on. */
  onAdvanced(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Follows a revision on every node until `unfollow`. */
  follow(revision: number): RevisionFollower {
    return this.#progress.follow(revision, () => true);
  }

  unfollow(follower: RevisionFollower): void {
    this.#progress.unfollow(follower);
  }

  /**
   * Resolves once nothing of a revision is pending on enough wanted nodes, or when the signal is aborted; rejects on
   * `close`.
   */
  async whenSettled(revision: number, { isWanted, minNodes }: AwaitedNodes, signal: AbortSignal): Promise<void> {
    const follower = this.#progress.follow(revision, isWanted);
    const ended = new AbortController();
    try {
      await new Promise<void>((done, fail) => {
        this.#waits.set(follower, { minNodes, done, fail });
        signal.addEventListener("abort", () => done(), { signal: ended.signal });
        if (signal.aborted || isSettled(follower, minNodes)) done();
      });
    } finally {
      ended.abort();
      this.#waits.delete(follower);
      this.#progress.unfollow(follower);
    }
  }

  /** Clients went on: ends the waits that are over, and calls the listeners. */
  check(): void {
    for (const [follower, { minNodes, done }] of this.#waits) if (isSettled(follower, minNodes)) done();
    for (const listener of this.#listeners) listener();
  }

  /** Rejects all waits. */
  close(reason: Error): void {
    for (const { fail } of this.#waits.values()) fail(reason);
  }
}

function isSettled({ pending, nacked, deployedNodes }: RevisionFollower, minNodes: number): boolean {
  return pending === 0 && (nacked > 0 || deployedNodes >= minNodes);
}
