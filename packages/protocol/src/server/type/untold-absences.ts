import type { Body, Segment } from "../../message/body.ts";
import { LazyMap } from "../memory/lazy.ts";

/** Which absences may be told. */
export interface AbsenceBounds {
  /**
   * The revision up to which the client has what refers to the resources. Undefined: what it has is of no single
   * revision, because something that refers to them is removed last, or is under way on another stream.
   */
  readonly to: number | undefined;
  /** The revision of the last timeout: absences noticed up to it are told. */
  readonly overruledTo: number;
  /** Whether what is in use waits for the resource of a name, or may: its absence is told only after a timeout. */
  readonly isUnmet: (name: string) => boolean;
  /** Whether it is known to wait, or may because its client reconnected. */
  readonly isAwaited: (name: string) => boolean;
}

/** What else decides which absences an answer leaves out. */
export interface AbsenceFlush {
  readonly bounds: AbsenceBounds;
  readonly revision: number;
  /** Whether a name was requested as such, and its absence is not due. */
  readonly mayWait: (name: string) => boolean;
  /** Whether nothing that the client is going to have refers to a name. */
  readonly isUnused: (name: string) => boolean;
  /** Whether an answer is due even if nothing is left of it. */
  readonly mustAnswer: boolean;
}

/** What an answer says of absences. */
interface Answer {
  readonly body: Body;
  /** The names that it answers and that do not exist. */
  readonly asked?: Pick<ReadonlySet<string>, "has" | "size"> | undefined;
}

/** An absence that is not told yet. */
interface Untold {
  readonly noticedAt: number;
  /** The revision that the client has to have of what refers to the name; undefined: the newest state refers to it. */
  readonly since: number | undefined;
}

/**
 * Requested names without a resource that one delta client is not told to be absent yet, because only an older state of
 * what refers to them is at the client. The absence would end the warming of a Cluster whose next version has another
 * EDS name, and the Cluster would be without hosts (S-ORD-01).
 */
export class UntoldAbsences {
  readonly #untold = new LazyMap<string, Untold>();

  get isEmpty(): boolean {
    return this.#untold.size === 0;
  }

  /** The lowest revision at which one was noticed. Infinite: there is none. */
  get oldest(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { noticedAt } of this.#untold.values()) oldest = Math.min(oldest, noticedAt);
    return oldest;
  }

  has(name: string): boolean {
    return this.#untold.has(name);
  }

  forget(name: string): void {
    this.#untold.delete(name);
  }

  /** Takes the names whose absence may be told by now. */
  takeDue(
    bounds: () => AbsenceBounds,
    { revision, isUnused }: Pick<AbsenceFlush, "revision" | "isUnused">,
  ): ReadonlySet<string> {
    if (this.isEmpty) return nothing;
    const { to, overruledTo, isUnmet } = bounds();
    const due = new Set<string>();
    for (const [name, { noticedAt, since }] of this.#untold) {
      const isUsed = !isUnused(name);
      // A Cluster that is removed last may exist again before the client was sent a state without the name.
      const unusedSince = isUsed ? undefined : to === undefined ? revision : (since ?? revision);
      const isDue = unusedSince === undefined ? !isUnmet(name) : to !== undefined && unusedSince <= to;
      if (isDue || noticedAt <= overruledTo) due.add(name);
      else this.#untold.set(name, { noticedAt, since: unusedSince });
    }
    for (const name of due) this.#untold.delete(name);
    return due;
  }

  /**
   * The answers without absences that must not be told yet. A placeholder, which is sent of a name without a resource, ends
   * the warming too.
   */
  withhold<A extends Answer>(
    answers: readonly A[],
    flush: () => AbsenceFlush,
    isPlaceholder: (name: string) => boolean = never,
  ): readonly A[] {
    if (!this.isEmpty)
      for (const { body } of answers)
        for (const { puts } of body.segments)
          for (const { name } of puts) if (!isPlaceholder(name)) this.#untold.delete(name);
    return answers.some(tellsAbsence)
      ? answers.flatMap((answer) => this.#withholdFrom(answer, flush(), isPlaceholder))
      : answers;
  }

  #withholdFrom<A extends Answer>(
    answer: A,
    { bounds: { to, overruledTo, isUnmet }, revision, mayWait, isUnused, mustAnswer }: AbsenceFlush,
    isPlaceholder: (name: string) => boolean,
  ): readonly A[] {
    if (overruledTo >= revision) return [answer];
    const isKnown = to !== undefined && to >= revision;
    const isTooEarly = (name: string): boolean => (isUnused(name) ? !isKnown : isUnmet(name));
    const untold = new Set(absencesIn(answer, isPlaceholder).filter((name) => isTooEarly(name) && mayWait(name)));
    if (untold.size === 0) return [answer];
    for (const name of untold)
      if (!this.#untold.has(name))
        this.#untold.set(name, { noticedAt: revision, since: isUnused(name) ? revision : undefined });
    const isTold = (name: string): boolean => !untold.has(name);
    const segments = answer.body.segments.map(
      (segment): Segment => ({
        ...segment,
        puts: segment.puts.filter(({ name }) => isTold(name)),
        removed: segment.removed.filter(isTold),
        missing: segment.missing.filter(isTold),
      }),
    );
    const body: Body = { ...answer.body, segments };
    return isEmpty(body) && !mustAnswer ? [] : [{ ...answer, body }];
  }
}

const nothing: ReadonlySet<string> = new Set();
const never = (): boolean => false;

function tellsAbsence({ body, asked }: Answer): boolean {
  return (asked?.size ?? 0) > 0 || body.segments.some(({ missing }) => missing.length > 0);
}

/** The names whose absence is an answer. */
function absencesIn({ body, asked }: Answer, isPlaceholder: (name: string) => boolean): readonly string[] {
  return body.segments.flatMap(({ puts, removed, missing }) => [
    ...puts.flatMap(({ name }) => (isPlaceholder(name) ? [name] : [])),
    ...removed.filter((name) => asked?.has(name) === true),
    ...missing,
  ]);
}

function isEmpty({ segments }: Body): boolean {
  return segments.every(({ puts, removed, missing }) => puts.length + removed.length + missing.length === 0);
}
