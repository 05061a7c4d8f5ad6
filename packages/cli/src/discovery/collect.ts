import type { Answer, ReceivedResource } from "./held.ts";
import type { Subscription } from "./transport.ts";

/** What a server answered. */
export interface Collected {
  readonly resources: readonly ReceivedResource[];
  /** Asked for by name, and not there. */
  readonly missing: readonly string[];
  /** Whether there was an answer at all. */
  readonly isAnswered: boolean;
  /** The subscription ended before everything was there. */
  readonly isCut: boolean;
}

export interface CollectOptions {
  /** None: everything. */
  readonly names: readonly string[];
  /** One response tells everything: there is nothing to wait for after it. */
  readonly isWhole: boolean;
  readonly timeoutMs: number;
  /** A server may split an answer and does not say where it ends: it does when nothing comes for so long. */
  readonly quietMs: number;
}

/** Reads answers until everything that was asked for is there, or nothing more comes. Leaves the stream to its owner. */
export async function collect(subscription: Subscription, options: CollectOptions): Promise<Collected> {
  const { names, isWhole, timeoutMs, quietMs } = options;
  const held = new Map<string, ReceivedResource>();
  const unanswered = new Set(names);
  const answers = subscription.answers[Symbol.asyncIterator]();
  let isAnswered = false;
  let isCut = false;
  for (;;) {
    const next = await within(answers.next(), isAnswered ? quietMs : timeoutMs);
    if (next === undefined) break;
    if (next.done === true) {
      isCut = true;
      break;
    }
    isAnswered = true;
    take(next.value, held, unanswered);
    if (isWhole || (names.length > 0 && unanswered.size === 0)) break;
  }
  const wanted = [...held.values()].filter(({ name }) => names.length === 0 || names.includes(name) || name === "");
  return { resources: wanted, missing: names.filter((name) => !held.has(name)), isAnswered, isCut };
}

function take({ puts, removed }: Answer, held: Map<string, ReceivedResource>, unanswered: Set<string>): void {
  for (const resource of puts) {
    held.set(resource.name, resource);
    unanswered.delete(resource.name);
  }
  for (const name of removed) {
    held.delete(name);
    unanswered.delete(name);
  }
}

/** Undefined when it takes too long. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
