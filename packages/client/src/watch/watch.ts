import { type News, shownName } from "@xdskit/protocol";
import { aFunction, aSignal, type RulesOf, texts } from "../argument.ts";
import type { ResourceViews, XdsResource } from "../resource/xds-resource.ts";
import { onceAborted } from "./abort.ts";
import type { Change } from "./change.ts";
import type { Watching } from "./follow.ts";
import { OneOrMany } from "./one-or-many.ts";
import { PendingNews, type ToldNews } from "./pending-news.ts";
import { Readers } from "./readers.ts";
import { Teller } from "./tell.ts";
import type { Vigil } from "./vigil.ts";

/** How a watch is told of. */
export interface WatchOptions<Json = unknown> {
  /** Ends the watch, as `close` does. */
  readonly signal?: AbortSignal;
  /**
   * Called with each change instead of iterating; the next one waits for the promise it may return. An exception from it ends the watch, and is
   * thrown as one that nobody catches, as that of an event listener is.
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

/** What the watches of one client share. */
export interface WatchGround {
  readonly views: ResourceViews;
  readonly vigil: Vigil;
  /** Called once for each, when it was closed by whomever. */
  readonly closed: (watch: OpenWatch) => void;
}

/** The one way a watch is made. What only some watches need is made when they need it: there may be a hundred thousand. */
export class OpenWatch implements Watch {
  readonly #ground: WatchGround;
  readonly #options: WatchOptions<never>;
  readonly #pending = new PendingNews();
  readonly #teller: Teller;
  readonly #current = new OneOrMany<XdsResource>();
  #readers: Readers<Change> | undefined;
  #forgetSignal: (() => void) | undefined;
  #stop: (() => void) | undefined;
  #isCalling = false;
  #isSynced = false;
  #isClosed = false;

  constructor(ground: WatchGround, options: WatchOptions<never>) {
    this.#ground = ground;
    this.#options = options;
    this.#teller = new Teller(ground.views);
    const { onChange, signal } = options;
    if (onChange !== undefined) ground.vigil.begin();
    if (signal !== undefined) this.#forgetSignal = onceAborted(signal, () => this.close());
  }

  /** Asks for it; once. */
  start(watching: Watching): void {
    if (this.#options.signal?.aborted === true) this.close();
    else this.#stop = watching((news) => this.receive(news));
  }

  get current(): ReadonlyMap<string, XdsResource> {
    return this.#current;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  receive(news: News): void {
    if (this.#isClosed || news.kind === "confirmed" || (news.kind === "synced" && this.#isSynced)) return;
    this.#note(news);
    this.#pending.add(news);
    if (this.#options.onChange !== undefined) this.#call();
    else if (this.#readers?.isEmpty === false) this.#serve(this.#readers);
  }

  next(): Promise<IteratorResult<Change, undefined>> {
    const news = this.#pending.take();
    if (news !== undefined) return Promise.resolve({ done: false, value: this.#teller.tell(news) });
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined });
    this.#readers ??= new Readers(this.#ground.vigil);
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
    this.#forgetSignal?.();
    this.#readers?.end();
    if (this.#options.onChange !== undefined) this.#ground.vigil.end();
    this.#stop?.();
    this.#ground.closed(this);
  }

  #note(news: ToldNews): void {
    if (news.kind === "synced") this.#isSynced = true;
    else if (news.kind === "changed") this.#current.set(shownName(news.name), this.#ground.views.of(news.resource));
    else if (news.kind !== "recovered" && news.name !== undefined && news.held === undefined)
      this.#current.delete(shownName(news.name));
  }

  #serve(readers: Readers<Change>): void {
    const news = this.#pending.take();
    if (news !== undefined) readers.give(this.#teller.tell(news));
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
    const onChange = this.#options.onChange as ((change: Change) => void | Promise<void>) | undefined;
    await undefined;
    for (let news = this.#pending.take(); news !== undefined; news = this.#pending.take()) {
      const done = onChange?.(this.#teller.tell(news));
      // Waiting for nothing costs as much as the rest, and there may be a hundred thousand.
      if (done !== undefined) await done;
    }
    this.#isCalling = false;
  }
}
