import { describe, expect, test } from "vitest";
import { Mesh } from "./support/mesh.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "./support/resources.ts";

const types = [CLUSTER, ENDPOINTS, LISTENER, ROUTE];
const orders = ordersOf(types);
const variants = ["delta", "sotw"] as const;
/** The one route goes to the one Cluster, `a`; or to `b`, and `a` is gone. */
const toA = [0, 0] as const;
const toB = [2, 1] as const;

/** A client in sync whose server is started anew with a configuration. */
function restarted(variant: (typeof variants)[number], configuration: readonly [number, number]): Mesh {
  const mesh = new Mesh(variant, false, { makeBeforeBreak: true });
  mesh.settle();
  mesh.step(["restart", ...configuration]);
  return mesh;
}

describe.each(variants)(
  "a client with a stream for each type, in %s, whose streams come back one by one",
  (variant) => {
    test.each(orders.map((order) => [order.map(shortNameOf).join(), order] as const))(
      "S-ORD-05 S-REC-09 is protected against what changed meanwhile and what changes then (%s)",
      (_, order) => {
        const within = restarted(variant, toB);
        for (const open of growing(order)) within.exchange(open);
        within.settle();
        expect([within.envoy.lost, within.envoy.holdings]).toEqual([[], within.target]);
        const slow = restarted(variant, toB);
        returnSlowly(slow, order);
        expect([slow.envoy.lost, slow.envoy.holdings]).toEqual([[], slow.target]);
        const later = restarted(variant, toA);
        returnSlowly(later, order);
        later.step(["change", ...toB]);
        later.settle();
        expect([later.envoy.lost, later.envoy.holdings]).toEqual([[], later.target]);
      },
    );
  },
);

/** Seconds lie between the streams. */
function returnSlowly(mesh: Mesh, order: readonly string[]): void {
  for (const open of growing(order)) {
    mesh.exchange(open);
    mesh.passSecond();
  }
  mesh.settle();
}

test("all orders are tried", () => {
  expect(new Set(orders.map((order) => order.join())).size).toBe(24);
});

function ordersOf<T>(all: readonly T[]): readonly (readonly T[])[] {
  if (all.length === 0) return [[]];
  return all.flatMap((one) => ordersOf(all.filter((other) => other !== one)).map((rest) => [one, ...rest]));
}

function growing<T>(list: readonly T[]): readonly (readonly T[])[] {
  return list.map((_, i) => list.slice(0, i + 1));
}

function shortNameOf(type: string): string {
  return type.split(".").at(-1) ?? type;
}
