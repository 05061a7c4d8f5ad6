import type { Output } from "../io.ts";

const EVERY_MS = 100;

/** A line that says how far something is. */
export interface StatusLine {
  readonly update: (text: string) => void;
  /** Removes the line. */
  clear(): void;
}

/** Draws over itself in a terminal; says nothing anywhere else. */
export function createStatusLine(output: Output, now: () => number = () => performance.now()): StatusLine {
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  return {
    update(text) {
      if (!output.isTerminal || now() - drawnAt < EVERY_MS) return;
      drawnAt = now();
      isDrawn = true;
      output.write(`\r\u001b[2K${text.slice(0, output.columns - 1)}`);
    },
    clear() {
      if (isDrawn) output.write("\r\u001b[2K");
      isDrawn = false;
    },
  };
}
