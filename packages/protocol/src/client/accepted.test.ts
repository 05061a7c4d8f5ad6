import { expect, test } from "vitest";
import { ENDPOINTS } from "../../test/support/resources.ts";
import { locatedTerm, variantKey } from "../resource/variant-name.ts";
import { Accepted, type AcceptedEntry } from "./accepted.ts";
import type { HeldResource } from "./held.ts";
import { Interest, type Term } from "./interest.ts";

/** An entry under which something is held, or only known why not. */
function entryOf(name: string, aliases: readonly string[] = [], { isHeld = true } = {}): AcceptedEntry {
  const bytes = new Uint8Array();
  const held: HeldResource = { type: ENDPOINTS, name, aliases, version: "1", bytes, ttlMs: undefined };
  return {
    name,
    aliases,
    resource: isHeld ? held : undefined,
    status: isHeld ? "acked" : "nacked",
    failure: undefined,
    acceptedAtMs: 0,
    server: 0,
  };
}

function term(text: string): Term {
  return new Interest().start(1, text, false).term;
}

test("C-DLT-15 an entry is known by its aliases as long as it has them", () => {
  const accepted = new Accepted();
  const first = entryOf("a", ["x", "y"]);
  accepted.set(first);
  accepted.set(entryOf("b", ["x"]));
  expect([...accepted.known("x")]).toEqual([first, entryOf("b", ["x"])]);
  const second = entryOf("a", ["y"]);
  accepted.set(second);
  expect([...accepted.known("x")]).toEqual([entryOf("b", ["x"])]);
  expect([...accepted.known("y")]).toEqual([second]);
  accepted.delete("a");
  accepted.delete("none");
  expect([...accepted.known("y")]).toEqual([]);
  expect([...accepted.entries()]).toEqual([entryOf("b", ["x"])]);
});

test("C-DLT-15 an alias that is the name itself makes an entry answer once, and leaves the other aliases", () => {
  const accepted = new Accepted();
  const entry = entryOf("a", ["a", "x"]);
  accepted.set(entry);
  expect([...accepted.answering(term("a"))]).toEqual([entry]);
  expect([...accepted.answering(term("x"))]).toEqual([entry]);
  expect([...accepted.known("a")]).toEqual([]);
});

test("B-LOC-04 variants are known by the name that they share, and answer to the parameters that they are for", () => {
  const accepted = new Accepted();
  const variants = ["prod", "test"].map((value) =>
    entryOf(variantKey({ name: "a", constraints: { kind: "value", key: "env", value } })),
  );
  for (const variant of variants) accepted.set(variant);
  expect([...accepted.known("a")]).toEqual(variants);
  expect([...accepted.answering(term(locatedTerm("a", new Map([["env", "test"]]))))]).toEqual(variants.slice(1));
  expect([...accepted.answering(term("*"))]).toEqual([]);
});

test("what was refused and never held is known, but not held", () => {
  const accepted = new Accepted();
  accepted.set(entryOf("a", [], { isHeld: false }));
  expect([...accepted.answering(term("a"))]).toHaveLength(1);
  expect(accepted.holds(term("a"))).toBe(false);
  accepted.set(entryOf("a"));
  expect(accepted.holds(term("a"))).toBe(true);
});
