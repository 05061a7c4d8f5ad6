import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { StreamsAnswer } from "../../src/admin/answers/nodes.ts";
import type { GraphAnswer } from "../../src/admin/answers/resources.ts";
import { writeJson } from "../../src/admin/write-page.ts";
import { CDS, LDS, node, RealMachine, resource, SRDS } from "./real-machine.ts";

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

test("a graph in which 10,000 resources refer to all of 10,000 others is not made of pairs", async () => {
  const world = new RealMachine();
  const puts = Array.from({ length: 10_000 }, (_, i) => [
    resource(LDS, `l${i}`, `l${i}`, [{ type: SRDS, name: "*" }]),
    resource(SRDS, `s${i}`),
  ]);
  world.commit([{ layer: "base", puts: puts.flat() }]);
  const port = (await world.admin.start())?.port ?? 0;
  const answer = JSON.parse(await read(port, "/api/v1/graph?type=lds&name=l5")) as GraphAnswer;
  await world.admin.close();
  world.metrics.close();
  expect(answer.nodes.map(({ name }) => name)).toEqual(["l5", ...Array.from({ length: 99 }, (_, i) => `s${i}`)]);
  expect(answer.edges).toEqual(Array.from({ length: 99 }, (_, i) => ({ from: 0, to: i + 1 })));
  expect(answer.isCut).toBe(true);
});

test("graphs that are asked for at once are found in what is read once or twice", async () => {
  const world = new RealMachine();
  world.commit([{ layer: "base", puts: Array.from({ length: 10_000 }, (_, i) => resource(CDS, `c${i}`)) }]);
  const port = (await world.admin.start())?.port ?? 0;
  let reads = 0;
  const { resources } = world.view;
  Object.assign(world.view, {
    resources: (...asked: Parameters<typeof resources>) => {
      reads++;
      return resources(...asked);
    },
  });
  const asked = Array.from({ length: 10 }, (_, i) => read(port, `/api/v1/graph?type=cds&name=c${i}`));
  const answers = (await Promise.all(asked)).map((text) => JSON.parse(text) as GraphAnswer);
  await world.admin.close();
  world.metrics.close();
  expect(answers.map(({ nodes }) => nodes.map(({ name }) => name))).toEqual(
    Array.from({ length: 10 }, (_, i) => [`c${i}`]),
  );
  expect(reads).toBe(2);
});

test("what an answer lists is printed over many turns of the event loop, as JSON.stringify prints it", async () => {
  let turns = 0;
  const slow = {
    toJSON() {
      const end = performance.now() + 5;
      while (performance.now() < end);
      return { body: "x".repeat(10_000), turns };
    },
  };
  const ends = { none: [], odd: [undefined, null, 1, [2], { three: undefined }], absent: undefined, date: new Date(0) };
  const values: readonly unknown[] = [{}, [1], "text", new Date(0), ends];
  const server = createServer((request, response) => {
    const value = values[Number(request.url?.slice(1))] ?? { first: 1, list: Array(20).fill(slow), last: "é" };
    const count = setInterval(() => turns++);
    void writeJson({ kind: "json", value }, response).finally(() => clearInterval(count));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (const [index, value] of values.entries())
    expect(await read(port, `/${index}`)).toBe(`${JSON.stringify(value)}\n`);
  const { first, list, last } = JSON.parse(await read(port, "/list")) as {
    readonly first: number;
    readonly list: readonly { readonly body: string; readonly turns: number }[];
    readonly last: string;
  };
  server.close();
  expect([first, list.length, last, list.every(({ body }) => body.length === 10_000)]).toEqual([1, 20, "é", true]);
  expect(new Set(list.map((item) => item.turns)).size).toBeGreaterThan(5);
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
