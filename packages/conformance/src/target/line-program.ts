import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A program that answers each JSON line on stdin with one on stdout, in order. */
export class LineProgram {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = [];
  readonly #ended: Promise<void>;
  #errors = "";
  /** Why there are no more answers. */
  #over: Error | undefined;

  constructor(file: string) {
    this.#child = spawn(file, { stdio: "pipe" });
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-2_000);
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#answered(file, line));
    // A program that ended does not read; that it ended is told below.
    this.#child.stdin.on("error", () => {});
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", () => {
        this.#giveUp(new Error(`${file} ended: ${this.#errors}`));
        resolve();
      });
    });
    this.#child.once("error", (error) => this.#giveUp(error));
  }

  ask(command: object): Promise<unknown> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    });
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }

  #answered(file: string, line: string): void {
    try {
      const answer: unknown = JSON.parse(line);
      this.#waiting.shift()?.resolve(answer);
    } catch {
      // Nobody can tell whose answer the next line would be.
      this.#giveUp(new Error(`${file}: expected an answer in JSON, got ${line}`));
    }
  }

  #giveUp(error: Error): void {
    this.#over ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#over);
  }
}
