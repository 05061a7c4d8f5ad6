import type { ReadStream, WriteStream } from "node:tty";

/** A whole terminal, until it is closed. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  /** Draws lines from the top; what does not fit is cut. */
  draw(lines: readonly string[]): void;
  /** Calls the listener with each key, and with undefined when the size changed. */
  onEvent(listener: (key: string | undefined) => void): void;
  /** Gives the terminal back as it was. */
  close(): void;
}

// Alternate buffer, no cursor, no wrapping of long lines.
const OPEN = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const CLOSE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

const DEFAULT_SIZE = { columns: 80, rows: 24 };

/** Takes a terminal; without a terminal for keys there are no keys. However the process ends, the terminal is given back. */
export function openScreen(output: WriteStream, input: ReadStream, whenExiting: NodeJS.Process = process): Screen {
  const hasKeys = input.isTTY === true;
  let listener: (key: string | undefined) => void = () => undefined;
  let isOpen = true;
  const onKey = (data: Buffer): void => {
    for (const key of data.toString()) listener(key);
  };
  const onResize = (): void => listener(undefined);
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    whenExiting.off("exit", close);
    output.off("resize", onResize);
    input.off("data", onKey);
    if (hasKeys) input.setRawMode(false).pause();
    output.write(CLOSE);
  };
  whenExiting.on("exit", close);
  output.on("resize", onResize);
  output.write(OPEN);
  if (hasKeys) input.setRawMode(true).on("data", onKey).resume();
  return {
    get columns(): number {
      return output.columns || DEFAULT_SIZE.columns;
    },
    get rows(): number {
      return output.rows || DEFAULT_SIZE.rows;
    },
    draw(lines) {
      const shown = lines.slice(0, this.rows).map((line) => `${line}${CLEAR_LINE}`);
      if (isOpen) output.write(`${HOME}${shown.join("\r\n")}${CLEAR_BELOW}`);
    },
    onEvent(to) {
      listener = to;
    },
    close,
  };
}
