import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { ServerEffect } from "../contract/effect.ts";

/** A type of which the streams of one view are to be sent a heartbeat. */
export interface HeartbeatDue {
  readonly view: View;
  readonly type: TypeUrl;
}

interface RunningHeartbeat extends HeartbeatDue {
  readonly timer: number;
  readonly ms: number;
}

/** When heartbeats are due: one timer for each view and type in which something that somebody holds has a ttl (S-TTL-14). */
export class HeartbeatSchedule {
  readonly #running = new Map<View, Map<TypeUrl, RunningHeartbeat>>();
  readonly #byTimer = new Map<number, RunningHeartbeat>();
  readonly #nextTimer: () => number;

  /** `nextTimer`: numbers timers. */
  constructor(nextTimer: () => number) {
    this.#nextTimer = nextTimer;
  }

  /** Somebody there needs the next one within so many milliseconds. Returns whether one is due now: it waited for longer. */
  keep({ view, type }: HeartbeatDue, ms: number, effects: ServerEffect[]): boolean {
    const running = this.#running.get(view)?.get(type);
    if (running !== undefined && running.ms <= ms) return false;
    if (running !== undefined) {
      this.#forget(running);
      effects.push({ kind: "cancel-timer", timer: running.timer });
    }
    this.#start({ view, type, timer: this.#nextTimer(), ms }, effects);
    // How long it ran nobody knows here: who only began anew might never come to an end.
    return running !== undefined;
  }

  /** What is due when that timer went off; undefined: it is none of these. It is not started again until somebody needs it. */
  fired(timer: number): HeartbeatDue | undefined {
    const running = this.#byTimer.get(timer);
    if (running !== undefined) this.#forget(running);
    return running;
  }

  #start(running: RunningHeartbeat, effects: ServerEffect[]): void {
    const ofView = this.#running.get(running.view) ?? new Map<TypeUrl, RunningHeartbeat>();
    this.#running.set(running.view, ofView.set(running.type, running));
    this.#byTimer.set(running.timer, running);
    effects.push({ kind: "start-timer", timer: running.timer, ms: running.ms });
  }

  #forget({ view, type, timer }: RunningHeartbeat): void {
    this.#byTimer.delete(timer);
    const ofView = this.#running.get(view);
    ofView?.delete(type);
    if (ofView?.size === 0) this.#running.delete(view);
  }
}
