import { beforeEach, describe, expect, test } from "vitest";
import { cluster } from "../../test/support/layers.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource } from "../../test/support/resources.ts";
import { type AccessGrant, wholeGrant } from "../access/access-policy.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { GrantedLayer } from "./granted-layer.ts";
import { Layer, type TableRules } from "./layer.ts";

const rules: TableRules = { keepsBodies: () => false };
let asked: (readonly [string, TypeUrl])[];

/** Clusters that begin with an a, all endpoints, and nothing else. */
const grant: AccessGrant = {
  ...wholeGrant,
  ...{ key: "k", isWhole: false },
  visible: (layer, type) => {
    asked.push([layer, type]);
    if (type === ENDPOINTS) return "all";
    return type === CLUSTER ? (name) => name.startsWith("a") : "none";
  },
};

let whole: Layer;

beforeEach(() => {
  asked = [];
  whole = new Layer("base", rules);
  for (const one of [cluster("a", "1"), cluster("b", "1"), resource(ENDPOINTS, "b", "1"), resource(ROUTE, "a", "1")])
    whole.tableFor(one.type).put(one, 1);
});

describe("a layer that is visible in part", () => {
  test("has the names and types that are visible, and shares the tables of types that are visible as a whole", () => {
    whole.tableFor(CLUSTER).printVersion("v7");
    whole.tableFor(CLUSTER).markCanary(true);
    const granted = new GrantedLayer(whole, grant, rules, 3);
    expect([granted.name, granted.grantKey, granted.timedNames === whole.timedNames]).toEqual(["base", "k", true]);
    const clusters = granted.table(CLUSTER);
    expect([...(clusters?.resources.keys() ?? [])]).toEqual(["a"]);
    expect([clusters?.printedVersion, clusters?.isCanary, clusters?.changedAt]).toEqual(["v7", true, 3]);
    expect([granted.table(ENDPOINTS) === whole.table(ENDPOINTS), granted.table(ROUTE)]).toEqual([true, undefined]);
    expect([granted.table(LISTENER), [...granted.tables.keys()].sort()]).toEqual([
      ...[undefined, [CLUSTER, ENDPOINTS].sort()],
    ]);
    expect(asked.length).toBe(new Set(asked.map(([layer, type]) => `${layer} ${type}`)).size);
  });

  test("takes over the changes of what is visible only by some names", () => {
    const granted = new GrantedLayer(whole, grant, rules, 1);
    const constraints = { kind: "value", key: "env", value: "x" } as const;
    const all = (name: string): readonly (readonly [TypeUrl, string])[] =>
      [CLUSTER, ENDPOINTS, ROUTE].map((type) => [type, name]);
    const change = granted.changeOfPartial({
      layer: "base",
      puts: [
        cluster("a", "2"),
        cluster("b", "2"),
        resource(CLUSTER, "a", "2", { constraints }),
        resource(ENDPOINTS, "a", "2"),
      ],
      deletes: [
        { type: CLUSTER, name: "b" },
        { type: CLUSTER, name: "ab" },
        { type: CLUSTER, name: "a", constraints },
        { type: ENDPOINTS, name: "a" },
      ],
      typeVersions: new Map(all("v8")),
      canaries: new Map([CLUSTER, ENDPOINTS, ROUTE].map((type) => [type, true])),
    });
    expect(change).toEqual({
      layer: "base",
      puts: [cluster("a", "2"), resource(CLUSTER, "a", "2", { constraints })],
      deletes: [
        { type: CLUSTER, name: "ab" },
        { type: CLUSTER, name: "a", constraints },
      ],
      typeVersions: new Map([[CLUSTER, "v8"]]),
      canaries: new Map([[CLUSTER, true]]),
    });
    expect(granted.changeOfPartial({ layer: "base" })).toEqual({
      ...{ layer: "base", puts: [], deletes: [], typeVersions: new Map(), canaries: new Map() },
    });
  });
});
