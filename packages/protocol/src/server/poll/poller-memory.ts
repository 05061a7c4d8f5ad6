import { hostOf } from "../../node/host.ts";
import type { Node } from "../../node/node.ts";
import type { Peer } from "../../node/node-mapping.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { Account, Eviction, PollerLimits } from "../contract/stream-limits.ts";
import type { PolledSubscription } from "./polled-subscription.ts";
import type { Poller } from "./poller.ts";

/** A poller that does not poll during two of these periods in a row is forgotten; in milliseconds. */
const SWEEP_MS = 150_000;

/** Ends what else is kept of a poller. */
export type Forget = (poller: Poller, eviction?: Eviction) => readonly ServerEffect[];

/**
 * The recent pollers, bounded in bytes and in time. What a poller costs counts from the end of its last poll to the next
 * one; while a poll waits, the limits of streams count it.
 */
export class PollerMemory implements Iterable<Poller> {
  readonly #pollers = new Map<string, Poller>();
  /** The pollers without a poll. */
  readonly #resting = new Map<Poller, Resting>();
  readonly #all = new Usage();
  readonly #ofAccount = new Map<string, Usage>();
  readonly #nextTimer: () => number;
  readonly #limits: PollerLimits;
  #sweep = 0;
  #timer: number | undefined;

  /** Beyond a limit, pollers that have not polled for longest are forgotten. */
  constructor(nextTimer: () => number, limits: PollerLimits) {
    this.#nextTimer = nextTimer;
    this.#limits = limits;
  }

  [Symbol.iterator](): Iterator<Poller> {
    return this.#pollers.values();
  }

  /** What the pollers without a poll cost. */
  get bytes(): number {
    return this.#all.bytes;
  }

  /**
   * The key includes the address, because clients with the same node id, such as cloned pods, have different addresses,
   * and who the client is, because two behind one address may have different rights.
   */
  keyOf({ id }: Node, { address, isLoopback, certificate }: Peer, { traits, key }: PolledSubscription): string {
    const { uris = [], dnsNames = [], commonName = "" } = certificate ?? {};
    const identity = JSON.stringify([isLoopback, certificate !== undefined, commonName, uris, dnsNames]);
    return `${id}\n${hostOf(address)}\n${identity}\n${traits.type}\n${key}`;
  }

  /** The poller of this key, which polls; undefined: unknown. */
  seen(key: string): Poller | undefined {
    const poller = this.#pollers.get(key);
    if (poller !== undefined) this.#wake(poller);
    return poller;
  }

  /** Adds a poller, which polls. */
  add(poller: Poller): void {
    this.#pollers.set(poller.key, poller);
  }

  /** The last poll of a poller ended. Forgets the pollers beyond the limits. */
  rest(poller: Poller, forget: Forget): readonly ServerEffect[] {
    const { key, by } = this.#limits.accountOf?.(poller.peer) ?? everybody;
    const ofAccount = this.#ofAccount.get(key) ?? new Usage();
    this.#ofAccount.set(key, ofAccount);
    const resting = { account: key, by, own: poller.bytes, polled: poller.polled, sweep: this.#sweep };
    this.#resting.set(poller, resting);
    for (const usage of [this.#all, ofAccount]) usage.add(poller, resting);
    return [...this.#shrink(poller, resting, forget), ...this.#startSweep()];
  }

  /** A poller asks for something else now, such as the same names in another view. */
  moved(poller: Poller, forget: Forget): readonly ServerEffect[] {
    const resting = this.#resting.get(poller);
    if (resting === undefined) return [];
    const before = resting.polled;
    resting.polled = poller.polled;
    for (const usage of [this.#all, this.#ofAccount.get(resting.account)]) usage?.move(before, resting.polled);
    return this.#shrink(poller, resting, forget);
  }

  /** Forgets old pollers if the timer is that of the sweep; undefined: another timer. */
  fired(timer: number, forget: Forget): readonly ServerEffect[] | undefined {
    if (timer !== this.#timer) return undefined;
    this.#timer = undefined;
    this.#sweep++;
    const effects: ServerEffect[] = [];
    for (const [poller, { sweep }] of this.#resting) {
      if (sweep >= this.#sweep - 1) break;
      effects.push(...this.#remove(poller, forget));
    }
    return this.#resting.size === 0 ? effects : [...effects, ...this.#startSweep()];
  }

  #startSweep(): readonly ServerEffect[] {
    if (this.#timer !== undefined || this.#resting.size === 0) return [];
    this.#timer = this.#nextTimer();
    return [{ kind: "start-timer", timer: this.#timer, ms: SWEEP_MS }];
  }

  /** The account first, so that one that takes much pushes out its own pollers and not those of others. */
  #shrink(poller: Poller, { account, by }: Resting, forget: Forget): readonly ServerEffect[] {
    const ofAccount = by === "identity" ? "maxPollerBytesPerIdentity" : "maxPollerBytesPerPeer";
    const effects = this.#evict(
      this.#ofAccount.get(account),
      { poller, limit: ofAccount, of: `of this ${by}` },
      forget,
    );
    return [...effects, ...this.#evict(this.#all, { poller, limit: "maxPollerBytes", of: "of this server" }, forget)];
  }

  #evict(usage: Usage | undefined, { poller, limit, of }: Excess, forget: Forget): readonly ServerEffect[] {
    const most = this.#limits[limit];
    if (usage === undefined || most === undefined || usage.bytes <= most) return [];
    const message = `the remembered pollers ${of} take more than ${most} bytes (${limit})`;
    const evict: Forget = (oldest) => forget(oldest, { limit, address: poller.peer.address, message });
    const resting = this.#resting.get(poller);
    // One that takes too much by itself pushes nobody else out.
    if (resting !== undefined && resting.own + resting.polled.bytes > most) return this.#remove(poller, evict);
    const effects: ServerEffect[] = [];
    for (const oldest of usage.pollers) {
      if (usage.bytes <= most) break;
      effects.push(...this.#remove(oldest, evict));
    }
    return effects;
  }

  #remove(poller: Poller, forget: Forget): readonly ServerEffect[] {
    this.#pollers.delete(poller.key);
    this.#wake(poller);
    return forget(poller);
  }

  #wake(poller: Poller): void {
    const resting = this.#resting.get(poller);
    if (resting === undefined) return;
    this.#resting.delete(poller);
    this.#all.delete(poller, resting);
    const ofAccount = this.#ofAccount.get(resting.account);
    ofAccount?.delete(poller, resting);
    if (ofAccount?.pollers.size === 0) this.#ofAccount.delete(resting.account);
  }
}

const everybody: Account = { key: "", by: "address" };

interface Resting {
  readonly account: string;
  readonly by: Account["by"];
  /** What it costs besides the names. */
  readonly own: number;
  polled: PolledSubscription;
  /** The period in which its last poll ended. */
  readonly sweep: number;
}

interface Excess {
  /** Whose poll exceeded the limit. */
  readonly poller: Poller;
  readonly limit: Eviction["limit"];
  readonly of: string;
}

/** What pollers cost together. The names that several of them ask for are kept once, and count once. */
class Usage {
  /** In the order in which their last polls ended. */
  readonly pollers = new Set<Poller>();
  readonly #polled = new Map<PolledSubscription, number>();
  bytes = 0;

  add(poller: Poller, { own, polled }: Resting): void {
    this.pollers.add(poller);
    this.bytes += own;
    this.#use(polled, 1);
  }

  delete(poller: Poller, { own, polled }: Resting): void {
    this.pollers.delete(poller);
    this.bytes -= own;
    this.#use(polled, -1);
  }

  move(from: PolledSubscription, to: PolledSubscription): void {
    this.#use(from, -1);
    this.#use(to, 1);
  }

  #use(polled: PolledSubscription, by: 1 | -1): void {
    const before = this.#polled.get(polled) ?? 0;
    if (before + by === 0) this.#polled.delete(polled);
    else this.#polled.set(polled, before + by);
    if (before === 0) this.bytes += polled.bytes;
    else if (before + by === 0) this.bytes -= polled.bytes;
  }
}
