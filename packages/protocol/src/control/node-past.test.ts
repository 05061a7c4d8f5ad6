import fc from "fast-check";
import { expect, test } from "vitest";
import { formatTypeUrl, type TypeUrl } from "../resource/type-url.ts";
import { formatPastLine, NodePast, parsePastLine } from "./node-past.ts";

const CDS = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const LDS = formatTypeUrl("envoy.config.listener.v3.Listener");

test("a node gets a line when it has another number, also an older one", () => {
  const past = new NodePast();
  const reach = (number: number, id = "a"): boolean => past.add({ time: 1, number, id }) !== undefined;
  expect([reach(1), reach(1), reach(2), reach(1), reach(1, "b")]).toEqual([true, false, true, true, true]);
  expect([...past.last]).toEqual([
    { time: 1, number: 1, id: "a" },
    { time: 1, number: 1, id: "b" },
  ]);
});

test("a node without an id, or with one that is too long, has no past", () => {
  const past = new NodePast();
  expect(["", "x".repeat(1_025)].map((id) => past.add({ time: 1, number: 1, id }))).toEqual([undefined, undefined]);
});

test("a rejection gets a line unless the node NACKed that number for that reason, and is no number that it has", () => {
  const past = new NodePast();
  const reject = (number: number, reason: string, type: TypeUrl = CDS): boolean =>
    past.add({ time: 1, number, id: "a", nacked: { type, reason } }) !== undefined;
  expect([reject(1, "no"), reject(1, "no"), reject(1, "no", LDS), reject(2, "no"), reject(2, "never")]).toEqual([
    ...[true, false, true, true, true],
  ]);
  expect([...past.last]).toEqual([]);
  const long = past.add({ time: 1, number: 3, id: "a", nacked: { type: CDS, reason: "x".repeat(2_000) } });
  expect(long?.nacked?.reason).toHaveLength(800);
});

test("a line is read as it was written, and nothing else is", () => {
  const text = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });
  const reached = fc.record(
    {
      ...{ time: fc.nat(), number: fc.nat(), id: text },
      nacked: fc.record({ type: fc.constantFrom(CDS, LDS), reason: text }),
    },
    { requiredKeys: ["time", "number", "id"] },
  );
  fc.assert(
    fc.property(reached, fc.nat(), (one, cut) => {
      const line = formatPastLine(one);
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expect(parsePastLine(line)).toEqual(one);
      const torn = line.slice(0, cut % (line.length - 1));
      expect(parsePastLine(torn)).toBeUndefined();
    }),
  );
  for (const line of ["", "[1,2]", '["1",2,"a"]', "{}", "[1,2,3]", '[1,2,"a",3,"no"]', '[1,2,"a","cds"]'])
    expect(parsePastLine(line)).toBeUndefined();
});
