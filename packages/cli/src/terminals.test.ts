import { expect, test } from "vitest";
import { watchTerminals } from "./terminals.ts";

test("a terminal is lost once it was one and is none any more", () => {
  const open = new Set([0, 2]);
  const hasLostTerminal = watchTerminals((descriptor) => open.has(descriptor));
  expect(hasLostTerminal()).toBe(false);
  open.delete(2);
  expect(hasLostTerminal()).toBe(true);
});

test("a daemon has none to lose", () => {
  expect(watchTerminals(() => false)()).toBe(false);
});
