import type { News } from "@xdskit/protocol";

/** What a reader is told; that something was confirmed is of no interest to him. */
export type ToldNews = Exclude<News, { kind: "confirmed" }>;

/** Of a name: what there is of it, or what is wrong with it. */
type Aspect = "state" | "error";

/**
 * What a slow reader has not read yet: of each name the newest only, so that it costs what there is, not what happened. In the order of
 * happening, but that a newer state of a name takes the place of an unread one of its kind: what came before `synced` is read before it.
 */
export class PendingNews {
  readonly #unread = new Map<string, ToldNews>();

  get isEmpty(): boolean {
    return this.#unread.size === 0;
  }

  add(news: ToldNews): void {
    switch (news.kind) {
      case "changed":
      case "absent": {
        const key = keyOf("state", news.name);
        // What is gone is told in its order before what is new (C-CLI-08), so it does not take the place of what there was.
        if (this.#unread.get(key)?.kind !== news.kind) this.#unread.delete(key);
        this.#unread.set(key, news);
        this.#unread.delete(keyOf("error", news.name));
        break;
      }
      case "failed":
        this.#unread.set(keyOf("error", news.name), news);
        break;
      case "synced":
        this.#unread.set("synced", news);
        break;
      default:
        news satisfies never;
    }
  }

  take(): ToldNews | undefined {
    for (const [key, news] of this.#unread) {
      this.#unread.delete(key);
      return news;
    }
    return undefined;
  }
}

function keyOf(aspect: Aspect, name: string | undefined): string {
  return name === undefined ? aspect : `${aspect} ${name}`;
}
