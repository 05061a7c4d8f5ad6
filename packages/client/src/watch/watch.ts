import { aFunction, type RulesOf, shownName, type WatchEvent } from "@xdskit/protocol/internal";
import { aSignal, texts } from "../argument.ts";
import type { ResourceViews, XdsResource } from "../resource/xds-resource.ts";
import { onceAborted } from "./abort.ts";
import type { Change } from "./change.ts";
import type { Watching } from "./follow.ts";
import type { KeepAlive } from "./keep-alive.ts";
import { OneOrMany } from "./one-or-many.ts";
import { PendingEvents, type UnreadEvent } from "./pending-events.ts";
import { Readers } from "./readers.ts";
import { Teller } from "./tell.ts";

/** Options of a watch. */
export interface WatchOptions<Json = unknown> {
  /** Closes the watch. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with each change, instead of iterating; the next call waits for the returned promise. An exception closes
   * the watch and is rethrown as uncaught.
   */
  readonly onChange?: (change: Change<Json>) => void | Promise<void>;
  /**
   * Sent with the name, so that the server can choose among variants (C-LOC-01).
   * @default those of the source
   */
  readonly parameters?: Readonly<Record<string, string>>;
}

export const watchRules: RulesOf<WatchOptions> = { signal: aSignal, onChange: aFunction, parameters: texts };

/**
 * The changes of a subscription. Iterate it, once; leaving the loop closes the watch. A slow reader misses only changes
 * that a newer one of the same name replaced, and, in a watch of many, resources that came and went meanwhile, and all
 * but the last 1,000 errors and absences of names that it has no resource of.
 */
export interface Watch<Json = unknown> extends AsyncIterableIterator<Change<Json>>, AsyncDisposable {
  /** The resources in force by `key`, whatever has been read. The same map for the life of the watch. */
  readonly current: ReadonlyMap<string, XdsResource<Json>>;
  /** Whether the first complete response was accepted. */
  readonly isSynced: boolean;
  /** Closes the watch: iteration ends, and the client unsubscribes what only this watch used. */
  close(): void;
}

/** What the watches of one client share. */
export interface WatchGround {
  readonly views: ResourceViews;
  readonly vigil: KeepAlive;
  /** Called once per watch, when it is closed by any means. */
  readonly closed: (watch: OpenWatch) => void;
}

/** The implementation of `Watch`. Optional parts are allocated on demand: a client may have 100,000 watches. */
export class OpenWatch implements Watch {
  readonly #ground: WatchGround;
  readonly #options: WatchOptions<never>;
  readonly #of: "one" | "many";
  readonly #pending = new PendingEvents();
  readonly #teller: Teller;
  readonly #current = new OneOrMany<XdsResource>();
  #readers: Readers<Change> | undefined;
  #forgetSignal: (() => void) | undefined;
  #stop: (() => void) | undefined;
  #isCalling = false;
  #isSynced = false;
  #isClosed = false;

  constructor(ground: WatchGround, options: WatchOptions<never>, of: "one" | "many") {
    this.#ground = ground;
    this.#options = options;
    this.#of = of;
    this.#teller = new Teller(ground.views);
    const { onChange, signal } = options;
    if (onChange !== undefined) ground.vigil.begin();
    if (signal !== undefined) this.#forgetSignal = onceAborted(signal, () => this.close());
  }

  /** Subscribes; called once. */
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

  receive(news: WatchEvent): void {
    if (this.#isClosed || news.kind === "confirmed" || (news.kind === "synced" && this.#isSynced)) return;
    this.#note(news);
    if (this.#wentUnread(news)) return;
    this.#pending.add(news, this.#isPassing(news));
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

  #note(news: UnreadEvent): void {
    if (news.kind === "synced") this.#isSynced = true;
    else if (news.kind === "changed") this.#current.set(shownName(news.name), this.#ground.views.of(news.resource));
    else if (news.kind !== "recovered" && news.name !== undefined && news.held === undefined)
      this.#current.delete(shownName(news.name));
  }

  /**
   * Whether one of many came and went unread; then nothing is kept of it. Otherwise a program that only looks at
   * `current` would accumulate all names that ever were.
   */
  #wentUnread(news: UnreadEvent): boolean {
    if (this.#of === "one" || news.kind !== "absent" || news.held !== undefined) return false;
    return !this.#teller.hasTold(news.name) && this.#pending.dropChange(news.name);
  }

  /** Whether the news of a name changes nothing of what was told. */
  #isPassing(news: UnreadEvent): boolean {
    if (news.kind !== "failed" && news.kind !== "absent") return false;
    return news.name !== undefined && news.held === undefined && !this.#teller.hasTold(news.name);
  }

  #serve(readers: Readers<Change>): void {
    const news = this.#pending.take();
    if (news !== undefined) readers.give(this.#teller.tell(news));
  }

  /** Calls `onChange` for one change after the other, never synchronously when the news arrives. */
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
      // Awaiting undefined would double the cost, and there may be 100,000 watches.
      if (done !== undefined) await done;
    }
    this.#isCalling = false;
  }
}
