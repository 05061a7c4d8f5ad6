import { expect, test } from "vitest";
import { api, typed, url, V3 } from "./support/api.ts";

const CLUSTER = url(V3.cluster);
const A = "0a0161";

/** Clusters, and what is said of them with rules and without; undefined: nothing. */
const clusters: readonly (readonly [what: string, bytes: string, byRules: string | undefined, bare?: string])[] = [
  ["a name", A, "a"],
  ["no name", "", undefined, ""],
  ["a length that is longer than it need be", "0a810061", "a"],
  ["a name that begins with a byte order mark", "0a04efbbbf61", undefined],
  ["a name that is not ASCII", "0a03e6a1a5", "桥"],
  ["a field that nobody knows", `${A}c03e01`, "a"],
  ["a group that nobody knows", `${A}c33ec43e`, undefined],
  ["a tag that is longer than any", `8a8080808000${A.slice(2)}`, undefined],
  ["a name that ends behind the message", "0a0261", undefined],
  ["a name that is no UTF-8", "0a01ff", undefined],
  ["two names", `${A}0a0162`, undefined],
  ["two members of a oneof", `${A}1003b20200`, undefined],
  ["a type that is none", `${A}1063`, undefined, "a"],
  ["a timeout of no time", `${A}2200`, undefined, "a"],
  ["a timeout", `${A}22021001`, "a"],
  ["metadata with a struct", `${A}ca010d0a0b0a017812060a040a017912`, undefined],
];

test.each(clusters)("of %s is said what decoding says", (_, text, byRules, bare = byRules) => {
  const bytes = Buffer.from(text, "hex");
  expect([api.soundName(CLUSTER, bytes), api.soundName(CLUSTER, bytes, false)]).toEqual([byRules, bare]);
  const { input } = api.readEncodedResource(CLUSTER, bytes, bare === "" ? { name: "" } : {});
  if (bare !== undefined && bare !== "") expect(input?.name).toBe(bare);
  if (byRules !== undefined) expect(api.validate(CLUSTER, bytes)).toEqual([]);
});

test("what stands in an Any is looked at, as far as its type is known", () => {
  const holding = (config: object): string | undefined => {
    const { input } = api.readResource(typed(V3.extension, { name: "x", typedConfig: config }));
    return input && api.soundName(input.type, input.bytes);
  };
  expect(holding(typed(V3.cluster, { name: "a" }))).toBe("x");
  expect(holding(typed(V3.cluster, {}))).toBeUndefined();
  expect(holding({ "@type": "type.googleapis.com/private.Thing", value: "AAEC" })).toBe("x");
});

test("of what has more to it than its bytes say nothing is said", () => {
  const bytes = Buffer.from(A, "hex");
  const types = [V3.wrapper, "xds.core.v3.ResourceLocator", "envoy.api.v2.Cluster", V3.virtualHost, "private.Thing"];
  expect(types.map((type) => api.soundName(url(type), bytes))).toEqual(types.map(() => undefined));
});

test("a resource whose message has no name is sound without one", () => {
  expect(api.soundName(url(V3.lbEndpoint), new Uint8Array())).toBe("");
});
