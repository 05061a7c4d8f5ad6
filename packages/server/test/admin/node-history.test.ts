import { expect, test } from "vitest";
import { CDS, node, RealMachine, resource } from "./real-machine.ts";

test("the history of a node has the numbers that it had and NACKed, also of a node that is gone", async () => {
  await using world = Object.assign(new RealMachine(), {
    async [Symbol.asyncDispose]() {
      await world.admin.close();
      world.metrics.close();
    },
  });
  const origin = `http://127.0.0.1:${(await world.admin.start())?.port}`;
  const stream = world.open();
  world.deliveries.onNacked((nacked) => world.nodePast.nacked(nacked));
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  world.receive(stream, { kind: "delta", type: CDS, node: node("n/1") });
  const about = { kind: "delta", type: CDS } as const;
  world.receive(stream, { ...about, nonce: world.lastNonce });
  await world.nodePast.sweep();
  world.now += 60_000;
  world.commit([{ layer: "base", puts: [resource(CDS, "a", "2")] }]);
  world.receive(stream, { ...about, nonce: world.lastNonce, error: { code: 3, message: "unknown field\u0007" } });
  await world.nodePast.sweep();
  world.close(stream);
  const ask = async (query = "") => (await fetch(`${origin}/api/v1/nodes/n%2F1/history${query}`)).json();
  const nacked = { type: CDS, shortName: "cds", reason: "unknown field\\u{7}" };
  const had = { number: 1, time: "2026-01-01T00:00:00.000Z" };
  const items = [{ number: 2, time: "2026-01-01T00:01:00.000Z", nacked }, had];
  expect(await ask()).toEqual({ node: "n/1", items, total: 2 });
  expect(await ask("?limit=1")).toEqual({ node: "n/1", items: items.slice(0, 1), total: 2, next: 1 });
  expect(await ask("?at=2026-01-01T00:02:00Z")).toEqual({ node: "n/1", items: [had], total: 1 });
  expect(await ask("?at=2025-01-01T00:02:00Z")).toEqual({ node: "n/1", items: [], total: 0 });
});
