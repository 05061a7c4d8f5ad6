import type { NodeAnswer } from "@xdskit/server";
import { expect, test } from "vitest";
import { talkOf } from "../src/talk.ts";

type Type = NodeAnswer["types"][number];

const at = (second: number): string => new Date(second * 1_000).toISOString();
const response = (revision: number, sent: number) => ({
  ...{ nonce: `${revision}`, version: `v${revision}`, revision, sentAt: at(sent), resources: 1, removed: 0 },
});

function type(shortName: string, more: Partial<Type>): Type {
  const common = { stream: 1, isWildcard: true, names: 0, doesNotExist: [], pending: [] };
  return { ...common, type: `type/${shortName}`, shortName, state: "acked", ...more } as Type;
}

function node(...types: readonly Type[]): NodeAnswer {
  return { types } as unknown as NodeAnswer;
}

/** As `sent cds 2 at 5`. */
function texts(of: NodeAnswer, most: number): readonly string[] {
  return talkOf(of, most).map(
    ({ kind, type: { shortName }, revision, at: ms }) =>
      `${kind} ${shortName} ${revision ?? "-"} at ${(ms ?? 0) / 1_000}`,
  );
}

test("what was sent and answered is in the order of time, and what waits is last", () => {
  const cds = type("cds", { acked: { ...response(1, 1), ackedAt: at(2) }, pending: [response(2, 10)] });
  const eds = type("eds", { acked: { ...response(2, 11), ackedAt: at(12) } });
  const rds = type("rds", {
    acked: { ...response(1, 3), ackedAt: at(4) },
    waits: { for: "cluster", name: "web", since: at(10) },
  });
  expect(texts(node(rds, cds, eds), 20)).toEqual([
    ...["sent cds 1 at 1", "acked cds 1 at 2", "sent rds 1 at 3", "acked rds 1 at 4"],
    ...["sent cds 2 at 10", "sent eds 2 at 11", "acked eds 2 at 12", "waits rds - at 10"],
  ]);
});

test("the newest are kept, and what waits besides", () => {
  const cds = type("cds", { acked: { ...response(1, 1), ackedAt: at(2) }, pending: [response(2, 10)] });
  const rds = type("rds", { waits: { for: "cluster", name: "web", since: at(10) } });
  expect(texts(node(cds, rds), 2)).toEqual(["acked cds 1 at 2", "sent cds 2 at 10", "waits rds - at 10"]);
});

test("a rejection follows what it rejects, with its reason", () => {
  const nacked = { ...response(3, 5), nackedAt: at(6), reason: "no such filter", names: [] };
  const [sent, rejected] = talkOf(node(type("lds", { nacked } as unknown as Partial<Type>)), 20);
  expect([sent?.kind, rejected?.kind, rejected?.reason]).toEqual(["sent", "nacked", "no such filter"]);
});
