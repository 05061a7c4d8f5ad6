import { type HeldResource, type News, statusCode, type TypeUrl } from "@xdskit/protocol";
import type { Driver, Interest } from "../driver/driver.ts";

/** What is watched, and where it may be. */
export interface FollowSetting {
  readonly driver: Pick<Driver, "watch">;
  /** The best first: one is asked as long as none before it ever answered, and cannot be reached (C-XTP-11). At least one. */
  readonly places: readonly Interest[];
  /** Where a locator leads that stands in the place of a resource; nothing: nowhere. */
  readonly locate: (locator: HeldResource) => readonly Interest[];
}

type Listener = (news: News) => void;

/** What stands in the place of a resource that is elsewhere. */
const LOCATOR: TypeUrl = "type.googleapis.com/xds.core.v3.ResourceLocator";

/**
 * Watches something wherever it is. What a locator leads to is told under the name that the locator stands for; a locator that leads to another
 * one leads nowhere (S-XTP-10).
 */
export function watchFollowing({ driver, places, locate }: FollowSetting, listener: Listener): () => void {
  const follower = new Follower(driver, locate, listener);
  const stop = watchPlaces(driver, places, (news) => follower.hear(news));
  return () => {
    stop();
    follower.stop();
  };
}

function watchPlaces(driver: FollowSetting["driver"], places: readonly Interest[], listener: Listener): () => void {
  const [first, ...others] = places;
  if (first === undefined) return () => {};
  const toldByOthers = new Set<string>();
  let stopOthers: (() => void) | undefined;
  let hasAnswered = false;
  const endOthers = (news: News): void => {
    if (news.kind === "changed") toldByOthers.delete(news.name);
    for (const name of toldByOthers) listener({ kind: "absent", name, why: "removed", held: undefined });
    toldByOthers.clear();
  };
  const stopFirst = driver.watch(first, (news) => {
    if (news.kind !== "failed" || news.why !== "unreachable") {
      hasAnswered = true;
      stopOthers?.();
      if (toldByOthers.size > 0) endOthers(news);
    }
    listener(news);
    if (hasAnswered || stopOthers !== undefined) return;
    stopOthers = watchPlaces(driver, others, (other) => {
      if (other.kind === "changed") toldByOthers.add(other.name);
      listener(other);
    });
  });
  return () => {
    stopFirst();
    stopOthers?.();
  };
}

/** What a locator led to. */
interface Followed {
  readonly stop: () => void;
  resource: HeldResource | undefined;
}

class Follower {
  readonly #driver: FollowSetting["driver"];
  readonly #locate: FollowSetting["locate"];
  readonly #listener: Listener;
  readonly #followed = new Map<string, Followed>();

  constructor(driver: FollowSetting["driver"], locate: FollowSetting["locate"], listener: Listener) {
    this.#driver = driver;
    this.#locate = locate;
    this.#listener = listener;
  }

  hear(news: News): void {
    if (news.kind === "changed" && news.resource.bodyType === LOCATOR) {
      this.#follow(news.name, news.resource);
      return;
    }
    if (news.kind === "confirmed" && news.resource.bodyType === LOCATOR) {
      const resource = this.#followed.get(news.name)?.resource;
      if (resource !== undefined) this.#listener({ ...news, resource });
      return;
    }
    if (news.kind === "changed" || (news.kind === "absent" && news.held === undefined)) this.#leave(news.name);
    this.#listener("held" in news ? { ...news, held: this.#shown(news.name, news.held) } : news);
  }

  stop(): void {
    for (const { stop } of this.#followed.values()) stop();
    this.#followed.clear();
  }

  #follow(name: string, locator: HeldResource): void {
    const before = this.#followed.get(name);
    before?.stop();
    const places = this.#locate(locator);
    const followed: Followed = {
      stop: watchPlaces(this.#driver, places, (news) => this.#hearOf(name, followed, news)),
      resource: before?.resource,
    };
    this.#followed.set(name, followed);
    if (places.length === 0) this.#lost(name, followed, "expected a locator of a source and a type that are known");
  }

  #hearOf(name: string, followed: Followed, news: News): void {
    switch (news.kind) {
      case "changed":
        if (news.resource.bodyType === LOCATOR) {
          this.#lost(name, followed, "expected a resource where a locator leads to, got another locator");
          return;
        }
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
    if (this.#followed.size === 0) return;
    this.#followed.get(name)?.stop();
    this.#followed.delete(name);
  }

  /** What is held is what was told: not a locator. */
  #shown(name: string | undefined, held: HeldResource | undefined): HeldResource | undefined {
    return held?.bodyType !== LOCATOR || name === undefined ? held : this.#followed.get(name)?.resource;
  }
}
