import { expect, test } from "vitest";
import { api, typed, url, V3 } from "./support/api.ts";

const CLUSTER = url(V3.cluster);
const A = "0a0161";

/** A cluster, and the name that is told of it, with rules and without. */
interface Told {
  readonly what: string;
  readonly bytes: string;
  readonly byRules: string | undefined;
  /** As by rules, unless given. */
  readonly bare?: string;
}

const clusters: readonly Told[] = [
  { what: "a name", bytes: A, byRules: "a" },
  { what: "no name", bytes: "", byRules: undefined, bare: "" },
  { what: "a length that is longer than it need be", bytes: "0a810061", byRules: "a" },
  { what: "a name that begins with a byte order mark", bytes: "0a04efbbbf61", byRules: undefined },
  { what: "a name that begins nearly so", bytes: "0a03efbb91", byRules: "\uFED1" },
  { what: "a name that is not ASCII", bytes: "0a03e6a1a5", byRules: "桥" },
  { what: "a field that nobody knows", bytes: `${A}c03e01`, byRules: "a" },
  { what: "a group that nobody knows", bytes: `${A}c33ec43e`, byRules: undefined },
  { what: "a tag that is longer than any", bytes: `8a8080808000${A.slice(2)}`, byRules: undefined },
  { what: "a name that ends behind the message", bytes: "0a0261", byRules: undefined },
  { what: "a name that is no UTF-8", bytes: "0a01ff", byRules: undefined },
  { what: "two names", bytes: `${A}0a0162`, byRules: undefined },
  { what: "two members of a oneof", bytes: `${A}1003b20200`, byRules: undefined },
  { what: "a type that is none", bytes: `${A}1063`, byRules: undefined, bare: "a" },
  { what: "a timeout of no time", bytes: `${A}2200`, byRules: undefined, bare: "a" },
  { what: "a timeout", bytes: `${A}22021001`, byRules: "a" },
  { what: "metadata with a struct", bytes: `${A}ca010e0a0c0a017812070a050a01791200`, byRules: "a" },
  { what: "metadata whose entry has no value", bytes: `${A}ca01050a030a0178`, byRules: undefined },
];

test.each(clusters)("of $what is said what decoding says", ({ bytes: text, byRules, bare = byRules }) => {
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
