import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { ServerEffect } from "../contract/effect.ts";

/** A type of which all streams of a view get a heartbeat. */
export interface HeartbeatDue {
  readonly view: View;
  readonly type: TypeUrl;
}

interface RunningHeartbeat extends HeartbeatDue {
  readonly timer: number;
  readonly ms: number;
}

/** Schedules heartbeats: one timer per view and type in which a client holds something with a TTL (S-TTL-14). */
export class HeartbeatSchedule {
  readonly #running = new Map<View, Map<TypeUrl, RunningHeartbeat>>();
  readonly #byTimer = new Map<number, RunningHeartbeat>();
  readonly #nextTimer: () => number;

  /** `nextTimer`: returns an unused timer number. */
  constructor(nextTimer: () => number) {
    this.#nextTimer = nextTimer;
  }

  /**
   * Ensures a heartbeat within `ms` milliseconds. Returns whether one is due now, because a longer timer was replaced.
   */
  keep({ view, type }: HeartbeatDue, ms: number, effects: ServerEffect[]): boolean {
    const running = this.#running.get(view)?.get(type);
    if (running !== undefined && running.ms <= ms) return false;
    if (running !== undefined) {
      this.#forget(running);
      effects.push({ kind: "cancel-timer", timer: running.timer });
    }
    this.#start({ view, type, timer: this.#nextTimer(), ms }, effects);
    // How long the replaced timer had run is unknown; restarting it again and again might never let it fire.
    return running !== undefined;
  }

  /** The heartbeat whose timer fired; undefined: another timer. It is not started again until a client needs it. */
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
