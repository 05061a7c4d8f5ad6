import { beforeEach, describe, expect, test } from "vitest";
import { cluster } from "../../test/support/layers.ts";
import type { Constraints } from "../resource/constraints.ts";
import type { Resource } from "../resource/resource.ts";
import { noneFits } from "../resource/resource-error.ts";
import { variantKey } from "../resource/variant-name.ts";
import { addSums } from "../resource/version.ts";
import { Variants } from "./variants.ts";

function variant(name: string, constraints: Constraints, onDemand = false): Resource {
  return {
    ...cluster(name, JSON.stringify(constraints)),
    ...{ name: variantKey({ name, constraints }), onDemand: true },
    variant: { name, constraints, onDemand },
  };
}

const inEnv = (value: string): Constraints => ({ kind: "value", key: "env", value });
const [x, y] = [variant("a", inEnv("x")), variant("a", inEnv("y"))];
const other = variant("b", inEnv("x"));

let variants: Variants;

beforeEach(() => {
  variants = new Variants();
});

describe("S-LOC-03: the variants of a name", () => {
  test("are found by their key and by parameters that they match", () => {
    for (const one of [x, y, other, cluster("a", "1")]) variants.add(one);
    expect([[...variants.of("a")], [...variants.of("none")]]).toEqual([
      [
        [x.name, x],
        [y.name, y],
      ],
      [],
    ]);
    const fitting = (value: string): Resource | undefined => variants.fitting("a", new Map([["env", value]]));
    expect([fitting("x"), fitting("y"), fitting("z"), variants.fitting("none", new Map())]).toEqual([
      ...[x, y, undefined, undefined],
    ]);
  });

  test("are found without a look at the others, however many there are", () => {
    let looks = 0;
    const values = Array.from({ length: 100 }, (_, index) => `${index}`);
    const many = values.map((value) =>
      variant("a", {
        key: "env",
        value,
        get kind(): "value" {
          looks++;
          return "value";
        },
      }),
    );
    const rest = variant("a", { kind: "not", of: { kind: "any", of: values.map(inEnv) } });
    const either = variant("a", { kind: "any", of: [inEnv("p"), inEnv("q")] });
    for (const one of [...many, rest, either]) variants.add(one);
    looks = 0;
    const found = [...values, "p", "q", "z"].map((value) => variants.fitting("a", new Map([["env", value]])));
    expect(found).toEqual([...many, either, either, rest]);
    expect(looks).toBe(many.length);
    for (const one of many.slice(0, 50)) variants.remove(one);
    expect(["0", "99"].map((value) => variants.fitting("a", new Map([["env", value]])))).toEqual([
      undefined,
      many.at(-1),
    ]);
  });

  test("are gone when they are removed, and their names are touched until that is taken", () => {
    for (const one of [x, y, other]) variants.add(one);
    expect([variants.takeTouched(), variants.takeTouched()]).toEqual([["a", "b"], []]);
    variants.remove(cluster("a", "1"));
    variants.remove(x);
    expect([[...variants.of("a").keys()], variants.takeTouched()]).toEqual([[y.name], ["a"]]);
    variants.remove(y);
    variants.remove(y);
    expect([[...variants.of("a").keys()], variants.standIn("a"), variants.takeTouched()]).toEqual([
      ...[[], undefined, ["a"]],
    ]);
  });
});

describe("S-LOC-08: clients without parameters have, under the shared name,", () => {
  test("the variant that matches them, with the sum of all", () => {
    const plain = variant("a", { kind: "not", of: { kind: "exists", key: "env" } });
    const hidden = variant("b", { kind: "not", of: { kind: "exists", key: "env" } }, true);
    for (const one of [x, plain, hidden]) variants.add(one);
    const { variant: _, ...copied } = plain;
    expect(variants.standIn("a")).toEqual({
      ...copied,
      ...{ name: "a", onDemand: false, sum: addSums(x.sum, plain.sum), isStandIn: true },
    });
    expect(variants.standIn("b")).toMatchObject({ name: "b", onDemand: true, sum: hidden.sum });
  });

  test("an error if none matches, which no wildcard covers", () => {
    for (const one of [x, y]) variants.add(one);
    expect(variants.standIn("a")).toEqual({
      ...{ type: x.type, name: "a", onDemand: true, references: [], version: "", sum: addSums(x.sum, y.sum) },
      ...{ error: noneFits, isStandIn: true, bytes: new Uint8Array(0), aliases: [], ttlMs: undefined },
      ...{ doNotCache: false, metadata: undefined },
    });
    expect(variants.standIn("none")).toBe(undefined);
  });
});
