import type { FieldProblem } from "@xdskit/envoy-api";
import type { Resource } from "@xdskit/protocol";
import type { ValuePath } from "../problem.ts";

/** A resource that is known by its text, in the place of the value that would have to be read. */
export interface KnownItem {
  readonly resource: Resource;
  /** What it is warned of, each with its path from the item. */
  readonly problems: readonly FieldProblem[];
  /** From the item to the resource itself: one step inside a `discovery.v3.Resource`. */
  readonly bodyPath: ValuePath;
}

const nothing: ReadonlyMap<string, RememberedItem> = new Map();

/**
 * The resources of a list in a text, by the text of each, so that what a file held before is not read again. An item means
 * the same wherever it stands: the texts that the quick reader reads have no anchors.
 */
export class ItemMemory {
  #before = nothing;
  #now = new Map<string, RememberedItem>();
  #texts = new Map<unknown, string>();

  /** What stands for an item with that text, if it is known. */
  recall(text: string): unknown {
    const item = this.#before.get(text);
    if (item !== undefined) this.#now.set(text, item);
    return item;
  }

  /** Notes the text of an item that was read. */
  note(value: unknown, text: string): void {
    this.#texts.set(value, text);
  }

  /** Whether a value is an item whose text is noted. */
  isNoted(value: unknown): boolean {
    return this.#texts.has(value);
  }

  /** From now on the text of this item stands for this resource. */
  remember(value: unknown, known: KnownItem): void {
    const text = this.#texts.get(value);
    if (text !== undefined) this.#now.set(text, new RememberedItem(known));
  }

  /** What the text holds now is what is known next time. A single item is not worth its memory. */
  finish(): void {
    this.#before = this.#now.size > 1 ? this.#now : nothing;
    this.#now = new Map();
    this.#texts = new Map();
  }
}

class RememberedItem implements KnownItem {
  readonly resource: Resource;
  readonly problems: readonly FieldProblem[];
  readonly bodyPath: ValuePath;

  constructor({ resource, problems, bodyPath }: KnownItem) {
    this.resource = resource;
    this.problems = problems;
    this.bodyPath = bodyPath;
  }
}

/** The resource that a value of a document stands for, if the value was not read because it is known. */
export function knownItem(value: unknown): KnownItem | undefined {
  return value instanceof RememberedItem ? value : undefined;
}
