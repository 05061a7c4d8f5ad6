import { globOf } from "../resource/resource-name.ts";
import type { TermRules } from "../resource/term-rules.ts";
import { plainName } from "../resource/variant-name.ts";

const nobody: ReadonlySet<string> = new Set();

/** The members of each glob collection and of each collection that the type defines itself. */
export class Collections {
  readonly #members = new Map<string, Set<string>>();
  readonly #terms: TermRules | undefined;

  constructor(names: Iterable<string>, terms: TermRules | undefined) {
    this.#terms = terms;
    for (const name of names) this.add(name);
  }

  membersOf(collection: string): ReadonlySet<string> {
    return this.#members.get(collection) ?? nobody;
  }

  add(name: string): void {
    const collection = this.#collectionOf(name);
    if (collection === undefined) return;
    const members = this.#members.get(collection);
    if (members === undefined) this.#members.set(collection, new Set([name]));
    else members.add(name);
  }

  remove(name: string): void {
    const collection = this.#collectionOf(name);
    const members = collection === undefined ? undefined : this.#members.get(collection);
    if (collection === undefined || members?.delete(name) !== true) return;
    if (members.size === 0) this.#members.delete(collection);
  }

  #collectionOf(member: string): string | undefined {
    const name = plainName(member);
    return globOf(name) ?? this.#terms?.collectionOf(name);
  }
}
