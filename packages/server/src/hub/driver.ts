import { EffectQueue, Timers } from "@xdskit/disk";
import {
  InvariantError,
  type PollEffect,
  type Report,
  type ServerEffect,
  type ServerEvent,
  ServerMachine,
  type ServerMachineOptions,
  type StreamId,
} from "@xdskit/protocol/internal";
import type { Limits } from "../limits.ts";
import { type DueFlushes, FlushLoop } from "./flush-loop.ts";
import type { Memory, ShellReport } from "./port.ts";
import { SendQueue } from "./send-queue.ts";
import type { Written } from "./stream-registry.ts";

type EffectOf<K extends ServerEffect["kind"]> = Extract<ServerEffect, { readonly kind: K }>;

/** Performs the effects of the `ServerMachine`. */
export interface Performer {
  send(effect: EffectOf<"send">): void;
  /** Encodes some of a response that is to be sent; false if it only remains to be sent. */
  encodeSome(effect: EffectOf<"send">): boolean;
  closeStream(effect: EffectOf<"close-stream">): void;
  settlePoll(effect: PollEffect): void;
  report(report: Report | Extract<ShellReport, { readonly kind: "slice-flushed" }>): void;
  /** Writes the responses of one slice. */
  write(): Written;
  /** A finishing stream has sent all pending responses. */
  finished(stream: StreamId): void;
  /** An event was taken, or a slice of flushes ended. */
  advanced(): void;
  /** Reports an internal error of a stream or poll; undefined: of none in particular. */
  failed(stream: StreamId | undefined, during: string, cause: unknown): void;
}

/** Owns the `ServerMachine`: feeds it events, performs their effects in order, then flushes streams. */
export class Driver {
  /** Read only; events go through `take`. */
  readonly machine: ServerMachine;
  readonly flushes: FlushLoop;
  /** Large responses that are not encoded yet. */
  readonly sends: SendQueue;
  readonly #performer: Performer;
  readonly #memory: Memory | undefined;
  readonly #effects = new EffectQueue<ServerEffect>((effect) => this.#perform(effect));
  readonly #timers = new Timers((timer) => this.take({ kind: "timer-fired", timer }));

  constructor(
    options: ServerMachineOptions & { readonly memory?: Memory; readonly limits: Limits },
    performer: Performer,
  ) {
    const { memory, limits } = options;
    this.#performer = performer;
    this.#memory = memory;
    this.machine = new ServerMachine({ ...options, ...limitsOfMachine(limits), remembers: memory !== undefined });
    if (memory !== undefined) this.machine.on({ kind: "history-restored", remembered: memory.restored });
    this.sends = new SendQueue(
      (effect) => performer.send(effect),
      (effect) => performer.encodeSome(effect),
    );
    this.flushes = new FlushLoop({
      due: new MachineFlushes(this.machine, this.#effects, this.sends),
      maxDebounceMs: limits.maxDebounceMs,
      failed: (cause) => performer.failed(cause instanceof InvariantError ? cause.stream : undefined, "turn", cause),
      write: () => {
        memory?.flush();
        const written = performer.write();
        performer.advanced();
        return written;
      },
      finished: (stream) => performer.finished(stream),
      report: (report) => performer.report(report),
    });
  }

  /** Passes an event to the machine. An exception ends the given stream; without one it is thrown to the caller. */
  take(event: ServerEvent, stream?: StreamId): void {
    try {
      this.#effects.add(this.machine.on(event));
    } catch (cause) {
      if (stream === undefined) throw cause;
      this.#performer.failed(stream, event.kind, cause);
    }
    // Many streams may be due.
    if (event.kind === "transaction-committed") this.flushes.changed();
    this.flushes.schedule();
    this.#performer.advanced();
  }

  /** Ends every timer, and what is remembered. */
  close(): void {
    this.flushes.close();
    this.#timers.cancelAll();
    this.#memory?.close();
  }

  #perform(effect: ServerEffect): void {
    switch (effect.kind) {
      case "send":
        this.sends.add(effect);
        break;
      case "close-stream":
        this.#performer.closeStream(effect);
        break;
      case "answer-poll":
      case "poll-unchanged":
      case "refuse-poll":
        this.#performer.settlePoll(effect);
        break;
      case "start-timer":
        this.#timers.start(effect.timer, effect.ms);
        break;
      case "cancel-timer":
        this.#timers.cancel(effect.timer);
        break;
      case "remember":
        this.#memory?.remember(effect.what);
        break;
      case "report":
        this.#performer.report(effect.report);
        break;
      default:
        effect satisfies never;
    }
  }
}

/** The limits that the machine enforces. */
function limitsOfMachine(limits: Limits): Partial<ServerMachineOptions> {
  return {
    maxSubscriptionsPerStream: limits.maxSubscriptionsPerStream,
    maxSubscriptionsPerPeer: limits.maxSubscriptionsPerPeer,
    maxSubscriptionsPerIdentity: limits.maxSubscriptionsPerIdentity,
    maxClientBytes: limits.maxClientBytes,
    maxClientBytesPerPeer: limits.maxClientBytesPerPeer,
    maxClientBytesPerIdentity: limits.maxClientBytesPerIdentity,
    maxTypesPerStream: limits.maxTypesPerStream,
    maxUnacknowledgedPerType: limits.maxUnacknowledgedPerType,
    maxPollerBytes: limits.maxPollerBytes,
    maxPollerBytesPerPeer: limits.maxPollerBytesPerPeer,
    maxPollerBytesPerIdentity: limits.maxPollerBytesPerIdentity,
  };
}

/** The flushes of the machine, whose effects are performed, and the large responses that wait. */
class MachineFlushes implements DueFlushes {
  readonly #machine: ServerMachine;
  readonly #effects: EffectQueue<ServerEffect>;
  readonly #sends: SendQueue;

  constructor(machine: ServerMachine, effects: EffectQueue<ServerEffect>, sends: SendQueue) {
    this.#machine = machine;
    this.#effects = effects;
    this.#sends = sends;
  }

  get isDue(): boolean {
    return this.#machine.isDue || this.isLargeDue;
  }

  get isLargeDue(): boolean {
    return !this.#sends.isEmpty;
  }

  get isAskingDue(): boolean {
    return this.#machine.isAskingDue;
  }

  get isPlacementDue(): boolean {
    return this.#machine.isPlacementDue;
  }

  get changedStreams(): number {
    return this.#machine.changedStreams;
  }

  get flushedChanged(): number {
    return this.#machine.flushedChanged;
  }

  get pausedFlushes(): number {
    return this.#machine.pausedFlushes;
  }

  isAnswerPending(stream: StreamId): boolean {
    return this.#machine.isAnswerPending(stream);
  }

  sendLarge(): void {
    this.#sends.next();
  }

  flushNext(): void {
    this.#effects.add(this.#machine.next(1));
  }

  flushAsking(): void {
    this.#effects.add(this.#machine.nextAsking());
  }

  placeNext(): void {
    this.#effects.add(this.#machine.placeNext());
  }
}
