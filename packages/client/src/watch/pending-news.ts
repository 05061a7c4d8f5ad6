import type { News } from "@xdskit/protocol";

/** What a reader is told; that something was confirmed is of no interest to him. */
export type ToldNews = Exclude<News, { kind: "confirmed" }>;

/** In the place of a name: that everything was told, or what is wrong with a name or with all. */
type Mark = { readonly marks: string };

const SYNCED: Mark = { marks: "synced" };
/** Whether a server can be reached: that it cannot, and that it can again, overtake one another. */
const CONNECTION: Mark = { marks: "connection" };

/**
 * What a slow reader has not read yet: of each name the newest only, so that it costs what there is, not what happened. In the order of
 * happening, but that a newer state of a name takes the place of an unread one of its kind: what came before `synced` is read before it.
 */
export class PendingNews {
  /** All that is unread, if it is one: most readers are never behind by more, and need no table. */
  #only: ToldNews | undefined;
  /** What there is of a name by that name; all else by its mark. */
  #unread: Map<string | Mark, ToldNews> | undefined;
  #errors: Map<string | undefined, Mark> | undefined;
  /** Where the first that is unread stands. Looking for it from the beginning each time would pass by all that were read. */
  #front: MapIterator<[string | Mark, ToldNews]> | undefined;

  get isEmpty(): boolean {
    return this.#only === undefined && this.#unread === undefined;
  }

  add(news: ToldNews): void {
    if (this.isEmpty) {
      this.#only = news;
      return;
    }
    this.#unread ??= new Map();
    if (this.#only !== undefined) this.#enter(this.#unread, this.#only);
    this.#only = undefined;
    this.#enter(this.#unread, news);
  }

  take(): ToldNews | undefined {
    if (this.#unread === undefined) {
      const news = this.#only;
      this.#only = undefined;
      return news;
    }
    const [key, news] = this.#first(this.#unread);
    this.#unread.delete(key);
    if (this.#unread.size === 0) this.#unread = this.#front = this.#errors = undefined;
    return news;
  }

  #enter(unread: Map<string | Mark, ToldNews>, news: ToldNews): void {
    switch (news.kind) {
      case "changed":
      case "absent": {
        const before = unread.get(news.name);
        // What is gone is told in its order before what is new (C-CLI-08), so it does not take the place of what there was.
        if (before !== undefined && before.kind !== news.kind) unread.delete(news.name);
        unread.set(news.name, news);
        this.#forgetError(unread, news.name);
        break;
      }
      case "failed":
        unread.set(isOfConnection(news) ? CONNECTION : this.#errorMark(news.name), news);
        break;
      case "recovered":
        unread.set(CONNECTION, news);
        break;
      case "synced":
        unread.set(SYNCED, news);
        break;
      default:
        news satisfies never;
    }
  }

  #first(unread: Map<string | Mark, ToldNews>): readonly [string | Mark, ToldNews] {
    for (;;) {
      this.#front ??= unread.entries();
      const next = this.#front.next();
      if (next.done !== true) return next.value;
      this.#front = undefined;
    }
  }

  #errorMark(name: string | undefined): Mark {
    this.#errors ??= new Map();
    const known = this.#errors.get(name) ?? { marks: "error" };
    this.#errors.set(name, known);
    return known;
  }

  #forgetError(unread: Map<string | Mark, ToldNews>, name: string): void {
    const mark = this.#errors?.get(name);
    if (mark === undefined) return;
    this.#errors?.delete(name);
    unread.delete(mark);
  }
}

function isOfConnection({ name, why }: Extract<ToldNews, { kind: "failed" }>): boolean {
  return name === undefined && why === "unreachable";
}
