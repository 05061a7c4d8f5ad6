import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { DeliveryTimes } from "../../observe/deliveries.ts";
import { heapBytes, residentBytes } from "../../observe/process-memory.ts";
import type { RevisionTimeAnswer, SampleAnswer, SamplesAnswer } from "../answers/live.ts";
import type { AdminView } from "../view.ts";

const SAMPLE_INTERVAL_MS = 10_000;
/** An hour of samples. */
const MAX_SAMPLES = 360;
const MAX_REVISIONS = 100;
const LAG_RESOLUTION_MS = 20;

/** The last hour in samples, and how long the last revisions took to their last ACK. In memory only. */
export class Samples {
  readonly #view: AdminView;
  readonly #deliveries: DeliveryTimes;
  readonly #samples: SampleAnswer[] = [];
  readonly #revisions = new Map<number, { acks: number; lastAckMs: number }>();
  #delays: IntervalHistogram | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(view: AdminView, deliveries: DeliveryTimes) {
    this.#view = view;
    this.#deliveries = deliveries;
    deliveries.onAcked(({ revision, propagationMs }) => {
      if (propagationMs !== undefined) this.#noteAck(revision, propagationMs);
    });
  }

  start(): void {
    this.#delays = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
    this.#delays.enable();
    this.take(new Date());
    this.#timer = setInterval(() => this.take(new Date()), SAMPLE_INTERVAL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delays?.disable();
  }

  take(at: Date): void {
    const { fleet } = this.#view;
    this.#samples.push({
      at: at.toISOString(),
      streams: this.#view.openStreams(),
      nodes: { total: fleet.size, ...fleet.conditions },
      heapBytes: heapBytes(),
      residentBytes: residentBytes(),
      lagMs: this.#takeLag(),
    });
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
  }

  answer(): SamplesAnswer {
    const revisions = [...this.#revisions]
      .sort(([a], [b]) => a - b)
      .map(([revision, { acks, lastAckMs }]): RevisionTimeAnswer => {
        const madeAt = this.#deliveries.revisionMadeAt(revision);
        return {
          revision: this.#view.changeOf(revision),
          ...(madeAt !== undefined && { at: new Date(madeAt).toISOString() }),
          acks,
          lastAckMs,
        };
      });
    return { intervalSeconds: SAMPLE_INTERVAL_MS / 1000, items: this.#samples, revisions };
  }

  #noteAck(revision: number, ms: number): void {
    const known = this.#revisions.get(revision);
    if (known !== undefined) {
      known.acks++;
      known.lastAckMs = Math.max(known.lastAckMs, ms);
      return;
    }
    this.#revisions.set(revision, { acks: 1, lastAckMs: ms });
    if (this.#revisions.size <= MAX_REVISIONS) return;
    const [oldest] = this.#revisions.keys();
    if (oldest !== undefined) this.#revisions.delete(oldest);
  }

  /** The longest delay since the last sample, in milliseconds. */
  #takeLag(): number {
    if (this.#delays === undefined) return 0;
    const lag = Math.max(0, this.#delays.max / 1e6 - LAG_RESOLUTION_MS);
    this.#delays.reset();
    return Math.round(lag * 10) / 10 || 0;
  }
}
