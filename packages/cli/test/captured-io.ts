import type { Io, Output } from "../src/io.ts";
import type { Screen } from "../src/screen.ts";

/** An output that keeps what it is given. */
export class CapturedOutput implements Output {
  text = "";
  readonly isTerminal: boolean;
  readonly columns: number;

  constructor(terminalColumns?: number) {
    this.isTerminal = terminalColumns !== undefined;
    this.columns = terminalColumns ?? 100;
  }

  write(text: string): void {
    this.text += text;
  }
}

export interface CapturedIoOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What standard input holds. */
  readonly input?: string | Uint8Array;
  /** Makes both outputs terminals of this width. */
  readonly terminalColumns?: number;
}

/** What a command does to the world, for a test to look at. */
export class CapturedIo implements Io {
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly #input: string | Uint8Array;
  readonly #interruption = new AbortController();

  constructor({ env = {}, cwd = process.cwd(), terminalColumns, input = "" }: CapturedIoOptions = {}) {
    this.stdout = new CapturedOutput(terminalColumns);
    this.stderr = new CapturedOutput(terminalColumns);
    this.env = env;
    this.cwd = cwd;
    this.#input = input;
  }

  /** A time at which nothing in the golden files is older than a day. */
  now(): Date {
    return new Date("2026-01-01T12:00:00Z");
  }

  /** What `openScreen` gives. */
  screen: Screen | undefined = undefined;

  openScreen(): Screen | undefined {
    return this.screen;
  }

  async readInput(): Promise<Uint8Array> {
    return Buffer.from(this.#input);
  }

  async *input(): AsyncIterable<Uint8Array> {
    yield Buffer.from(this.#input);
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  needNoReader(): void {}
  endByItself(): void {}

  /** What SIGHUP would run. */
  hangUp: () => void = () => undefined;

  onHangup(listener: () => void): void {
    this.hangUp = listener;
  }

  get interrupted(): AbortSignal {
    return this.#interruption.signal;
  }

  interrupt(signal: "SIGINT" | "SIGTERM" = "SIGINT"): void {
    this.#interruption.abort(signal);
  }
}
