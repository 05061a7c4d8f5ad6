import type { TypeUrl } from "@xdskit/protocol";
import { type HeldResource, statusCode, type WatchEvent } from "@xdskit/protocol/internal";

type Listener = (news: WatchEvent) => void;

/** Watches something; the result ends the watch. */
export type Watching = (listener: Listener) => () => void;

/** Follows a locator; undefined: it leads nowhere. */
export type Locate = (locator: HeldResource) => Watching | undefined;

/** The type of a resource that only says where the real one is. */
const LOCATOR: TypeUrl = "type.googleapis.com/xds.core.v3.ResourceLocator";

/**
 * Watches a resource at the first available of its places, best first. A resource behind a locator is reported under
 * the locator's name; a locator that leads to another locator leads nowhere (S-XTP-10).
 */
export function watchFollowing(places: readonly Watching[], locate: Locate, listener: Listener): () => void {
  const follower = new Follower(locate, listener);
  follower.start(places);
  return () => follower.stop();
}

/**
 * Moves on to the next place only while no earlier one has ever answered and all of them are unreachable (C-XTP-11).
 */
export function watchPlaces(places: readonly Watching[], listener: Listener): () => void {
  const [first, ...others] = places;
  if (first === undefined) return () => {};
  return others.length === 0 ? first(listener) : watchFirst(first, others, listener);
}

function watchFirst(first: Watching, others: readonly Watching[], listener: Listener): () => void {
  const toldByOthers = new Set<string>();
  let stopOthers: (() => void) | undefined;
  let hasAnswered = false;
  const stopFirst = first((news) => {
    if (!hasAnswered && !isOfConnection(news)) {
      hasAnswered = true;
      stopOthers?.();
      if ("name" in news && news.name !== undefined) toldByOthers.delete(news.name);
      for (const name of toldByOthers) listener({ kind: "absent", name, why: "removed", held: undefined });
    }
    listener(news);
    if (hasAnswered || stopOthers !== undefined) return;
    stopOthers = watchPlaces(others, (other) => {
      if (other.kind === "changed") toldByOthers.add(other.name);
      else if (endsUse(other)) toldByOthers.delete(other.name);
      listener(other);
    });
  });
  return () => {
    stopFirst();
    stopOthers?.();
  };
}

/** Whether the news only says that a server is unreachable, or reachable again; it answers nothing. */
function isOfConnection(news: WatchEvent): boolean {
  return news.kind === "recovered" || (news.kind === "failed" && news.why === "unreachable");
}

/** The watch behind a locator. */
interface Followed {
  stop: () => void;
  resource: HeldResource | undefined;
}

/** Whether a name has no resource any more: an error may end its use, too (C-ERR-09). */
function endsUse(news: WatchEvent): news is Extract<WatchEvent, { kind: "absent" | "failed" }> & { name: string } {
  return (news.kind === "absent" || news.kind === "failed") && news.name !== undefined && news.held === undefined;
}

class Follower {
  readonly #locate: Locate;
  readonly #listener: Listener;
  /** Watches by the name of their locator; undefined before the first. */
  #followed: Map<string, Followed> | undefined;

  #stop: (() => void) | undefined;

  constructor(locate: Locate, listener: Listener) {
    this.#locate = locate;
    this.#listener = listener;
  }

  start(places: readonly Watching[]): void {
    this.#stop = watchPlaces(places, (news) => this.#hear(news));
  }

  stop(): void {
    this.#stop?.();
    for (const { stop } of this.#followed?.values() ?? []) stop();
    this.#followed = undefined;
  }

  #hear(news: WatchEvent): void {
    if (news.kind === "changed" && news.resource.bodyType === LOCATOR) {
      this.#follow(news.name, news.resource);
      return;
    }
    if (news.kind === "confirmed" && news.resource.bodyType === LOCATOR) {
      const resource = this.#followed?.get(news.name)?.resource;
      if (resource !== undefined) this.#listener({ ...news, resource });
      return;
    }
    if (news.kind === "changed" || endsUse(news)) this.#leave(news.name);
    this.#listener("held" in news ? { ...news, held: this.#shown(news.name, news.held) } : news);
  }

  #follow(name: string, locator: HeldResource): void {
    this.#followed ??= new Map();
    const before = this.#followed.get(name);
    before?.stop();
    const followed: Followed = { stop: () => {}, resource: before?.resource };
    this.#followed.set(name, followed);
    const watch = this.#locate(locator);
    if (watch === undefined) this.#lost(name, followed, "expected a locator of a source and a type that are known");
    else followed.stop = watch((news) => this.#hearOf(name, followed, news));
  }

  #hearOf(name: string, followed: Followed, news: WatchEvent): void {
    switch (news.kind) {
      case "changed":
        if (news.resource.bodyType === LOCATOR) {
          this.#lost(name, followed, "expected a resource where a locator leads to, got another locator");
          return;
        }
        // An equal locator changes nothing.
        if (followed.resource === news.resource) return;
        followed.resource = news.resource;
        this.#listener({ kind: "changed", name, resource: news.resource });
        break;
      case "absent":
      case "failed":
        // Without a name, it is about the connection. If it led to another locator before, what was told goes on.
        if (news.name !== undefined && news.held?.bodyType !== LOCATOR) followed.resource = news.held;
        this.#listener({ ...news, name, held: followed.resource });
        break;
      case "confirmed":
        this.#listener({ ...news, name });
        break;
      case "recovered":
        this.#listener(news);
        break;
      case "synced":
        break;
      default:
        news satisfies never;
    }
  }

  #lost(name: string, { resource: held }: Followed, message: string): void {
    const error = { code: statusCode.NOT_FOUND, message };
    this.#listener({ kind: "failed", name, why: "resource-error", error, held });
  }

  #leave(name: string): void {
    this.#followed?.get(name)?.stop();
    this.#followed?.delete(name);
  }

  /** The held resource as reported: never a locator. */
  #shown(name: string | undefined, held: HeldResource | undefined): HeldResource | undefined {
    return held?.bodyType !== LOCATOR || name === undefined ? held : this.#followed?.get(name)?.resource;
  }
}
