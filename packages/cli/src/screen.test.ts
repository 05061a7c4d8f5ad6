import { EventEmitter } from "node:events";
import type { ReadStream, WriteStream } from "node:tty";
import { expect, test } from "vitest";
import { openScreen } from "./screen.ts";

class FakeOutput extends EventEmitter {
  columns = 40;
  rows = 3;
  written: string[] = [];
  write(text: string): boolean {
    this.written.push(text);
    return true;
  }
}

class FakeInput extends EventEmitter {
  readonly isTTY: boolean;
  isRaw = false;
  isPaused = true;
  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }
  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    return this;
  }
  pause(): this {
    this.isPaused = true;
    return this;
  }
  resume(): this {
    this.isPaused = false;
    return this;
  }
}

const OPEN = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const CLOSE = "\u001b[?7h\u001b[?25h\u001b[?1049l";

function open(
  isTTY: boolean,
): ReturnType<typeof openScreen> & { output: FakeOutput; input: FakeInput; exiting: EventEmitter } {
  const [output, input, exiting] = [new FakeOutput(), new FakeInput(isTTY), new EventEmitter()];
  const screen = openScreen(
    output as unknown as WriteStream,
    input as unknown as ReadStream,
    exiting as unknown as NodeJS.Process,
  );
  return Object.assign(screen, { output, input, exiting });
}

test("a screen draws what fits, tells keys and new sizes, and gives the terminal back once", () => {
  const screen = open(true);
  const { output, input } = screen;
  const events: (string | undefined)[] = [];
  screen.onEvent((key) => events.push(key));
  expect([input.isRaw, input.isPaused]).toEqual([true, false]);
  screen.draw(["a", "b", "c", "d"]);
  input.emit("data", Buffer.from("xq"));
  output.rows = 1;
  output.emit("resize");
  screen.draw(["a", "b"]);
  screen.close();
  screen.close();
  screen.draw(["late"]);
  input.emit("data", Buffer.from("x"));
  expect(output.written).toEqual([
    OPEN,
    "\u001b[Ha\u001b[K\r\nb\u001b[K\r\nc\u001b[K\u001b[J",
    "\u001b[Ha\u001b[K\u001b[J",
    CLOSE,
  ]);
  expect(events).toEqual(["x", "q", undefined]);
  expect([input.isRaw, input.isPaused]).toEqual([false, true]);
});

test("a process that ends with its screen open gives the terminal back", () => {
  const { exiting, output, input } = open(true);
  exiting.emit("exit");
  expect([output.written, input.isRaw]).toEqual([[OPEN, CLOSE], false]);
});

test("without a terminal for keys there are none", () => {
  const { input, close } = open(false);
  expect([input.isRaw, input.isPaused, input.listenerCount("data")]).toEqual([false, true, 0]);
  close();
});
