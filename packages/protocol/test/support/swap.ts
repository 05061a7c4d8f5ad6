import { Conversation, node, type Said } from "./conversation.ts";
import { CLUSTER, plain, ROUTE, routeTo } from "./resources.ts";

/** A client of both, in sync, whose route goes to `old`. */
export function inSync(userAgentName = ""): Conversation {
  const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
  talk.put(plain("old"), routeTo("old"));
  talk.open(1, "delta");
  talk.subscribe(1, CLUSTER, [], { node: node("n", userAgentName) });
  talk.ack(1, CLUSTER);
  talk.subscribe(1, ROUTE, ["r"]);
  talk.ack(1, ROUTE);
  return talk;
}

/** The route goes to `new`, and `old` is gone. */
export function swap(talk: Conversation): readonly Said[] {
  talk.change({ puts: [plain("new"), routeTo("new")], deletes: [{ type: CLUSTER, name: "old" }] });
  return talk.turns();
}

/** What each type on the first stream waits for, and what it is yet to remove. */
export function waitsOf(talk: Conversation): unknown {
  const [stream] = talk.machine.streams();
  return stream?.types.map(({ wait, pendingRemovals }) => ({ wait, pendingRemovals }));
}

/** The waits that began and ended, and those that took too long. */
export function reportsOf(talk: Conversation): unknown {
  return talk.reports.flatMap((one) =>
    one.kind === "wait-began" || one.kind === "wait-ended" || one.kind === "order-overdue"
      ? [`${one.kind} ${one.wait.for}`]
      : [],
  );
}
