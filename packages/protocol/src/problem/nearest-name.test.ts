import { describe, expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";

const NAMES = [
  ...["name", "connect_timeout", "lb_policy", "STATIC", "envoy.config.cluster.v3.Cluster"],
  ...["listen", "admin", "limits.max-streams", "resources", "static_resources"],
];

describe("the nearest name", () => {
  it.each<[string, string | undefined]>([
    ["nam", "name"],
    ["connectTimeout", "connect_timeout"],
    ["connect-timeot", "connect_timeout"],
    ["lb_polciy", "lb_policy"],
    ["static", "STATIC"],
    ["envoy.config.cluster.v2.Cluster", "envoy.config.cluster.v3.Cluster"],
    ["lisen", "listen"],
    ["lsiten", "listen"],
    ["Listen", "listen"],
    ["limits.maxStream", "limits.max-streams"],
    ["resource", "resources"],
    ["staticResources", "static_resources"],
    ["something", undefined],
    ["x", undefined],
    ["zzzzzz", undefined],
    ["", undefined],
    ["n".repeat(100_000), undefined],
  ])("of %s is %s", (text, expected) => {
    expect(nearestName(text, NAMES)).toBe(expected);
  });

  it("is the first of those that are as near", () => {
    expect(nearestName("b_one", ["a_one", "c_one"])).toBe("a_one");
  });

  it("counts two swapped letters as one mistake", () => {
    expect([nearestName("ba", ["ab"]), nearestName("bca", ["abc"])]).toEqual(["ab", undefined]);
  });
});
