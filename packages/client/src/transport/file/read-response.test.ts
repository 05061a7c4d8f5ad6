import { createEnvoyApi } from "@xdskit/envoy-api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatOf, readResponse } from "./read-response.ts";

const api = createEnvoyApi();

test.each([
  ["cds.yaml", "a: [", /line 1, column \d+: expected YAML/],
  ["cds.yaml", "a: 1\na: 2\n", /line 2, column 1: expected each key once/],
  ["cds.yaml", "a: 1\n---\nb: 2\n", /expected one document/],
  ["cds.yaml", "# nothing\n", /got nothing/],
  ["cds.yaml", "resources: 7\n", /resources: expected/],
  ["cds.yaml", "*none", /./],
  ["cds.yaml", `a: ${"[".repeat(100_000)}`, /levels of nesting/],
  ["cds.yaml", "- ".repeat(100_000), /levels of nesting/],
  ["cds.yaml", Array.from({ length: 300 }, (_, i) => `${" ".repeat(i)}a:\n`).join(""), /levels of nesting/],
  ["cds.pb", Buffer.from([0x0a, 0x05, 0x31]), /expected an encoded DiscoveryResponse/],
  ["cds.pb", "", /empty file/],
  ["cds.pb_text", "resources {", /line \d+, column \d+/],
  ["cds.json", '{"resources": [', /the end is missing/],
  ["cds.json", "", /empty file/],
])("C-FS-06 %s that cannot be read", (name, content, problem) => {
  expect(readResponse(Buffer.from(content), formatOf(name), api)).toEqual({
    problem: expect.stringMatching(problem),
  });
});

test.each(["binary", "text", "yaml", "json"] as const)("any bytes as %s", (format) => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: fc.constantFrom(..."{}[]:-?&*!|>'\"%#\n\t ,.ab01@<~") }).map((one) => Buffer.from(one)),
    fc.json().map((one) => Buffer.from(one)),
  );
  fc.assert(
    fc.property(anything, (bytes) => {
      const read = readResponse(bytes, format, api);
      return "bytes" in read || read.problem.length > 0;
    }),
    { numRuns: 1_000 },
  );
});

test("large integers of YAML keep their digits", () => {
  const max = "18446744073709551615";
  const wrapper = 'resources:\n  - "@type": type.googleapis.com/google.protobuf.UInt64Value\n    value: ';
  const read = (text: string): unknown => readResponse(Buffer.from(text), "yaml", api);
  expect(read(`${wrapper}${max}\n`)).toEqual(read(`${wrapper}"${max}"\n`));
  expect(read(`${wrapper}${max}\n`)).toHaveProperty("bytes");
});
