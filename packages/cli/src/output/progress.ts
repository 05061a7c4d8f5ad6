import type { Progress } from "@xdskit/source";
import type { Output } from "../io.ts";

const EVERY_MS = 100;
/** A load that takes less needs no line. */
const AFTER_MS = 300;

/** A line that says how far a load is. */
export interface ProgressLine {
  readonly update: (progress: Progress) => void;
  /** Removes the line. */
  clear(): void;
}

/** Draws over itself in a terminal; says nothing anywhere else. */
export function createProgressLine(output: Output, now: () => number = () => performance.now()): ProgressLine {
  const startedAt = now();
  let drawnAt = startedAt + AFTER_MS - EVERY_MS;
  let isDrawn = false;
  return {
    update({ filesRead, filesTotal, resources }) {
      if (!output.isTerminal || now() - drawnAt < EVERY_MS) return;
      drawnAt = now();
      isDrawn = true;
      const share = filesTotal === 0 ? 0 : Math.floor((filesRead / filesTotal) * 100);
      const text = `reading ${filesRead} of ${filesTotal} files (${share} %), ${resources.toLocaleString("en")} resources`;
      output.write(`\r\u001b[2K${text.slice(0, output.columns - 1)}`);
    },
    clear() {
      if (isDrawn) output.write("\r\u001b[2K");
      isDrawn = false;
    },
  };
}
