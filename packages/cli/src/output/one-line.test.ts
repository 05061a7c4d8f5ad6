import { expect, test } from "vitest";
import { oneLine } from "./one-line.ts";

test("whatever a name holds, it stays in its line and moves no cursor", () => {
  const text = oneLine("a\nb\r\u001b[2Jc\u2028d\u202ee\ud800f é 名");
  expect(text).toBe("a b  [2Jc d e f é 名");
});
