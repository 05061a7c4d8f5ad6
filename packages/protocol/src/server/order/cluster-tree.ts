import type { Wait } from "../contract/wait.ts";

/** What a client lacks before new traffic may go to a Cluster. */
export interface Lack {
  /** What it waits for in any case. */
  readonly wait?: Wait | undefined;
  /** The wait for endpoints, if there are none: an aggregate Cluster needs those of one member. */
  readonly vacant?: Wait | undefined;
}

/** Nothing is missing. */
export const nothingLacks: Lack = {};

/** What the tree reads of Clusters. */
export interface ClusterTreeParts {
  /** The members of an aggregate Cluster; none for another one. */
  readonly membersOf: (name: string) => readonly string[];
  /** What a Cluster lacks itself. */
  readonly lackOf: (name: string) => Lack;
}

/** What aggregate Clusters lack, with all that they lead to: each Cluster is looked at once, also in a cycle. */
export class ClusterTree {
  readonly #parts: ClusterTreeParts;
  /** Undefined: its members are being looked at. */
  readonly #known = new Map<string, Lack | undefined>();

  constructor(parts: ClusterTreeParts) {
    this.#parts = parts;
  }

  lackOf(name: string): Lack {
    // Aggregates can be nested deeper than calls can be.
    const open = [name];
    for (let one = open.at(-1); one !== undefined; one = open.at(-1)) {
      if (!this.#known.has(one)) {
        this.#known.set(one, undefined);
        for (const member of this.#parts.membersOf(one)) if (!this.#known.has(member)) open.push(member);
        continue;
      }
      open.pop();
      if (this.#known.get(one) === undefined) this.#known.set(one, this.#combine(one));
    }
    return this.#known.get(name) ?? nothingLacks;
  }

  #combine(name: string): Lack {
    const own = this.#parts.lackOf(name);
    const members = this.#parts.membersOf(name).flatMap((member) => this.#known.get(member) ?? []);
    if (members.length === 0) return own;
    const wait = own.wait ?? members.find((lack) => lack.wait !== undefined)?.wait;
    return { wait, vacant: own.vacant ?? vacancyOf(members) };
  }
}

/** The wait for endpoints of Clusters that stand in for one another; undefined: one of them has some. */
export function vacancyOf(lacks: readonly Lack[]): Wait | undefined {
  return lacks.every(({ vacant }) => vacant !== undefined) ? lacks[0]?.vacant : undefined;
}
