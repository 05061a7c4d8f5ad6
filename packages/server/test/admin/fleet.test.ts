import fc from "fast-check";
import { expect, test } from "vitest";
import { NODE_CONDITIONS, type NodeCondition } from "../../src/observe/node-condition.ts";
import { CDS, EDS, node, RealMachine, resource } from "./real-machine.ts";

/** The condition of every node, from the state of the protocol. */
function conditionsIn(world: RealMachine): ReadonlyMap<string, NodeCondition> {
  const found = new Map<string, NodeCondition>();
  for (const { node: who, types } of world.machine.streams()) {
    if (who === undefined) continue;
    const of = types.map(({ nacked, wait, pending }): NodeCondition => {
      if (nacked !== undefined) return "nacked";
      if (wait !== undefined) return "waiting";
      return pending.length > 0 ? "pending" : "acked";
    });
    const worst = NODE_CONDITIONS.find((one) => [...of, found.get(who.id)].includes(one)) ?? "acked";
    found.set(who.id, worst);
  }
  return found;
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant("open" as const),
    id: fc.nat(3),
    cluster: fc.constantFrom("c", "canary+frankfurt", "+frankfurt"),
  }),
  fc.record({ kind: fc.constant("close" as const), stream: fc.nat(8) }),
  fc.record({ kind: fc.constant("commit" as const), name: fc.nat(2), type: fc.constantFrom(CDS, EDS) }),
  fc.record({ kind: fc.constant("ack" as const), sent: fc.nat(5) }),
  fc.record({ kind: fc.constant("nack" as const), sent: fc.nat(5) }),
);

test("the fleet counts each node once, by the worst of its types, as the streams say", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = new RealMachine();
      const open: number[] = [];
      let version = 0;
      for (const one of steps) {
        if (one.kind === "open") {
          const stream = world.open();
          open.push(stream);
          const who = node(`n${one.id}`, { cluster: one.cluster });
          world.receive(stream, { kind: "delta", type: CDS, node: who });
          world.receive(stream, { kind: "delta", type: EDS, subscribe: ["r0", "r1"] });
        } else if (one.kind === "close") {
          const [stream] = open.splice(one.stream, 1);
          if (stream !== undefined) world.close(stream);
        } else if (one.kind === "commit") {
          version++;
          world.commit([{ layer: "base", puts: [resource(one.type, `r${one.name}`, `${version}`)] }]);
        } else {
          const sent = world.sent.at(-1 - one.sent);
          if (sent === undefined || !open.includes(sent.stream)) continue;
          const error = one.kind === "nack" ? { code: 3, message: "no" } : undefined;
          world.receive(sent.stream, { kind: "delta", type: sent.body.type, nonce: sent.nonce, error });
        }
        const wanted = conditionsIn(world);
        const { fleet } = world;
        expect(new Map(fleet.ids.map((id) => [id, fleet.node(id)?.condition]))).toEqual(wanted);
        const nodes = new Set([...world.machine.streams()].map(({ node: who }) => who));
        expect(fleet.ids.filter((id) => !nodes.has(fleet.node(id)?.node))).toEqual([]);
        const counts = { nacked: 0, waiting: 0, pending: 0, acked: 0 };
        for (const condition of wanted.values()) counts[condition]++;
        expect([fleet.size, fleet.conditions]).toEqual([wanted.size, counts]);
        const groups = new Map<string, NodeCondition[]>();
        for (const id of fleet.ids) {
          for (const layer of fleet.node(id)?.layers ?? []) {
            const [, group] = /^group\/(.*)$/.exec(layer) ?? [];
            if (group !== undefined) groups.set(group, [...(groups.get(group) ?? []), wanted.get(id) ?? "acked"]);
          }
        }
        const counted = [...fleet.groups].map(([name, { conditions }]) => [
          name,
          NODE_CONDITIONS.flatMap((one) => Array.from({ length: conditions[one] }, () => one)),
        ]);
        const inOrder = [...groups].map(([name, all]) => [
          name,
          all.toSorted((x, y) => NODE_CONDITIONS.indexOf(x) - NODE_CONDITIONS.indexOf(y)),
        ]);
        expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(inOrder));
        const sum = [...fleet.clusters.values()].reduce((total, group) => total + group.total, 0);
        expect([sum, [...fleet.builds.values()].map(({ total }) => total)]).toEqual([
          wanted.size,
          wanted.size === 0 ? [] : [wanted.size],
        ]);
      }
      world.metrics.close();
    }),
    { numRuns: 150 },
  );
});
