import type { ReceivedResource } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { JudgedBefore } from "./judged-before.ts";

function judged(name: string): ReceivedResource {
  return { name, aliases: [], version: "", bytes: Buffer.from(name), ttlMs: undefined };
}

/** What a response with these resources makes known, as `=` for what was judged before and `+` for what was not. */
function respond(before: JudgedBefore, names: readonly string[]): string {
  before.responseBegins();
  return names
    .map((name, place) => {
      const known = before.find(place, Buffer.from(name));
      if (known === undefined) before.add(place, judged(name));
      else expect(known).toEqual(judged(name));
      return `${known === undefined ? "+" : "="}${name}`;
    })
    .join(" ");
}

test("what is repeated in its order is known, with what is new or gone between it", () => {
  const before = new JudgedBefore();
  expect(respond(before, ["a", "b", "c"])).toBe("+a +b +c");
  expect(respond(before, ["a", "b", "c"])).toBe("=a =b =c");
  expect(respond(before, ["a", "B", "c"])).toBe("=a +B =c");
  expect(respond(before, ["x", "a", "B", "c"])).toBe("+x =a =B =c");
  expect(respond(before, ["a", "B", "y", "c"])).toBe("=a =B +y =c");
  expect(respond(before, ["a", "c"])).toBe("=a +c");
  expect(respond(before, ["a", "c"])).toBe("=a =c");
});

test("of what comes in another order all but some are known", () => {
  const before = new JudgedBefore();
  const names = Array.from({ length: 100 }, (_, i) => `name-${i}`);
  respond(before, names);
  const others = names.map((_, i) => names[(i * 37) % 100] ?? "");
  const seen = respond(before, others);
  expect(seen.replaceAll(/[+=]/g, "")).toBe(others.join(" "));
  expect(seen.split("+")).toHaveLength(17);
});

test("what did not come in the last response is forgotten", () => {
  const before = new JudgedBefore();
  respond(before, ["kept", "gone"]);
  expect(respond(before, ["kept", "other"])).toBe("=kept +other");
  expect(respond(before, ["kept", "gone"])).toBe("=kept +gone");
});
