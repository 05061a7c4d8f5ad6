import { expect, test } from "vitest";
import { node } from "../../../test/support/conversation.ts";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import type { Body, Segment } from "../../message/body.ts";
import { Conversion, needsStructs } from "./conversion.ts";

const segment = (...labels: readonly string[]): Segment => ({
  puts: labels.map((label) => cluster(label, label)),
  removed: [],
  missing: [],
});
const body = (...segments: readonly Segment[]): Body => ({ variant: "delta", type: CLUSTER, version: "v", segments });

test("S-MSC-04: bodies are converted for who announces that it needs it", () => {
  const announced = ["x", "envoy.config.require-any-fields-contain-struct"];
  expect([node("n"), { ...node("n"), clientFeatures: announced }].map(needsStructs)).toEqual([false, true]);
});

test("S-MSC-04: what changes is converted once, what does not is the same object, and versions stay", () => {
  const converted: string[] = [];
  const conversion = new Conversion(({ name, bytes }) => {
    converted.push(name);
    return name.startsWith("typed") ? new Uint8Array([1]) : bytes;
  });
  const [mixed, plain] = [segment("typed", "plain"), segment("other")];
  const given = body(mixed, plain);
  const made = conversion.body(given);
  expect(made).toEqual(
    body(
      { ...mixed, puts: [{ ...cluster("typed", "typed"), bytes: new Uint8Array([1]) }, cluster("plain", "plain")] },
      plain,
    ),
  );
  expect([made.segments[1] === plain, made.segments[0]?.puts[1] === mixed.puts[1]]).toEqual([true, true]);
  expect([conversion.body(given) === made, conversion.body(made) === made]).toEqual([true, true]);
  const untouched = body(plain);
  expect([conversion.body(untouched) === untouched, converted]).toEqual([true, ["typed", "plain", "other"]]);
});
