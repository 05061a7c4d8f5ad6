import type { Io } from "../io.ts";
import { understandsEscapes } from "../terminals.ts";
import { oneLine } from "./one-line.ts";

const EVERY_MS = 100;
/** Work shorter than this, in milliseconds, shows no status line. */
const AFTER_MS = 300;

/** A line that shows progress. */
export interface StatusLine {
  /** Calls `text` only when the line is drawn. */
  readonly update: (text: () => string) => void;
  /** Removes the line. */
  clear(): void;
}

/** Creates a status line on stderr that overwrites itself; without a terminal, or on a dumb one, it does nothing. */
export function createStatusLine(io: Pick<Io, "stderr" | "env" | "now">): StatusLine {
  const output = io.stderr;
  const now = (): number => io.now().getTime();
  const isShown = understandsEscapes(output, io.env);
  let drawnAt = now() + AFTER_MS - EVERY_MS;
  let isDrawn = false;
  return {
    update(text) {
      if (!isShown || now() - drawnAt < EVERY_MS) return;
      drawnAt = now();
      isDrawn = true;
      output.write(`\r\u001b[2K${oneLine(text()).slice(0, output.columns - 1)}`);
    },
    clear() {
      if (isDrawn) output.write("\r\u001b[2K");
      isDrawn = false;
    },
  };
}

/** Lets work show how far it is. The line is removed when the work ends, also by an error. */
export async function withStatusLine<T>(
  io: Pick<Io, "stderr" | "env" | "now">,
  work: (update: StatusLine["update"]) => Promise<T>,
): Promise<T> {
  const line = createStatusLine(io);
  try {
    return await work(line.update);
  } finally {
    line.clear();
  }
}
