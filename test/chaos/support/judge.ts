import type { Append, History, Ledger, Sighting, Unchecked } from "./history.ts";

/** What is wrong in a history; nothing, if all lists are empty. */
export interface Verdict {
  /** Publications that were acknowledged, and of which the ledger has nothing, or another number. */
  readonly lost: readonly string[];
  /** Contents that a client got, and that no ledger has. */
  readonly invented: readonly string[];
  /** Clients that were set back by a server that did not say that it served them unasked. */
  readonly setBack: readonly string[];
}

export function judge(history: History, ledger: Ledger): Verdict {
  return {
    lost: history.appends.flatMap(({ publisher, content, outcome }) => {
      if (outcome === undefined || ledger.get(content) === outcome.number) return [];
      return [`${content} of ${publisher}: acknowledged as ${outcome.number}, the ledger has ${ledger.get(content)}`];
    }),
    invented: [...new Set(history.sightings.map(({ content }) => content))].filter((content) => !ledger.has(content)),
    setBack: setBack(history, ledger),
  };
}

function setBack({ sightings, unchecked }: History, ledger: Ledger): string[] {
  const found: string[] = [];
  const newest = new Map<string, { readonly number: number; readonly sighting: Sighting }>();
  const excuses = new Excuses(unchecked);
  for (const sighting of sightings) {
    const number = ledger.get(sighting.content);
    if (number === undefined) continue;
    const life = `${sighting.client} (life ${sighting.life})`;
    const before = newest.get(life);
    if (before !== undefined && number < before.number && !excuses.take(sighting)) {
      found.push(
        `${life} had ${before.sighting.content} (${before.number}) of server ${before.sighting.server}, ` +
          `then ${sighting.content} (${number}) of server ${sighting.server}, ` +
          `on a stream that was opened ${Math.round(sighting.openedAt - before.sighting.at)} ms later`,
      );
    }
    // What it was set back to is what it has.
    newest.set(life, { number, sighting });
  }
  return found;
}

/** A rise of a server's count between two looks at it excuses as many of the clients that came meanwhile. */
class Excuses {
  readonly #rises: { readonly server: number; readonly from: number; readonly to: number; left: number }[] = [];

  constructor(unchecked: readonly Unchecked[]) {
    const last = new Map<number, { readonly at: number; readonly count: number }>();
    for (const { server, at, count } of unchecked) {
      if (count === undefined) continue;
      const { at: from, count: before } = last.get(server) ?? { at: 0, count: 0 };
      // A restarted server counts from nothing.
      const left = count < before ? count : count - before;
      if (left > 0) this.#rises.push({ server, from, to: at, left });
      last.set(server, { at, count });
    }
  }

  take({ server, openedAt, at }: Sighting): boolean {
    const rise = this.#rises.find(
      (one) => one.server === server && one.left > 0 && one.from <= at && one.to >= openedAt,
    );
    if (rise === undefined) return false;
    rise.left--;
    return true;
  }
}

/** The lines that the linearizability checker reads. */
export function checkerLines({ appends, reads }: History, ledger: Ledger): string {
  const micros = (ms: number): number => Math.round(ms * 1_000);
  const processes = new Map<string, number>();
  const processOf = (append: Append): number => {
    const known = processes.get(append.publisher);
    // A publisher that does not know what became of its call goes on as another process.
    if (known !== undefined && append.outcome !== undefined) return known;
    const next = processes.size + 1;
    processes.set(append.outcome === undefined ? `${append.publisher} ${next}` : append.publisher, next);
    return next;
  };
  const lines: object[] = [];
  for (const append of appends) {
    const number = append.outcome?.number ?? ledger.get(append.content);
    if (number === undefined) continue;
    const { content, calledAt, outcome } = append;
    lines.push({
      ...{ process: processOf(append), kind: "append", content, number, called: micros(calledAt) },
      ...(outcome === undefined ? {} : { returned: micros(outcome.at) }),
    });
  }
  for (const { calledAt, returnedAt, number } of reads) {
    lines.push({ process: 0, kind: "read", number, called: micros(calledAt), returned: micros(returnedAt) });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Holders of a lease that wrote after another one had, in the order of the ledger. */
export function interleaved(holders: readonly string[]): readonly string[] {
  const over = new Set<string>();
  return holders.filter((holder, index) => {
    const before = holders[index - 1];
    if (before !== undefined && before !== holder) over.add(before);
    return over.has(holder);
  });
}
