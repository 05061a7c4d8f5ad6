import { expect, test } from "vitest";
import { createProgressLine } from "./progress.ts";

test("a long load says how far it is, ten times a second, and leaves nothing behind", () => {
  const written: string[] = [];
  let now = 0;
  const output = { isTerminal: true, columns: 80, write: (more: string) => void written.push(more) };
  const line = createProgressLine(output, () => now);
  for (now = 0; now <= 520; now += 20) line.update({ filesRead: now, filesTotal: 1000, resources: now * 100 });
  line.clear();
  expect(written.join("").split("\r").slice(1)).toEqual([
    "\u001b[2Kreading 300 of 1000 files (30 %), 30,000 resources",
    "\u001b[2Kreading 400 of 1000 files (40 %), 40,000 resources",
    "\u001b[2Kreading 500 of 1000 files (50 %), 50,000 resources",
    "\u001b[2K",
  ]);
});

test("a pipe hears nothing", () => {
  let now = 0;
  const output = {
    isTerminal: false,
    columns: 80,
    write: () => {
      throw new Error("must not be called");
    },
  };
  const line = createProgressLine(output, () => now);
  now = 1000;
  line.update({ filesRead: 1, filesTotal: 2, resources: 3 });
  line.clear();
  expect(now).toBe(1000);
});
