import { describe, expect, test } from "vitest";
import { delta } from "../../../test/support/conversation.ts";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest } from "../../../test/support/resources.ts";
import { toldAtOnce, typeStream } from "../../../test/support/type-streams.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { everythingRemovable, PendingRemovals } from "../cache/pending-removals.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import type { StragglerType } from "../contract/progress.ts";
import type { StreamWaits } from "../order/stream-waits.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { describeBehind, reachedBy, standingOf } from "./type-progress.ts";

const everything = {
  ...{ removable: () => everythingRemovable, heldBack: nothingHeldBack },
  absences: toldAtOnce,
};
const no = { code: 3, message: "no" };
const placed = { placedTo: Number.POSITIVE_INFINITY };
const nothingWaits: Pick<StreamWaits, "of"> = { of: () => undefined };

/** A client of Clusters, which are at revision 1. */
class Client {
  readonly base = new WrittenLayer("base", [cluster("a", "1")]);
  readonly responses = new SharedResponses(digest);
  readonly view = viewOf(this.base);
  readonly current: CurrentView = new CurrentViews(this.responses).of(this.view);
  readonly type: TypeStream = typeStream(CLUSTER);
  isSettled = false;
  placedTo = Number.POSITIVE_INFINITY;
  #lastNonce = 0;

  constructor() {
    this.responses.advance(1, undefined);
  }

  put(revision: number): void {
    this.base.put(revision, cluster("a", String(revision)));
    this.responses.advance(revision, undefined);
  }

  send(): string {
    const from = this.type.position?.revision;
    const [answer] = this.type.next(this.current, everything);
    if (answer === undefined) throw new Error("nothing to send");
    const nonce = String(++this.#lastNonce);
    const { revision } = this.current;
    this.type.deliveries.open({ nonce, body: answer.body, revision, from, at: 1, isInTurn: true });
    return nonce;
  }

  /** How far it is with a revision, in short, and what it has. */
  at(revision: number, of: TypeStream = this.type): unknown {
    const progress = { type: of, view: this.view, isSettled: this.isSettled, placedTo: this.placedTo };
    const behind = describeBehind(progress, revision, nothingWaits);
    return [standingOf(progress, revision), behind?.state, reachedBy(progress)];
  }
}

describe("a client of one type", () => {
  test("is behind with what was not sent, not ACKed, or NACKed; it has the rest", () => {
    const client = new Client();
    expect(client.at(1)).toEqual(["pending", "not-sent", -1]);
    const first = client.send();
    expect([client.at(1), client.at(-1)]).toEqual([
      ["pending", "pending", -1],
      ["deployed", undefined, -1],
    ]);
    client.type.onRequest(delta(CLUSTER, { nonce: first }));
    expect(client.at(1)).toEqual(["deployed", undefined, Infinity]);
    client.put(2);
    expect([client.at(1), client.at(2)]).toEqual([
      ["deployed", undefined, 1],
      ["pending", "not-sent", 1],
    ]);
    const second = client.send();
    expect([client.at(1), client.at(2)]).toEqual([
      ["deployed", undefined, 1],
      ["pending", "pending", 1],
    ]);
    client.type.onRequest(delta(CLUSTER, { nonce: second, error: no }));
    expect([client.at(1), client.at(2)]).toEqual([
      ["deployed", undefined, 1],
      ["nacked", "nacked", 1],
    ]);
    client.put(3);
    expect(client.at(3)).toEqual(["pending", "not-sent", 1]);
    client.isSettled = true;
    expect(client.at(3)).toEqual(["nacked", "nacked", 1]);
  });

  test("that is not placed has nothing beyond what it may have until then, whether it is settled or not", () => {
    const client = new Client();
    client.type.onRequest(delta(CLUSTER, { nonce: client.send() }));
    client.placedTo = 4;
    for (const isSettled of [false, true]) {
      client.isSettled = isSettled;
      expect([client.at(4), client.at(5)]).toEqual([
        ["deployed", undefined, 4],
        ["pending", "not-sent", 4],
      ]);
    }
  });

  test("is behind with pending removals, which are named", () => {
    const client = new Client();
    client.type.onRequest(delta(CLUSTER, { nonce: client.send() }));
    const names = Array.from({ length: 101 }, (_, i) => `n${i}`);
    const pendingRemovals = new PendingRemovals(new Map(names.map((name) => [name, { since: 5 }])));
    const holding = Object.assign(client.type, { pendingRemovals });
    expect([client.at(4, holding), client.at(5, holding)]).toEqual([
      ["deployed", undefined, 4],
      ["pending", "removal", 4],
    ]);
    const behind = describeBehind({ ...placed, type: holding, view: client.view, isSettled: true }, 5, nothingWaits);
    expect(behind).toEqual({
      type: CLUSTER,
      state: "removal",
      wait: undefined,
      names: names.slice(0, 100),
      error: undefined,
    });
  });

  test("is told what its type waits for, and why it was NACKed", () => {
    const client = new Client();
    const wait = { for: "cluster", name: "c" } as const;
    const waits = { of: () => ({ first: wait, names: nothingHeldBack, maySpeak: true }) };
    const behind = (): StragglerType | undefined =>
      describeBehind({ ...placed, type: client.type, view: client.view, isSettled: false }, 1, waits);
    expect(behind()).toEqual({ type: CLUSTER, state: "not-sent", wait, names: [], error: undefined });
    client.type.onRequest(delta(CLUSTER, { nonce: client.send(), error: no }));
    expect(behind()).toEqual({ type: CLUSTER, state: "nacked", wait, names: ["a"], error: no });
  });
});
