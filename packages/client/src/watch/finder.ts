import { formatTypeUrl, messageNameOf, type TypeUrl } from "@xdskit/protocol";
import { type HeldResource, isGlobName, isListName, typeInName } from "@xdskit/protocol/internal";
import type { Driver, Interest } from "../driver/driver.ts";
import { entryIn } from "../resource/entry-name.ts";
import { namesLocatedBy } from "../resource/located.ts";
import { type EntryReader, membersOf } from "../resource/members.ts";
import { type Locate, type Watching, watchFollowing, watchPlaces } from "./follow.ts";
import { watchList } from "./follow-list.ts";

/** What finding resources needs. */
export interface FinderParts {
  readonly api: EntryReader;
  readonly driver: Pick<Driver, "watch">;
  /** In v3, whatever API version the sources use. */
  readonly type: TypeUrl;
  /** The places of a name, best first, for `type` or its list collection; empty: none. */
  readonly placesOf: (type: TypeUrl, name: string) => readonly Interest[];
}

/** The limit for list collections inside list collections, so that a server cannot lead a client on forever. */
const DEEPEST = 8;
/**
 * The limit for list collections that one leads to. Each is followed once on every way to it, so that a few which list
 * each other would be millions.
 */
const MOST_LISTS = 10_000;

/** How a list collection is reached. */
interface Way {
  /** The collections that lead to it. */
  readonly above: readonly string[];
  /** How many list collections are followed from where the way begins. */
  readonly followed: { count: number };
}

/** Why a way ends before a list collection; undefined: it goes on. */
function endOf({ above, followed }: Way, name: string): string | undefined {
  if (above.includes(name)) return `expected a list that does not lead back to itself, got ${name} again`;
  if (above.length === DEEPEST) return `expected at most ${DEEPEST} lists below one another, got ${name} below them`;
  if (followed.count < MOST_LISTS) return undefined;
  return `expected a list that leads to at most ${MOST_LISTS} lists, got ${name} besides them`;
}

/** A new one for each watch. */
function newWay(): Way {
  return { above: [], followed: { count: 0 } };
}

/**
 * Finds resources of one type: in an alternative place (C-XTP-11), where a locator leads (S-XTP-10), or in a list
 * collection of the type (B-XTP-07).
 */
export class Finder {
  readonly #parts: FinderParts;
  readonly #listType: TypeUrl;
  readonly #locate: Locate;
  readonly #locateList: Locate;

  constructor(parts: FinderParts) {
    const { type } = parts;
    this.#parts = parts;
    this.#listType = formatTypeUrl(`${messageNameOf(type)}Collection`);
    this.#locate = (locator) => this.#locatedInPlace(type, locator);
    this.#locateList = (locator) => this.#locatedInPlace(this.#listType, locator);
  }

  /** Returns how to watch a name; undefined: it has no place. */
  find(name: string): Watching | undefined {
    return this.#isList(name)
      ? this.#list(name, newWay())
      : following(this.#placesOf(this.#parts.type, name), this.#locate);
  }

  #isList(name: string): boolean {
    return isListName(name, this.#parts.type);
  }

  #placesOf(type: TypeUrl, name: string): readonly Watching[] {
    const { driver, placesOf } = this.#parts;
    return placesOf(type, name).map((interest) => (listener) => driver.watch(interest, listener));
  }

  /** Follows a locator in place of one resource, to a resource of the type or an entry of a list collection. */
  #locatedInPlace(type: TypeUrl, locator: HeldResource): Watching | undefined {
    const names = namesLocatedBy(locator, this.#parts.api).filter((name) =>
      this.#isList(name) && type !== this.#listType ? entryIn(name) !== undefined : !isGlobName(name),
    );
    const places = this.#placesLocatedBy(type, names, newWay());
    return places.length === 0 ? undefined : (listener) => watchPlaces(places, listener);
  }

  /** Follows located names to resources of the type and its list collections. A name of another type leads nowhere. */
  #placesLocatedBy(type: TypeUrl, names: readonly string[], way: Way): readonly Watching[] {
    return names.flatMap((name) => {
      if (typeInName(name) === messageNameOf(type)) return this.#placesOf(type, name);
      return (this.#isList(name) && this.#list(name, way)) || [];
    });
  }

  /**
   * Watches the resources of a list collection, nested ones included, or one entry of it. Undefined if it is unknown,
   * contains itself, is nested too deeply, or is one too many.
   */
  #list(name: string, before: Way): Watching | undefined {
    const { api, type } = this.#parts;
    if (endOf(before, name) !== undefined) return undefined;
    const watch = following(this.#placesOf(this.#listType, name), this.#locateList);
    if (watch === undefined) return undefined;
    const { followed } = before;
    const way = { above: [...before.above, name], followed };
    const setting = {
      watch,
      membersOf: (collection: HeldResource, listName: string) => membersOf(collection, listName, api),
      watchAt: (names: readonly string[]) => following(this.#placesLocatedBy(type, names, way), this.#locate),
      problemAt: (names: readonly string[]) => this.#problemAt(names, way),
      entry: entryIn(name),
    };
    return (listener) => {
      followed.count++;
      const stop = watchList(setting, listener);
      return () => {
        followed.count--;
        stop();
      };
    };
  }

  #problemAt(names: readonly string[], way: Way): string {
    const [end] = names.flatMap((name) => (this.#isList(name) && endOf(way, name)) || []);
    return end ?? `expected a locator of a source and a type that are known, got ${names[0] ?? "none"}`;
  }
}

function following(places: readonly Watching[], locate: Locate): Watching | undefined {
  return places.length === 0 ? undefined : (listener) => watchFollowing(places, locate, listener);
}
