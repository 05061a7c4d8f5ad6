import { describe, expect, test } from "vitest";
import { PolledState, pollerOf } from "../../../test/support/pollers.ts";
import type { ServerEffect } from "../contract/effect.ts";
import { InvariantError } from "../contract/invariant-error.ts";
import type { PolledSubscription } from "./polled-subscription.ts";
import type { Poller, WaitingPoll } from "./poller.ts";
import { WaitingPolls } from "./waiting-polls.ts";

const nobodyMoves = (): readonly ServerEffect[] => [];

/** Polls of Clusters a and b; timers are numbered from 1, polls from 101. */
class Waiting {
  readonly state = new PolledState("a", "b");
  readonly polled: PolledSubscription = this.state.polled();
  readonly poller: Poller = pollerOf(7, "k", this.polled);
  readonly polls: WaitingPolls;
  #lastTimer = 0;
  #lastPoll = 100;

  constructor() {
    this.polls = new WaitingPolls(() => ++this.#lastTimer, { forget: () => undefined });
  }

  get version(): string {
    return this.polled.response().body.version;
  }

  add(what: Partial<WaitingPoll> = {}): WaitingPoll {
    const poll: WaitingPoll = {
      ...{ id: ++this.#lastPoll, poller: this.poller, versionInfo: undefined, isRefusal: false, holdMs: 500 },
      ...{ besides: undefined, timer: undefined, end: undefined, ...what },
    };
    this.polls.add(poll);
    return poll;
  }

  /** What becomes of a poll in its turn. */
  ask(what: Partial<WaitingPoll> = {}): readonly string[] {
    this.add(what);
    return this.turns();
  }

  turns(): readonly string[] {
    const effects: ServerEffect[] = [];
    while (this.polls.isDue) effects.push(...this.polls.next(nobodyMoves));
    return effects.flatMap(inShort);
  }

  put(revision: number, ...names: readonly string[]): void {
    this.state.put(revision, ...names);
    this.polls.touch(this.polled);
  }
}

function inShort(effect: ServerEffect): readonly string[] {
  switch (effect.kind) {
    case "answer-poll":
      return [`${effect.poll} is given ${effect.body.segments.flatMap(({ puts }) => puts).length} by ${effect.poller}`];
    case "poll-unchanged":
      return [`${effect.poll} has it`];
    case "start-timer":
      return [`timer ${effect.timer} in ${effect.ms}`];
    case "cancel-timer":
      return [`no timer ${effect.timer}`];
    case "report":
      return [effect.report.kind];
    default:
      return [effect.kind];
  }
}

const given = (poll: number, restTimer: number): readonly string[] => [
  `${poll} is given 2 by 7`,
  "response-sent",
  `timer ${restTimer} in 500`,
];

describe("S-RST-10: a poll is answered in its turn", () => {
  test("with what there is, unless the client has that version; then it is held until its time is over", () => {
    const waiting = new Waiting();
    expect([waiting.polls.isDue, waiting.ask(), waiting.polls.isDue]).toEqual([false, given(101, 1), false]);
    expect(waiting.ask({ versionInfo: waiting.version })).toEqual(["timer 2 in 500"]);
    expect([waiting.polls.fired(2), waiting.polls.fired(2), waiting.turns()]).toEqual([[], undefined, ["102 has it"]]);
    expect([...waiting.poller.waiting]).toEqual([]);
    expect(waiting.polls.next(nobodyMoves)).toEqual([]);
  });

  test("when something changes while it is held, and not when something else does", () => {
    const waiting = new Waiting();
    waiting.ask({ versionInfo: waiting.version });
    waiting.polls.touch(waiting.polled);
    expect([waiting.polls.isDue, waiting.polls.isTouched(waiting.polled)]).toEqual([true, true]);
    expect([waiting.polls.next(nobodyMoves), waiting.polls.isDue]).toEqual([[], false]);
    expect([...waiting.poller.waiting].map(({ timer }) => timer)).toEqual([1]);
    waiting.put(2, "a");
    expect(waiting.turns()).toEqual(["no timer 1", ...given(101, 2)]);
    expect(waiting.polls.fired(1)).toBeUndefined();
  });

  test("as unchanged if all polls are dismissed, even if it could be given something", () => {
    const waiting = new Waiting();
    waiting.ask({ versionInfo: waiting.version });
    waiting.put(2, "a");
    waiting.add();
    waiting.polls.dismissAll();
    expect(waiting.turns()).toEqual(["102 has it", "no timer 1", "101 has it"]);
  });

  test("at once if it may not be held", () => {
    const waiting = new Waiting();
    expect(waiting.ask({ versionInfo: waiting.version, holdMs: 0 })).toEqual(["101 has it"]);
    expect(waiting.ask({ holdMs: 0 })).toEqual(["102 is given 2 by 7", "response-sent"]);
    expect(waiting.ask({ versionInfo: "old", holdMs: 0 })).toEqual(["103 is given 2 by 7", "response-sent"]);
  });

  test("not at all once its client disconnected", () => {
    const waiting = new Waiting();
    const held = waiting.add({ versionInfo: waiting.version });
    waiting.turns();
    const due = waiting.add();
    expect([held, due].map(({ id }) => waiting.polls.close(id).flatMap(inShort))).toEqual([["no timer 1"], []]);
    expect([waiting.polls.close(held.id), waiting.turns(), waiting.polls.isDue]).toEqual([[], [], false]);
    expect([...waiting.poller.waiting]).toEqual([]);
  });
});

describe("S-RST-12: the same response is not given again at once", () => {
  test("to a client that polls on with an older version, until its rest is over", () => {
    const waiting = new Waiting();
    expect(waiting.ask({ versionInfo: "old" })).toEqual(given(101, 1));
    expect(waiting.ask({ versionInfo: "old" })).toEqual(["timer 2 in 500"]);
    expect([waiting.polls.fired(1), waiting.poller.restTimer]).toEqual([[], undefined]);
    expect(waiting.turns()).toEqual(["no timer 2", ...given(102, 3)]);
    expect(waiting.polls.fired(1)).toBeUndefined();
  });

  test("but to one that has no version, as it may have lost it, and one that has it waits on", () => {
    const waiting = new Waiting();
    waiting.ask();
    expect(waiting.ask()).toEqual(["102 is given 2 by 7", "response-sent", "no timer 1", "timer 2 in 500"]);
    expect(waiting.ask({ versionInfo: waiting.version })).toEqual(["timer 3 in 500"]);
    expect([waiting.polls.fired(2), waiting.turns()]).toEqual([[], []]);
  });

  test("to one that NACKed it, until its time is over", () => {
    const waiting = new Waiting();
    const { poller, polled } = waiting;
    poller.give(polled.response());
    const error = { code: 13, message: "no" };
    const { version } = waiting;
    const nack = { kind: "sotw", type: polled.traits.type, node: undefined, nonce: version, error, names: [] } as const;
    poller.classify({ ...nack, versionInfo: "old" }, () => polled.response());
    expect(waiting.ask({ versionInfo: "old", isRefusal: true })).toEqual(["timer 1 in 500"]);
    expect([waiting.polls.fired(1), waiting.turns()]).toEqual([[], given(101, 2)]);
    waiting.polls.fired(2);
    expect(waiting.ask({ versionInfo: "old", isRefusal: false })).toEqual(given(102, 3));
    waiting.polls.fired(3);
    waiting.put(2, "a");
    expect(waiting.ask({ versionInfo: "old", isRefusal: true })).toEqual(given(103, 4));
  });

  test("and the rest ends when it may be given again at once", () => {
    const waiting = new Waiting();
    waiting.ask();
    const effects: ServerEffect[] = [];
    waiting.polls.stopRest(waiting.poller, effects);
    waiting.polls.stopRest(waiting.poller, effects);
    expect([effects.flatMap(inShort), waiting.polls.fired(1), waiting.poller.restTimer]).toEqual([
      ["no timer 1"],
      undefined,
      undefined,
    ]);
  });

  test("client-behaviours A5: but if it NACKed something since, its own version is given to it again", () => {
    const waiting = new Waiting();
    const { poller, polled, version: first } = waiting;
    waiting.put(2, "a");
    poller.give(polled.response());
    poller.classify(
      {
        ...{ kind: "sotw", type: polled.traits.type, node: undefined, nonce: undefined, names: [] },
        ...{ versionInfo: first, error: { code: 13, message: "no" } },
      },
      () => polled.response(),
    );
    waiting.put(3, "b");
    waiting.state.put(4);
    const { version } = waiting;
    expect(waiting.ask({ versionInfo: version })).toEqual(given(101, 1));
  });
});

test("S-RST-11: a poller is idle once its last poll ended, and is told so once", () => {
  const waiting = new Waiting();
  const { poller, polls } = waiting;
  const [first, second, third] = [waiting.add(), waiting.add(), waiting.add()];
  const idleAfter = (poll: WaitingPoll): readonly Poller[] => {
    polls.end(poll);
    return polls.takeIdle();
  };
  expect([first, second, third].map(idleAfter)).toEqual([[], [], [poller]]);
  expect(polls.takeIdle()).toEqual([]);
});

describe("a polled subscription", () => {
  test("is evaluated once for all its polls; one that nobody polls is forgotten when it is touched", () => {
    const waiting = new Waiting();
    const before = waiting.polled.response();
    waiting.put(2, "a");
    expect([waiting.polls.isDue, waiting.polled.isLookedAtAfter(1)]).toEqual([false, false]);
    expect(waiting.polled.response()).not.toBe(before);
    waiting.ask({ versionInfo: waiting.version });
    waiting.put(3, "a");
    waiting.polls.forget(waiting.polled);
    expect([waiting.polls.isTouched(waiting.polled), waiting.turns()]).toEqual([false, []]);
  });

  test("takes over the waiting polls of a poller that moves to it", () => {
    const waiting = new Waiting();
    waiting.ask({ versionInfo: waiting.version });
    const other = waiting.state.polled(["a"]);
    waiting.polls.move(waiting.poller, other);
    expect([waiting.poller.polled === other, waiting.turns()]).toEqual([
      true,
      ["no timer 1", "101 is given 1 by 7", "response-sent", "timer 2 in 500"],
    ]);
    waiting.polls.touch(waiting.polled);
    expect(waiting.polls.isDue).toBe(false);
  });

  test("that cannot be evaluated fails with the poll that it is evaluated for", () => {
    const waiting = new Waiting();
    waiting.ask({ versionInfo: waiting.version });
    const cause = new Error("no answer");
    Object.assign(waiting.polled, {
      response: () => {
        throw cause;
      },
    });
    waiting.polls.touch(waiting.polled);
    expect(waiting.polls.next(nobodyMoves)).toEqual([]);
    expect(() => waiting.polls.next(nobodyMoves)).toThrow(new InvariantError(101, cause));
  });
});
