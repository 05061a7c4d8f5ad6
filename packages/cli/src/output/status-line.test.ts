import { expect, test } from "vitest";
import { createStatusLine, withStatusLine } from "./status-line.ts";

test("what takes long says how far it is, ten times a second, and leaves nothing behind", () => {
  const written: string[] = [];
  let now = 0;
  const stderr = { isTerminal: true, columns: 12, write: (more: string) => void written.push(more) };
  const line = createStatusLine({ stderr, env: {}, now: () => new Date(now) });
  for (now = 0; now <= 520; now += 20) line.update(() => `${now} of 1000, and more`);
  line.clear();
  line.clear();
  expect(written.join("").split("\r").slice(1)).toEqual([
    "\u001b[2K300 of 1000",
    "\u001b[2K400 of 1000",
    "\u001b[2K500 of 1000",
    "\u001b[2K",
  ]);
});

test("what fails leaves nothing behind either", async () => {
  const written: string[] = [];
  let now = 0;
  const stderr = { isTerminal: true, columns: 80, write: (more: string) => void written.push(more) };
  const failing = withStatusLine({ stderr, env: {}, now: () => new Date(now) }, (update) => {
    now = 1_000;
    update(() => "half of it");
    return Promise.reject(new Error("the server is gone"));
  });
  await expect(failing).rejects.toThrow("the server is gone");
  expect(written.join("")).toBe("\r\u001b[2Khalf of it\r\u001b[2K");
});

test.each([
  ["a pipe", false, "xterm"],
  ["a dumb terminal", true, "dumb"],
])("%s hears nothing, and nothing is made for it", (_, isTerminal, TERM) => {
  let now = 0;
  const mustNotBeCalled = (): never => {
    throw new Error("must not be called");
  };
  const stderr = { isTerminal, columns: 80, write: mustNotBeCalled };
  const line = createStatusLine({ stderr, env: { TERM }, now: () => new Date(now) });
  now = 1000;
  line.update(mustNotBeCalled);
  line.clear();
  expect(now).toBe(1000);
});
