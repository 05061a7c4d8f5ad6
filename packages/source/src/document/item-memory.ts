import type { FieldProblem } from "@xdskit/envoy-api";
import type { Resource } from "@xdskit/protocol";
import type { ValuePath } from "../problem.ts";

/** A resource recognised by its text, in place of the parsed value. */
export interface KnownItem {
  readonly resource: Resource;
  /** Its warnings, with paths relative to the item. */
  readonly problems: readonly FieldProblem[];
  /** The path from the item to the message: one step inside a `discovery.v3.Resource`. */
  readonly bodyPath: ValuePath;
}

const nothing: ReadonlyMap<string, RememberedItem> = new Map();

/**
 * The resources of a list in a file by their text, so that unchanged ones are not read again. An item means the same at
 * any position, because texts of the quick reader have no anchors.
 */
export class ItemMemory {
  #before = nothing;
  #now = new Map<string, RememberedItem>();
  #texts = new Map<unknown, string>();

  /** A stand-in value for a known text; undefined if unknown. */
  recall(text: string): unknown {
    const item = this.#before.get(text);
    if (item !== undefined) this.#now.set(text, item);
    return item;
  }

  /** Records the text of a parsed item. */
  note(value: unknown, text: string): void {
    this.#texts.set(value, text);
  }

  /** Whether the text of a value is recorded. */
  isNoted(value: unknown): boolean {
    return this.#texts.has(value);
  }

  /** Assigns a resource to the text of this item. */
  remember(value: unknown, known: KnownItem): void {
    const text = this.#texts.get(value);
    if (text !== undefined) this.#now.set(text, new RememberedItem(known));
  }

  /** Keeps the current items for the next read. A single item is not worth its memory. */
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

/** The known resource that a value of a document stands for, if any. */
export function knownItem(value: unknown): KnownItem | undefined {
  return value instanceof RememberedItem ? value : undefined;
}
