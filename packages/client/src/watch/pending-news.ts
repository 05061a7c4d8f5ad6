import type { News } from "@xdskit/protocol";

/** What a reader is told; that something was confirmed is of no interest to him. */
export type ToldNews = Exclude<News, { kind: "confirmed" }>;

/** In the place of a name: that everything was told, or what is wrong with a name or with all. */
type Mark = { readonly marks: string };

const SYNCED: Mark = { marks: "synced" };

/**
 * What a slow reader has not read yet: of each name the newest only, so that it costs what there is, not what happened. In the order of
 * happening, but that a newer state of a name takes the place of an unread one of its kind: what came before `synced` is read before it.
 */
export class PendingNews {
  /** What there is of a name by that name; all else by its mark. */
  readonly #unread = new Map<string | Mark, ToldNews>();
  readonly #errors = new Map<string | undefined, Mark>();
  /** Where the first that is unread stands. Looking for it from the beginning each time would pass by all that were read. */
  #front: MapIterator<[string | Mark, ToldNews]> | undefined;

  get isEmpty(): boolean {
    return this.#unread.size === 0;
  }

  add(news: ToldNews): void {
    switch (news.kind) {
      case "changed":
      case "absent": {
        const before = this.#unread.get(news.name);
        // What is gone is told in its order before what is new (C-CLI-08), so it does not take the place of what there was.
        if (before !== undefined && before.kind !== news.kind) this.#unread.delete(news.name);
        this.#unread.set(news.name, news);
        this.#forgetError(news.name);
        break;
      }
      case "failed":
        this.#unread.set(this.#errorMark(news.name), news);
        break;
      case "synced":
        this.#unread.set(SYNCED, news);
        break;
      default:
        news satisfies never;
    }
  }

  take(): ToldNews | undefined {
    if (this.#unread.size === 0) {
      this.#front = undefined;
      return undefined;
    }
    const [key, news] = this.#first();
    this.#unread.delete(key);
    if (news.kind === "failed") this.#errors.delete(news.name);
    return news;
  }

  #first(): readonly [string | Mark, ToldNews] {
    for (;;) {
      this.#front ??= this.#unread.entries();
      const next = this.#front.next();
      if (next.done !== true) return next.value;
      this.#front = undefined;
    }
  }

  #errorMark(name: string | undefined): Mark {
    const known = this.#errors.get(name) ?? { marks: "error" };
    this.#errors.set(name, known);
    return known;
  }

  #forgetError(name: string): void {
    if (this.#errors.size === 0) return;
    const mark = this.#errors.get(name);
    if (mark === undefined) return;
    this.#errors.delete(name);
    this.#unread.delete(mark);
  }
}
