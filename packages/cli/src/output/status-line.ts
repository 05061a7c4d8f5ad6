import type { Io } from "../io.ts";
import { oneLine } from "./one-line.ts";

const EVERY_MS = 100;
/** What takes less needs no line. */
const AFTER_MS = 300;

/** A line that says how far something is. */
export interface StatusLine {
  /** The text is made only where somebody sees it. */
  readonly update: (text: () => string) => void;
  /** Removes the line. */
  clear(): void;
}

/** Draws over itself on stderr if that is a terminal; says nothing anywhere else. */
export function createStatusLine(io: Pick<Io, "stderr" | "now">): StatusLine {
  const output = io.stderr;
  const now = (): number => io.now().getTime();
  let drawnAt = now() + AFTER_MS - EVERY_MS;
  let isDrawn = false;
  return {
    update(text) {
      if (!output.isTerminal || now() - drawnAt < EVERY_MS) return;
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
