import { type HeldResource, type News, statusCode, type TypeUrl } from "@xdskit/protocol";

type Listener = (news: News) => void;

/** Watches one thing, until what it returns is called. */
export type Watching = (listener: Listener) => () => void;

/** What a locator leads to that stands in the place of a resource; undefined: nowhere. */
export type Locate = (locator: HeldResource) => Watching | undefined;

/** What stands in the place of a resource that is elsewhere. */
const LOCATOR: TypeUrl = "type.googleapis.com/xds.core.v3.ResourceLocator";

/**
 * Watches something wherever it is: at the first of its places, the best first, that can be had. What a locator leads to is told under the name that the
 * locator stands for; a locator that leads to another one leads nowhere (S-XTP-10).
 */
export function watchFollowing(places: readonly Watching[], locate: Locate, listener: Listener): () => void {
  const follower = new Follower(locate, listener);
  follower.start(places);
  return () => follower.stop();
}

/** One place is asked as long as none before it ever answered, and cannot be reached (C-XTP-11). */
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
      else if (other.kind === "absent" && other.held === undefined) toldByOthers.delete(other.name);
      listener(other);
    });
  });
  return () => {
    stopFirst();
    stopOthers?.();
  };
}

/** That a server is away, or back, is no answer. */
function isOfConnection(news: News): boolean {
  return news.kind === "recovered" || (news.kind === "failed" && news.why === "unreachable");
}

/** What a locator led to. */
interface Followed {
  stop: () => void;
  resource: HeldResource | undefined;
}

class Follower {
  readonly #locate: Locate;
  readonly #listener: Listener;
  /** By the name that a locator stands for; undefined as long as there was none. */
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

  #hear(news: News): void {
    if (news.kind === "changed" && news.resource.bodyType === LOCATOR) {
      this.#follow(news.name, news.resource);
      return;
    }
    if (news.kind === "confirmed" && news.resource.bodyType === LOCATOR) {
      const resource = this.#followed?.get(news.name)?.resource;
      if (resource !== undefined) this.#listener({ ...news, resource });
      return;
    }
    if (news.kind === "changed" || (news.kind === "absent" && news.held === undefined)) this.#leave(news.name);
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

  #hearOf(name: string, followed: Followed, news: News): void {
    switch (news.kind) {
      case "changed":
        if (news.resource.bodyType === LOCATOR) {
          this.#lost(name, followed, "expected a resource where a locator leads to, got another locator");
          return;
        }
        // Another locator may lead to the same.
        if (followed.resource === news.resource) return;
        followed.resource = news.resource;
        this.#listener({ kind: "changed", name, resource: news.resource });
        break;
      case "absent":
        followed.resource = news.held;
        this.#listener({ ...news, name });
        break;
      case "failed":
        this.#listener({ ...news, name });
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

  /** What is held is what was told: not a locator. */
  #shown(name: string | undefined, held: HeldResource | undefined): HeldResource | undefined {
    return held?.bodyType !== LOCATOR || name === undefined ? held : this.#followed?.get(name)?.resource;
  }
}
