import type { ReceivedResource } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { JudgedBefore } from "./judged-before.ts";

function judged(name: string): ReceivedResource {
  return { name, aliases: [], version: "", bytes: Buffer.from(name), ttlMs: undefined, references: [] };
}

/** What a response with these resources makes known, as `=` for what was judged before and `+` for what was not. */
function respond(before: JudgedBefore, names: readonly string[]): string {
  before.responseBegins(names.length);
  return names
    .map((name) => {
      const bytes = Buffer.from(name);
      const known = before.find(bytes);
      if (known === undefined) before.add(bytes, judged(name));
      else expect(known).toEqual(judged(name));
      return `${known === undefined ? "+" : "="}${name}`;
    })
    .join(" ");
}

test("what is repeated is known, wherever it stands in the response", () => {
  const before = new JudgedBefore();
  expect(respond(before, ["a", "b", "c"])).toBe("+a +b +c");
  expect(respond(before, ["a", "b", "c"])).toBe("=a =b =c");
  expect(respond(before, ["a", "B", "c"])).toBe("=a +B =c");
  expect(respond(before, ["x", "a", "c", "B"])).toBe("+x =a =c =B");
  expect(respond(before, ["c", "B"])).toBe("=c =B");
  expect(respond(before, ["c", "B", "a", "x"])).toBe("=c =B =a =x");
});

test("what did not come for long is forgotten, what comes is not", () => {
  const before = new JudgedBefore();
  respond(before, ["kept", "gone"]);
  for (let round = 0; round < 4; round++) {
    const others = Array.from({ length: 256 }, (_, i) => `${round}-${i}`);
    expect(respond(before, ["kept", ...others])).toMatch(/^=kept \+/);
  }
  expect(respond(before, ["kept", "gone"])).toBe("=kept +gone");
});
