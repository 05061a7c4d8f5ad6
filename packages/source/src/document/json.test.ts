import fc from "fast-check";
import { expect, test } from "vitest";
import { readJson } from "./json.ts";
import { Places } from "./places.ts";

test("reads what JSON.parse reads, as JSON.parse does", () => {
  const property = fc.property(fc.json(), fc.constantFrom(undefined, 2), (text, indent) => {
    const value: unknown = JSON.parse(text);
    const { documents, troubles } = readJson(JSON.stringify(value, null, indent));
    expect(troubles).toEqual([]);
    expect(documents.map((document) => document.value)).toEqual([exactly(value)]);
  });
  fc.assert(property);
});

/** What a large integer is read as. */
function exactly(value: unknown): unknown {
  const text = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "number" && Number.isInteger(inner) && !Number.isSafeInteger(inner) && Math.abs(inner) < 1e21
      ? JSON.stringify(inner)
      : inner,
  );
  return JSON.parse(text);
}

test("refuses what JSON.parse refuses, and the other way round", () => {
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.integer({ min: 0, max: 2 }),
    insert: fc.string({ unit: fc.constantFrom(...'{}[],:"\\0123e.-+ tn\n/u'), maxLength: 2 }),
  });
  let refused = 0;
  const property = fc.property(fc.json(), edit, (json, { at, remove, insert }) => {
    const from = at % (json.length + 1);
    const text = json.slice(0, from) + insert + json.slice(from + remove);
    const isRefused = readJson(text).troubles.some(({ code }) => code === "JSON_SYNTAX");
    if (isRefused) refused++;
    expect({ text, isRefused }).toEqual({ text, isRefused: !isJson(text) });
  });
  fc.assert(property, { numRuns: 2000 });
  expect(refused).toBeGreaterThan(200);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("knows where everything is", () => {
  const text = '{ "a": [1, {"b": "c"}], "d": {} }';
  const places = new Places();
  const [document] = readJson(text, places).documents;
  const at = (path: (string | number)[], part: "key" | "value"): string =>
    text.slice(places.find(document?.value, document?.offset ?? -1, path, part)).slice(0, 4);
  expect(at(["a", 1, "b"], "value")).toBe('"c"}');
  expect(at(["a", 1, "b"], "key")).toBe('"b":');
  expect(at(["a", 1], "key")).toBe('{"b"'); // an item has no key
  expect(at(["a", 1, "missing", "x"], "value")).toBe('{"b"');
  expect(at(["d"], "value")).toBe("{} }");
});
