import { expect, test } from "vitest";
import { node } from "../../test/support/conversation.ts";
import { ClientTurn } from "./client-turn.ts";

function turnAt(nowMs: number): ClientTurn {
  const turn = new ClientTurn(node("me"));
  turn.begin({ nowMs, chance: 0 });
  return turn;
}

test("a timer that is cancelled does nothing any more, and is cancelled once", () => {
  const turn = turnAt(0);
  const fired: string[] = [];
  const timer = turn.startTimer(5, () => fired.push("a"));
  expect(turn.end()).toEqual([{ kind: "start-timer", timer, ms: 5 }]);
  turn.cancelTimer(timer);
  turn.cancelTimer(timer);
  turn.fire(timer);
  expect(turn.end()).toEqual([{ kind: "cancel-timer", timer }]);
  expect(fired).toEqual([]);
});

test("a timer that went off does so once, and is not cancelled, nor is none", () => {
  const turn = turnAt(0);
  const fired: string[] = [];
  const timer = turn.startTimer(5, () => fired.push("a"));
  turn.end();
  turn.fire(timer);
  turn.fire(timer);
  turn.cancelTimer(timer);
  turn.cancelTimer(undefined);
  expect(turn.end()).toEqual([]);
  expect(fired).toEqual(["a"]);
});
