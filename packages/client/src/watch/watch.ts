import { type News, shownName } from "@xdskit/protocol";
import { aFunction, aSignal, type RulesOf, texts } from "../argument.ts";
import type { ResourceViews, XdsResource } from "../resource/xds-resource.ts";
import type { Change } from "./change.ts";
import { PendingNews, type ToldNews } from "./pending-news.ts";
import { Readers } from "./readers.ts";
import { Teller } from "./tell.ts";
import type { Vigil } from "./vigil.ts";

/** How a watch is told of. */
export interface WatchOptions<Json = unknown> {
  /** Ends the watch, as `close` does. */
  readonly signal?: AbortSignal;
  /**
   * Called with each change instead of iterating; the next one waits for the promise it may return. An exception from it is thrown as one
   * that nobody catches, as that of an event listener is.
   */
  readonly onChange?: (change: Change<Json>) => void | Promise<void>;
  /** Sent with the name, so that a server may choose among variants (C-LOC-01). Those of the source unless given. */
  readonly parameters?: Readonly<Record<string, string>>;
}

export const watchRules: RulesOf<WatchOptions> = { signal: aSignal, onChange: aFunction, parameters: texts };

/**
 * What was asked for, as it changes. Iterate it, once: leaving the loop ends the watch. A slow reader misses what was overtaken by something
 * newer of the same name, and nothing else.
 */
export interface Watch<Json = unknown> extends AsyncIterableIterator<Change<Json>>, AsyncDisposable {
  /** What is in force now, by `key`, whatever of it was read already. The same map for the life of the watch. */
  readonly current: ReadonlyMap<string, XdsResource<Json>>;
  /** The first whole answer was taken. */
  readonly isSynced: boolean;
  /** Ends it: iterating is over, and nobody is asked for what only this watch wanted. */
  close(): void;
}

/** What a watch is made with. */
export interface WatchSetting {
  readonly views: ResourceViews;
  readonly vigil: Vigil;
  readonly options: WatchOptions<never>;
  /** Called once, when it was closed by whomever. */
  readonly closed: () => void;
}

/** The one way a watch is made; its news come by `receive`. */
export class OpenWatch implements Watch {
  readonly #setting: WatchSetting;
  readonly #pending = new PendingNews();
  readonly #teller: Teller;
  readonly #current = new Map<string, XdsResource>();
  readonly #readers: Readers<Change>;
  readonly #aborted = (): void => this.close();
  #endCalling: (() => void) | undefined;
  #isCalling = false;
  #isSynced = false;
  #isClosed = false;

  constructor(setting: WatchSetting) {
    this.#setting = setting;
    this.#teller = new Teller(setting.views);
    this.#readers = new Readers(setting.vigil);
    const { onChange, signal } = setting.options;
    if (onChange !== undefined) this.#endCalling = setting.vigil.begin();
    signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  get current(): ReadonlyMap<string, XdsResource> {
    return this.#current;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  receive(news: News): void {
    if (this.#isClosed || news.kind === "confirmed") return;
    this.#note(news);
    this.#pending.add(news);
    if (this.#setting.options.onChange !== undefined) this.#call();
    else if (!this.#readers.isEmpty) this.#serve();
  }

  next(): Promise<IteratorResult<Change, undefined>> {
    const news = this.#pending.take();
    if (news !== undefined) return Promise.resolve({ done: false, value: this.#teller.tell(news) });
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined });
    return this.#readers.wait();
  }

  return(): Promise<IteratorResult<Change, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    while (this.#pending.take() !== undefined);
    this.#setting.options.signal?.removeEventListener("abort", this.#aborted);
    this.#readers.end();
    this.#endCalling?.();
    this.#setting.closed();
  }

  #note(news: ToldNews): void {
    if (news.kind === "synced") this.#isSynced = true;
    else if (news.kind === "changed") this.#current.set(shownName(news.name), this.#setting.views.of(news.resource));
    else if (news.name !== undefined && news.held === undefined) this.#current.delete(shownName(news.name));
  }

  #serve(): void {
    const news = this.#pending.take();
    if (news !== undefined) this.#readers.give(this.#teller.tell(news));
  }

  /** One call after the other, and none within the turn in which the news came. */
  #call(): void {
    if (this.#isCalling) return;
    this.#isCalling = true;
    this.#callEach().catch((cause: unknown) => {
      this.close();
      queueMicrotask(() => {
        throw cause;
      });
    });
  }

  async #callEach(): Promise<void> {
    const onChange = this.#setting.options.onChange as ((change: Change) => void | Promise<void>) | undefined;
    await undefined;
    for (let news = this.#pending.take(); news !== undefined; news = this.#pending.take()) {
      const done = onChange?.(this.#teller.tell(news));
      // Waiting for nothing costs as much as the rest, and there may be a hundred thousand.
      if (done !== undefined) await done;
    }
    this.#isCalling = false;
  }
}
