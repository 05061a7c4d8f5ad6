import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A program that answers each JSON line on stdin with one on stdout, in order. */
export class LineProgram {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = [];
  readonly #ended: Promise<void>;
  #errors = "";

  constructor(file: string) {
    this.#child = spawn(file, { stdio: "pipe" });
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-2_000);
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) =>
      this.#waiting.shift()?.resolve(JSON.parse(line)),
    );
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", () => {
        for (const { reject } of this.#waiting.splice(0)) reject(new Error(`${file} ended: ${this.#errors}`));
        resolve();
      });
    });
    this.#child.once("error", (error) => {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    });
  }

  ask(command: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    });
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }
}
