type QuestionTable<Table> = {
  readonly [K in keyof Table]: { readonly asked: unknown; readonly answer: unknown };
};

export type AskedOf<Table, K extends keyof Table> = Table[K] extends { readonly asked: infer A } ? A : never;
export type AnswerOf<Table, K extends keyof Table> = Table[K] extends { readonly answer: infer A } ? A : never;

/** How each question is answered. */
export type Answerers<Table> = {
  readonly [K in keyof Table]: (asked: AskedOf<Table, K>) => AnswerOf<Table, K> | Promise<AnswerOf<Table, K>>;
};

/** A question as it is sent. */
export interface Question<Table> {
  readonly kind: "question";
  readonly id: number;
  readonly what: keyof Table;
  readonly asked: unknown;
}

/** The answer to a question as it is sent. */
export interface Answered {
  readonly kind: "answer";
  readonly id: number;
  readonly answer?: unknown;
  /** Why there is no answer. */
  readonly failed?: string;
}

/** What workers answered, in the order of their numbers. */
export interface WorkerAnswersOf<Answer> {
  readonly answers: readonly { readonly worker: number; readonly answer: Answer }[];
  /** The numbers of the workers that do not answer. */
  readonly unresponsive: readonly number[];
}

/** The other process ended before it answered. */
export class GoneError extends Error {
  override readonly name = "GoneError";
}

/** The other process runs, and does not answer. */
export class UnresponsiveError extends Error {
  override readonly name = "UnresponsiveError";

  constructor() {
    super("the process does not answer");
  }
}

/** Whether a question has no answer because the other process ended, or does not answer. */
export function isUnanswered(cause: unknown): boolean {
  return cause instanceof GoneError || cause instanceof UnresponsiveError;
}

interface UnansweredQuestion {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (cause: Error) => void;
}

/** The questions of this process that the other one has not answered. */
export class Questions<Table extends QuestionTable<Table>> {
  readonly #send: (question: Question<Table>) => void;
  readonly #waiting = new Map<number, UnansweredQuestion>();
  #last = 0;
  #isGone = false;

  constructor(send: (question: Question<Table>) => void) {
    this.#send = send;
  }

  /** Rejects with a `GoneError` if the other process ends, and with its reason if it cannot answer. */
  ask<K extends keyof Table>(what: K, asked: AskedOf<Table, K>): Promise<AnswerOf<Table, K>> {
    return new Promise((resolve, reject) => {
      if (this.#isGone) {
        reject(new GoneError("the process is gone"));
        return;
      }
      const id = ++this.#last;
      this.#waiting.set(id, { resolve: (answer) => resolve(answer as AnswerOf<Table, K>), reject });
      this.#send({ kind: "question", id, what, asked });
    });
  }

  /** The other process answered. */
  settle({ id, answer, failed }: Answered): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failed === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(failed));
  }

  /** The other process is gone. */
  end(): void {
    this.#isGone = true;
    this.#rejectAll(new GoneError("the process is gone"));
  }

  /** The other process does not answer. What it answers later to the questions until now is ignored. */
  giveUp(): void {
    this.#rejectAll(new UnresponsiveError());
  }

  #rejectAll(cause: Error): void {
    for (const { reject } of this.#waiting.values()) reject(cause);
    this.#waiting.clear();
  }
}

/** Answers a question of the other process. */
export async function answerQuestion<Table>(
  answerers: Answerers<Table>,
  { id, what, asked }: Question<Table>,
): Promise<Answered> {
  try {
    return { kind: "answer", id, answer: await answerers[what](asked as AskedOf<Table, keyof Table>) };
  } catch (cause) {
    return { kind: "answer", id, failed: cause instanceof Error ? cause.message : String(cause) };
  }
}
