import { get } from "node:http";
import { expect, test } from "vitest";
import type { StreamsAnswer } from "../../src/admin/answers/nodes.ts";
import { CDS, node, RealMachine, resource } from "./real-machine.ts";

const NODES = 10_000;

test("an answer for 10,000 nodes leaves room for everything else", async () => {
  const world = new RealMachine();
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  for (let i = 0; i < NODES; i++) {
    world.receive(world.open(), { kind: "delta", node: node(`n${i}`), subscribe: ["*"] });
  }
  const port = (await world.admin.start())?.port ?? 0;
  // Turns of the event loop between the first and the last stream that is looked at.
  let turns = 0;
  let isWalking = false;
  const count = (): void => {
    if (!isWalking) return;
    turns++;
    setImmediate(count);
  };
  const { streams } = world.view;
  Object.assign(world.view, {
    streams: function* () {
      isWalking = true;
      setImmediate(count);
      yield* streams();
      isWalking = false;
    },
  });
  const text = await read(port, "/api/v1/streams");
  await world.admin.close();
  world.metrics.close();

  const answer = JSON.parse(text) as StreamsAnswer;
  expect([answer.items.length, answer.total]).toEqual([NODES, NODES]);
  expect(turns).toBeGreaterThan(10);
});

test("a reader that leaves ends the walk", async () => {
  const world = new RealMachine();
  for (let i = 0; i < 3000; i++) world.receive(world.open(), { kind: "delta", node: node(`n${i}`) });
  const port = (await world.admin.start())?.port ?? 0;
  let walked = 0;
  const { streams } = world.view;
  const counted = function* (): ReturnType<typeof streams> & Generator {
    for (const state of streams()) {
      walked++;
      yield state;
    }
  };
  Object.assign(world.view, { streams: counted });
  await new Promise<void>((resolve, reject) => {
    const asked = get({ host: "127.0.0.1", port, path: "/api/v1/streams" }, (response) => {
      response.once("data", () => {
        response.destroy();
        resolve();
      });
    });
    asked.on("error", reject);
  });
  await world.admin.close();
  world.metrics.close();
  expect(walked).toBeGreaterThan(0);
  expect(walked).toBeLessThan(3000);
});

function read(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    }).on("error", reject);
  });
}
