import type { WatchEvent } from "@xdskit/protocol/internal";

/** News that a watch reports; confirmations are not. */
export type UnreadEvent = Exclude<WatchEvent, { kind: "confirmed" }>;

/** The key of news without a name, or of an error: each of its kind replaces the one before. */
type Mark = { readonly marks: string; readonly name?: string | undefined };

/** The limit of unread passing news, of which a server may have any number of names. */
const MOST_PASSING = 1_000;

const SYNCED: Mark = { marks: "synced" };
/** Shared by unreachable and recovered: the newer replaces the older. */
const CONNECTION: Mark = { marks: "connection" };

/**
 * Unread news of a slow reader: only the newest per name, so that memory grows with the number of names and not of
 * events. News keep their order, but a newer state of a name takes the place of an unread one of its kind: what came
 * before `synced` is read before it. Of passing news, which change nothing of what the reader knows, only the last
 * 1,000 are kept.
 */
export class PendingEvents {
  /** The unread news if there is only one: most readers need no table. */
  #only: UnreadEvent | undefined;
  /** News by name, or by mark. */
  #unread: Map<string | Mark, UnreadEvent> | undefined;
  #errors: Map<string | undefined, Mark> | undefined;
  /** Keys of passing news, oldest first. */
  #passing: Set<string | Mark> | undefined;
  /** An iterator at the oldest news; a new one each time would skip all deleted entries again. */
  #front: MapIterator<[string | Mark, UnreadEvent]> | undefined;

  get isEmpty(): boolean {
    return this.#only === undefined && this.#unread === undefined;
  }

  /** `isPassing`: the absence of a resource that the reader was never told of, or an error where there is none. */
  add(news: UnreadEvent, isPassing: boolean = false): void {
    if (this.isEmpty) {
      this.#only = news;
      return;
    }
    this.#unread ??= new Map();
    if (this.#only !== undefined) this.#enter(this.#unread, this.#only);
    this.#only = undefined;
    const key = this.#enter(this.#unread, news);
    const isOfChange = "name" in news && news.name !== undefined && this.#unread.get(news.name)?.kind === "changed";
    if (isPassing && !isOfChange) this.#notePassing(this.#unread, key);
    else this.#passing?.delete(key);
  }

  take(): UnreadEvent | undefined {
    if (this.#unread === undefined) {
      const news = this.#only;
      this.#only = undefined;
      return news;
    }
    const [key, news] = this.#first(this.#unread);
    this.#delete(this.#unread, key);
    return news;
  }

  /** Forgets a name if a resource of that name is unread, and returns whether one was. */
  dropChange(name: string): boolean {
    if (this.#unread === undefined) {
      const isIt = this.#only?.kind === "changed" && this.#only.name === name;
      if (isIt) this.#only = undefined;
      return isIt;
    }
    if (this.#unread.get(name)?.kind !== "changed") return false;
    this.#forgetError(this.#unread, name);
    this.#delete(this.#unread, name);
    return true;
  }

  #delete(unread: Map<string | Mark, UnreadEvent>, key: string | Mark): void {
    unread.delete(key);
    this.#passing?.delete(key);
    if (typeof key !== "string" && this.#errors?.get(key.name) === key) this.#errors.delete(key.name);
    if (unread.size === 0) this.#unread = this.#front = this.#errors = this.#passing = undefined;
  }

  #notePassing(unread: Map<string | Mark, UnreadEvent>, key: string | Mark): void {
    this.#passing ??= new Set();
    this.#passing.add(key);
    const [oldest] = this.#passing;
    if (this.#passing.size > MOST_PASSING && oldest !== undefined) this.#delete(unread, oldest);
  }

  /** Returns the key. */
  #enter(unread: Map<string | Mark, UnreadEvent>, news: UnreadEvent): string | Mark {
    switch (news.kind) {
      case "changed":
      case "absent": {
        const before = unread.get(news.name);
        // A removal keeps its order before an addition (C-CLI-08), so the newer news does not take the older one's
        // place.
        if (before !== undefined && before.kind !== news.kind) unread.delete(news.name);
        unread.set(news.name, news);
        this.#forgetError(unread, news.name);
        return news.name;
      }
      case "failed": {
        const mark = isOfConnection(news) ? CONNECTION : this.#errorMark(news.name);
        unread.set(mark, news);
        return mark;
      }
      case "recovered":
        unread.set(CONNECTION, news);
        return CONNECTION;
      case "synced":
        unread.set(SYNCED, news);
        return SYNCED;
    }
  }

  #first(unread: Map<string | Mark, UnreadEvent>): readonly [string | Mark, UnreadEvent] {
    for (;;) {
      this.#front ??= unread.entries();
      const next = this.#front.next();
      if (next.done !== true) return next.value;
      this.#front = undefined;
    }
  }

  #errorMark(name: string | undefined): Mark {
    this.#errors ??= new Map();
    const known = this.#errors.get(name) ?? { marks: "error", name };
    this.#errors.set(name, known);
    return known;
  }

  #forgetError(unread: Map<string | Mark, UnreadEvent>, name: string): void {
    const mark = this.#errors?.get(name);
    if (mark === undefined) return;
    this.#errors?.delete(name);
    this.#passing?.delete(mark);
    unread.delete(mark);
  }
}

function isOfConnection({ name, why }: Extract<UnreadEvent, { kind: "failed" }>): boolean {
  return name === undefined && why === "unreachable";
}
