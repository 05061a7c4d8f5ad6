/** How much a layer has of one type. */
export interface Amount {
  readonly count: number;
  readonly bytes: number;
}

/** The most that there was at once during five minutes. */
export interface Peak extends Amount {
  /** In spans of five minutes since 1970. */
  readonly span: number;
}

const SPAN_MS = 5 * 60_000;
const SPANS = 12;

/** The peaks of the last hour: a few, however much changes. A clock that was set back makes some of the future. */
export class Peaks {
  #peaks: readonly Peak[];

  constructor(peaks: readonly Peak[] = []) {
    this.#peaks = peaks;
  }

  /** Takes in what there was or is at a time. */
  note(time: number, { count, bytes }: Amount): void {
    const span = spanOf(time);
    const others = this.#peaks.filter((peak) => peak.span !== span && isRecent(peak, span));
    const same = this.#peaks.find((peak) => peak.span === span);
    this.#peaks = [...others, { span, ...larger(same ?? { count, bytes }, { count, bytes }) }];
  }

  /** An operator agreed that there is so much less: the hour is judged as if it had never been there. */
  forgo({ count, bytes }: Amount): void {
    this.#peaks = this.#peaks.map((peak) => ({
      span: peak.span,
      count: Math.max(0, peak.count - count),
      bytes: Math.max(0, peak.bytes - bytes),
    }));
  }

  /** The most of the hour around a time. */
  highest(time: number): Amount {
    const span = spanOf(time);
    return this.#peaks.filter((peak) => isRecent(peak, span)).reduce<Amount>(larger, { count: 0, bytes: 0 });
  }

  get list(): readonly Peak[] {
    return this.#peaks;
  }
}

function spanOf(time: number): number {
  return Math.floor(time / SPAN_MS);
}

function isRecent(peak: Peak, span: number): boolean {
  return Math.abs(peak.span - span) <= SPANS;
}

function larger(one: Amount, other: Amount): Amount {
  return { count: Math.max(one.count, other.count), bytes: Math.max(one.bytes, other.bytes) };
}
