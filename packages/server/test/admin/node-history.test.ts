import { expect, test } from "vitest";
import type { AnsweredResponse } from "../../src/observe/deliveries.ts";
import { NodeHistory } from "../../src/observe/node-history.ts";
import { CDS, EDS, node, RealMachine, resource } from "./real-machine.ts";

/** A history without a server, and how to tell it an answer. */
function start(maxAltogether?: number) {
  let tell: (answered: AnsweredResponse) => void = () => undefined;
  const history = new NodeHistory(
    {
      onAnswered: (listener) => {
        tell = listener;
      },
    },
    maxAltogether,
  );
  const answer = (id: string, revision: number, more: Partial<AnsweredResponse> = {}): void =>
    tell({ node: id, type: CDS, revision, at: revision * 1_000, reason: undefined, ...more });
  const revisions = (id: string): readonly number[] => history.of(id).map(({ revision }) => revision);
  return { history, answer, revisions };
}

test("the newest 32 answers of a node are known, newest first", () => {
  const { answer, revisions } = start();
  for (let revision = 1; revision <= 40; revision++) answer("a", revision);
  expect(revisions("a")).toEqual(Array.from({ length: 32 }, (_, index) => 40 - index));
  expect(revisions("b")).toEqual([]);
});

test("of a type that changes often, the newest answer of a second is known; NACKs and other types have their own", () => {
  const { answer, history } = start();
  for (const [revision, at, more] of [
    [1, 0, {}],
    [2, 900, {}],
    [3, 1_000, { reason: "no" }],
    [4, 1_100, { type: EDS }],
    [5, 1_200, { reason: "still no" }],
    [6, 3_000, {}],
  ] as const)
    answer("a", revision, { at, ...more });
  expect(history.of("a").map(({ revision, reason }) => [revision, reason])).toEqual([
    [6, undefined],
    [5, "still no"],
    [4, undefined],
    [2, undefined],
  ]);
});

test("altogether so many answers are known; beyond that, the nodes lose their oldest in turn", () => {
  const { answer, revisions } = start(4);
  for (const [id, revision] of [
    ["a", 1],
    ["a", 2],
    ["b", 3],
    ["a", 4],
    ["c", 5],
    ["c", 6],
  ] as const)
    answer(id, revision);
  expect([revisions("a"), revisions("b"), revisions("c")]).toEqual([[4, 2], [], [6, 5]]);
});

test("/api/v1/node-history has ACKs and NACKs with their revisions, also of a node that is gone", async () => {
  await using world = Object.assign(new RealMachine(), {
    async [Symbol.asyncDispose]() {
      await world.admin.close();
      world.metrics.close();
    },
  });
  const origin = `http://127.0.0.1:${(await world.admin.start())?.port}`;
  const stream = world.open();
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  world.receive(stream, { kind: "delta", type: CDS, node: node("n1") });
  const about = { kind: "delta", type: CDS } as const;
  world.receive(stream, { ...about, nonce: world.lastNonce });
  world.now += 60_000;
  world.commit([{ layer: "base", puts: [resource(CDS, "a", "2")] }]);
  world.receive(stream, { ...about, nonce: world.lastNonce, error: { code: 3, message: "unknown field\u0007" } });
  world.close(stream);
  const answer = await (await fetch(`${origin}/api/v1/node-history?node=n1`)).json();
  const type = { type: CDS, shortName: "cds" };
  expect(answer).toEqual({
    items: [
      { ...type, at: "2026-01-01T00:01:00.000Z", revision: 2, state: "rejected", reason: "unknown field\\u{7}" },
      { ...type, at: "2026-01-01T00:00:00.000Z", revision: 1, state: "acked" },
    ],
    total: 2,
  });
});
