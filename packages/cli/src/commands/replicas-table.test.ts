import pc from "picocolors";
import { expect, test } from "vitest";
import { formatReplicas } from "./replicas-table.ts";

const now = new Date("2026-01-01T00:10:00Z");
const told = { version: "1.0.0", role: "follower", startedAt: "2026-01-01T00:00:00.000Z", nodes: 119 };
const lost = [
  { ...told, id: "a", name: "xds-2", address: "10.0.0.3:18000", number: 211 },
  { ...told, id: "b", name: "xds\n3", number: 0, nodes: 1 },
];
const lines = [
  "lost: xds-2 at 10.0.0.3:18000, which did not leave the store in order; at last it had record 211 and 119 nodes",
  "lost: xds 3, which did not leave the store in order; at last it had record 0 and 1 node",
];
const write = (answer: Parameters<typeof formatReplicas>[0]): readonly string[] =>
  formatReplicas(answer, { colors: pc.createColors(false), width: undefined, now }).split("\n");

test("replicas that were lost are told below those that are there", () => {
  const numbers = { number: 214, numberSince: told.startedAt, lag: 0, deployed: 119 };
  const [, , ...below] = write({ head: 214, replicas: [{ ...told, ...numbers, id: "c", name: "xds-0" }], lost });
  expect(below).toEqual([...lines, ""]);
});

test("replicas that were lost are told where none is left", () => {
  expect(write({ head: 214, replicas: [], lost })).toEqual(["no server follows the store", ...lines, ""]);
});
