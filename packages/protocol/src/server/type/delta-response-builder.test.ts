import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/conversation.ts";
import { ENDPOINTS, resource, traits } from "../../../test/support/resources.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { dialectFor } from "../../dialect/presets.ts";
import { termsOf } from "../../resource/resource-name.ts";
import { opaqueTraits } from "../../resource/type-traits.ts";
import { locatedTerm } from "../../resource/variant-name.ts";
import { DeltaResponseBuilder } from "./delta-response-builder.ts";

type Missing = Dialect["deltaMissing"];

const a = resource(ENDPOINTS, "a", "1");
const [prefix = ""] = termsOf(["foo/*"], true);
const wildcard = locatedTerm("*", new Map([["env", "x"]]));

function builder(deltaMissing: Missing): DeltaResponseBuilder {
  const dialect = { ...dialectFor(node("n")), deltaMissing };
  return new DeltaResponseBuilder(dialect, traits(ENDPOINTS) ?? opaqueTraits(ENDPOINTS));
}

describe.each([
  ["removed", { otherwise: "removed" }, { removed: ["x", "foo/*"], missing: [] }],
  ["empty resources", { otherwise: "removed", eds: "empty-resource" }, { removed: [], missing: ["x", "foo/*"] }],
  ["nothing", { otherwise: "none" }, { removed: [], missing: [] }],
] as const)("S-NEX-06: terms without a resource are told as %s", (_, says, expected) => {
  test("under the name that the client sent, and none for everything that matches parameters", () => {
    expect(builder(says).segmentOf([a], ["x", wildcard, prefix])).toEqual({ puts: [a], ...expected });
  });

  test("beside what was collected, and are noted as answers", () => {
    const news = builder(says);
    for (const term of ["x", wildcard, prefix, "x"]) news.miss(term);
    expect([news.segment([a]), [...news.asked]]).toEqual([{ puts: [a], ...expected }, expected.removed]);
  });
});

describe("B-RES-10: each name", () => {
  test("is in an answer once", () => {
    const news = builder({ otherwise: "empty-resource" });
    news.put(a);
    news.put(resource(ENDPOINTS, "a", "2"));
    news.removeAsAsked("gone");
    news.removed.add("deleted");
    news.removed.add("x");
    news.miss("x");
    expect([...news.puts.values()]).toEqual([resource(ENDPOINTS, "a", "2")]);
    expect(news.segment([])).toEqual({ puts: [], removed: ["gone", "deleted"], missing: ["x"] });
    expect([...news.asked]).toEqual(["gone"]);
  });
});
