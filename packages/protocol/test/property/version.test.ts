import type { Resource } from "@xdskit/protocol";
import { ServerMachine } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CLUSTER, digest, resource, traits } from "../support/resources.ts";
import { tries } from "../support/script.ts";

const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const layer = fc.constantFrom("top", "base");
const step = fc.record({ layer, name: fc.constantFrom("a", "b", "c", "d"), label: fc.constantFrom("1", "2", "gone") });

/** The version that a newcomer is told, after these steps in transactions of so many. */
function versionAfter(
  steps: readonly { layer: string; name: string; label: string }[],
  perTransaction: number,
): string {
  const machine = new ServerMachine({ digest, traits, nodeMapping: () => ["top", "base"] });
  const ask = (stream: number): string => {
    machine.on({
      kind: "stream-opened",
      stream,
      variant: "sotw",
      onlyType: CLUSTER,
      apiVersion: "v3",
      peer,
      connection: stream,
    });
    const request = { kind: "sotw", type: CLUSTER, node: undefined, nonce: undefined, error: undefined } as const;
    machine.on({ kind: "request-received", stream, request: { ...request, versionInfo: undefined, names: [] } });
    const sent = machine
      .next(1_000)
      .flatMap((effect) => (effect.kind === "send" && effect.stream === stream ? [effect.body.version] : []));
    return sent[0] ?? "";
  };
  let asked = 0;
  for (let i = 0; i < steps.length; i += perTransaction) {
    const changes = steps.slice(i, i + perTransaction).map(({ layer, name, label }) => {
      if (label === "gone") return { layer, deletes: [{ type: CLUSTER, name }] };
      const puts: Resource[] = [resource(CLUSTER, name, label)];
      return { layer, puts };
    });
    machine.on({ kind: "transaction-committed", transaction: { changes } });
    ask(++asked);
  }
  return ask(++asked);
}

test("equal content has an equal version, whatever the way it came about", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.integer({ min: 1, max: 7 }), (steps, perTransaction) => {
      const last = new Map(steps.map((one) => [`${one.layer}/${one.name}`, one]));
      const direct = [...last.values()].filter((one) => one.label !== "gone").reverse();
      expect(versionAfter(steps, perTransaction)).toBe(versionAfter(direct, 1_000));
    }),
    tries,
  );
});
