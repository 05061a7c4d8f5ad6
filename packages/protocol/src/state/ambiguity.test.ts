import { describe, expect, test } from "vitest";
import { cluster, WrittenLayer } from "../../test/support/layers.ts";
import { CLUSTER, ENDPOINTS, resource } from "../../test/support/resources.ts";
import { type Constraints, describeConstraints } from "../resource/constraints.ts";
import type { Resource } from "../resource/resource.ts";
import { ambiguitiesIn, findAmbiguity } from "./ambiguity.ts";
import { finish } from "./steps.ts";
import type { LayerChange } from "./transaction.ts";

const env = (value: string): Constraints => ({ kind: "value", key: "env", value });
const zone = (value: string): Constraints => ({ kind: "value", key: "zone", value });
const of = (constraints: Constraints, name = "a", type = CLUSTER): Resource =>
  resource(type, name, JSON.stringify(constraints), { constraints });
const overlapping = `expected constraints of which no client meets two, got ${describeConstraints(env("p"))}; ${describeConstraints({ kind: "exists", key: "env" })}`;
const needless =
  "expected constraints on every resource of a name that several have, got one without: it is for everybody";

describe("S-LOC-08: resources of one name in one layer", () => {
  test("may be met by one client each, and are told with the first two that are not", () => {
    const [p, t, any] = [of(env("p")), of(env("t")), of({ kind: "exists", key: "env" })];
    expect([findAmbiguity([]), findAmbiguity([p]), findAmbiguity([p, t])]).toEqual([undefined, undefined, undefined]);
    expect(findAmbiguity([p, t, any])).toEqual({ first: p, second: any, message: overlapping });
  });

  test("have constraints, each of them", () => {
    const [plain, p] = [cluster("a", "1"), of(env("p"))];
    expect([findAmbiguity([plain, p])?.message, findAmbiguity([p, plain])?.message]).toEqual([needless, needless]);
  });

  test("have constraints on the same parameters", () => {
    const both: Constraints = { kind: "all", of: [env("p"), zone("x")] };
    const messages = [both, { kind: "any", of: [] } satisfies Constraints].map(
      (other) => findAmbiguity([of(env("t")), of(other)])?.message,
    );
    expect(messages).toEqual([
      'expected constraints on the same parameters, got "env" and "env", "zone"',
      'expected constraints on the same parameters, got "env" and none',
    ]);
  });
});

describe("S-LOC-08: a transaction is looked through for such resources", () => {
  const told = (name: string, message: string): string =>
    `envoy.config.cluster.v3.Cluster "${name}" in layer base: ${message}`;
  const base = new WrittenLayer("base", [of(env("p"), "held"), cluster("plain", "1")]);
  const found = (...changes: readonly Omit<LayerChange, "layer">[]): readonly string[] =>
    finish(
      ambiguitiesIn({ changes: changes.map((change) => ({ layer: "base", ...change })) }, (name) =>
        name === "base" ? base : undefined,
      ),
    );

  test("beside those that the layer has", () => {
    expect(found({ puts: [of({ kind: "exists", key: "env" }, "held")] })).toEqual([told("held", overlapping)]);
    expect(found({ puts: [of(env("t"), "held")] })).toEqual([]);
    expect(found({ puts: [of(env("p"), "plain")] })).toEqual([told("plain", needless)]);
    expect(found({ puts: [cluster("held", "1")] })).toEqual([told("held", needless)]);
    expect(found({ puts: [cluster("plain", "2"), cluster("new", "1")] })).toEqual([]);
  });

  test("without those that it deletes, in whichever change", () => {
    const any = of({ kind: "exists", key: "env" }, "held");
    const deletes = [{ type: CLUSTER, name: "held", constraints: env("p") }];
    expect([
      found({ deletes }, { puts: [any] }),
      found({ deletes: [{ type: CLUSTER, name: "plain" }] }, { puts: [of(env("p"), "plain")] }),
    ]).toEqual([[], []]);
    expect(found({ puts: [any] }, { deletes: [{ type: CLUSTER, name: "held" }] })).toEqual([told("held", overlapping)]);
  });

  test("in each layer and each type by itself", () => {
    const [p, any] = [env("p"), { kind: "exists", key: "env" } as const];
    const changes = [
      { layer: "base", puts: [of(p)] },
      { layer: "other", puts: [of(any)] },
      { layer: "base", puts: [of(any, "a", ENDPOINTS)] },
    ];
    expect(finish(ambiguitiesIn({ changes }, () => undefined))).toEqual([]);
    expect(found({ puts: [of(p)] }, { puts: [of(any)] })).toEqual([told("a", overlapping)]);
  });
});
