import { expect, test } from "vitest";
import { parseAlternativeNames } from "./peer.ts";

test.each([
  ["", []],
  [
    "DNS:a.example, URI:spiffe://b/c, IP Address:10.0.0.1",
    ["DNS a.example", "URI spiffe://b/c", "IP Address 10.0.0.1"],
  ],
  ['DNS:"evil.example, DNS:good.example"', ["DNS evil.example, DNS:good.example"]],
  ['URI:"http://a/?x=\\"1\\", y", DNS:b', ['URI http://a/?x="1", y', "DNS b"]],
])("reads the alternative names %s", (text, names) => {
  expect(parseAlternativeNames(text).map(({ kind, name }) => `${kind} ${name}`)).toEqual(names);
});
