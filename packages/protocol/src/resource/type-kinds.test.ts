import { expect, test } from "vitest";
import { sendingRank, type TypeKind } from "./type-kinds.ts";
import { opaqueTraits } from "./type-traits.ts";
import { formatTypeUrl } from "./type-url.ts";

test("types leave in an order in which whatever is used comes before its users", () => {
  const kinds: TypeKind[] = [
    "opaque",
    "vhds",
    "ecds",
    "rds",
    "srds",
    "lds",
    "sds",
    "eds",
    "cds",
    "leds",
    "trds",
    "rtds",
  ];
  expect(kinds.sort((a, b) => sendingRank(a) - sendingRank(b))).toEqual([
    "rtds",
    "cds",
    "eds",
    "leds",
    "sds",
    "lds",
    "srds",
    "rds",
    "trds",
    "ecds",
    "vhds",
    "opaque",
  ]);
});

test("a type that nobody described is partial, owes nothing and comes last", () => {
  const type = formatTypeUrl("acme.Thing");
  expect(opaqueTraits(type)).toEqual({ type, kind: "opaque", isFullState: false, owes: [] });
});
