import { type Body, type ServerEffect, statusCode } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { type Conversation, delta, type Said, sotw, talkWith } from "./support/conversation.ts";
import { heldOf } from "./support/garbage.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { ENDPOINTS, LISTENER, resource, UNKNOWN } from "./support/resources.ts";

const no = { code: 3, message: "no" };
const MOST = 40;
const limits = { maxSubscriptionsPerStream: MOST, maxUnacknowledgedPerType: 1_000 };
/** A quarter of the names that a stream may subscribe to; those of each round are others. */
const namesOf = (round: number): readonly string[] => Array.from({ length: MOST / 4 }, (_, i) => `${round}-${i}`);
const nonces = (said: readonly Said[]): readonly string[] => said.map(({ nonce }) => nonce);

/** After how many rounds, of a hundred, the server ends the stream, and why. */
function endOf(
  talk: Conversation,
  play: (round: number) => void,
): { readonly rounds: number; readonly message: string } {
  for (let round = 1; round <= 100; round++) {
    play(round);
    const [end] = talk.ended;
    if (end !== undefined) return { rounds: round, message: end[1].message };
  }
  return { rounds: 100, message: "served" };
}

const kept = (count: number): string =>
  `${count} names are kept for responses that were not accepted; at most ${MOST} per stream are`;

describe("what a client that ACKs nothing makes its responses keep ends its stream", () => {
  test("names that it gives up, and that nothing has", () => {
    const talk = talkWith("delta", [], limits);
    const end = endOf(talk, (round) => {
      talk.hear(1, delta(ENDPOINTS, { subscribe: namesOf(round) }));
      talk.hear(1, delta(ENDPOINTS, { unsubscribe: namesOf(round) }));
    });
    expect(end).toEqual({ rounds: 3, message: kept(50) });
  });

  test("the same names again and again, each time as other strings", () => {
    const talk = talkWith("delta", [], limits);
    const end = endOf(talk, () => talk.hear(1, delta(ENDPOINTS, { subscribe: namesOf(0) })));
    expect(end).toEqual({ rounds: 5, message: kept(50) });
  });

  test("versions that it lists of names that nothing has", () => {
    const talk = talkWith("delta", [], limits);
    const end = endOf(talk, () => {
      const initialVersions = initialVersionsOf([1, 2, 3, 4, 5].flatMap(namesOf).map((name) => [name, "1"]));
      // Absent endpoints would wait until Clusters are asked for.
      talk.hear(1, delta(UNKNOWN, { subscribe: ["*"], initialVersions }));
    });
    expect(end).toEqual({ rounds: 1, message: kept(50) });
  });

  test("names of resources, in delta and in State of the World", () => {
    const puts = Array.from({ length: 100 }, (_, i) => namesOf(i + 1)).flat();
    const all = puts.map((name) => resource(ENDPOINTS, name, "1"));
    const inDelta = talkWith("delta", all, limits);
    const end = endOf(inDelta, (round) =>
      inDelta.hear(1, delta(ENDPOINTS, { subscribe: namesOf(round), unsubscribe: namesOf(round - 1) })),
    );
    expect(end).toEqual({ rounds: 6, message: kept(50) });
    const inSotw = talkWith("sotw", all, limits);
    expect(endOf(inSotw, (round) => inSotw.hear(1, sotw(ENDPOINTS, { names: namesOf(round) })))).toEqual(end);
  });

  test("errors of names that do not exist, in State of the World", () => {
    const talk = talkWith("sotw", [resource(LISTENER, "l", "1")], {
      ...limits,
      dialect: { resourceErrors: "failed-and-missing" },
    });
    const end = endOf(talk, (round) => {
      talk.hear(1, sotw(LISTENER, { names: ["l", ...namesOf(round)] }));
      talk.put(resource(LISTENER, "l", `${round + 1}`));
      talk.turns();
      // The server waits no longer for the ACK.
      for (const timer of talk.timers.keys()) talk.fire(timer);
      talk.turns();
    });
    expect(end).toEqual({ rounds: 3, message: kept(50) });
  });

  test("what it unsubscribes from and a wildcard still covers, while its stream is stalled", () => {
    const talk = talkWith("delta", [], limits);
    talk.settle(talk.hear(1, delta(ENDPOINTS, { subscribe: ["*"] })));
    talk.on({ kind: "stream-stalled", stream: 1 });
    const end = endOf(talk, (round) => {
      talk.hear(1, delta(ENDPOINTS, { subscribe: namesOf(round) }));
      talk.hear(1, delta(ENDPOINTS, { unsubscribe: namesOf(round) }));
    });
    expect(end).toEqual({ rounds: 5, message: kept(50) });
  });
});

describe("what a client that rejects everything makes the server keep", () => {
  test("ends its stream where a wildcard goes on", () => {
    const talk = talkWith("delta", [], limits);
    const nackAll = (said: readonly Said[]): void => {
      for (const nonce of nonces(said)) talk.hear(1, delta(ENDPOINTS, { nonce, error: no }));
    };
    nackAll(talk.hear(1, delta(ENDPOINTS, { subscribe: ["*"] })));
    const end = endOf(talk, (round) => {
      nackAll(talk.hear(1, delta(ENDPOINTS, { subscribe: namesOf(round) })));
      nackAll(talk.hear(1, delta(ENDPOINTS, { unsubscribe: namesOf(round) })));
    });
    expect(end).toEqual({ rounds: 4, message: kept(50) });
  });

  test("ends its stream, too, where the server removes what a wildcard covers", () => {
    const talk = talkWith("delta", [], limits);
    talk.settle(talk.subscribe(1, ENDPOINTS));
    const end = endOf(talk, (round) => {
      talk.put(...namesOf(round).map((name) => resource(ENDPOINTS, name, "1")));
      talk.settle();
      talk.delete(ENDPOINTS, ...namesOf(round));
      for (const { nonce } of talk.turns()) talk.nack(1, ENDPOINTS, nonce);
    });
    expect(end).toEqual({ rounds: 5, message: kept(50) });
  });

  test("is nothing of what came back, and was ACKed", () => {
    const talk = talkWith("delta", [], limits);
    talk.settle(talk.subscribe(1, ENDPOINTS));
    const end = endOf(talk, () => {
      talk.put(...namesOf(0).map((name) => resource(ENDPOINTS, name, "1")));
      talk.settle();
      talk.delete(ENDPOINTS, ...namesOf(0));
      for (const { nonce } of talk.turns()) talk.nack(1, ENDPOINTS, nonce);
    });
    expect(end.message).toBe("served");
  });

  test("is nothing once it unsubscribed", () => {
    const talk = talkWith("delta", [], limits);
    const end = endOf(talk, (round) => {
      for (const nonce of nonces(talk.hear(1, delta(ENDPOINTS, { subscribe: namesOf(round) }))))
        talk.hear(1, delta(ENDPOINTS, { nonce, error: no }));
      talk.hear(1, delta(ENDPOINTS, { unsubscribe: namesOf(round) }));
    });
    expect(end.message).toBe("served");
  });
});

describe("a client that obeys the protocol is served", () => {
  test.each(["delta", "sotw"] as const)("if it subscribes to as many names as it may, one by one (%s)", (variant) => {
    const talk = talkWith(variant, [resource(ENDPOINTS, "1-0", "1")], limits);
    const names = [1, 2, 3, 4].flatMap(namesOf);
    const all = names.flatMap((name) => talk.subscribe(1, ENDPOINTS, [name]));
    talk.settle(all);
    expect(talk.ended).toEqual([]);
  });

  test.each(["delta", "sotw"] as const)("if it asks for other names all the time (%s)", (variant) => {
    const all = [resource(ENDPOINTS, "1-0", "1"), resource(ENDPOINTS, "2-0", "1")];
    const talk = talkWith(variant, all, limits);
    const end = endOf(talk, (round) => {
      const names = [0, 1, 2, 3].flatMap((i) => namesOf(4 * round + i));
      talk.settle(talk.subscribe(1, ENDPOINTS, names));
      talk.unsubscribe(1, ENDPOINTS, names);
      talk.settle();
    });
    expect(end.message).toBe("served");
  });
});

test("names kept count for the account, and no longer once the client ACKs", () => {
  const talk = talkWith("delta", [], {
    maxSubscriptionsPerPeer: 25,
    accountOf: () => ({ key: "one", by: "address" }),
  });
  talk.open(2, "delta");
  const [said] = talk.hear(1, delta(ENDPOINTS, { subscribe: namesOf(1) }));
  talk.hear(1, delta(ENDPOINTS, { nonce: said?.nonce }));
  talk.hear(2, delta(ENDPOINTS, { subscribe: namesOf(1).slice(0, 7) }));
  expect(talk.ended).toEqual([]);
  talk.hear(2, delta(ENDPOINTS, { subscribe: namesOf(1).slice(7, 9) }));
  const message = "the streams of this address hold 26 names; at most 25 are served (maxSubscriptionsPerPeer)";
  expect(talk.ended).toEqual([[2, { code: statusCode.RESOURCE_EXHAUSTED, message }]]);
});

test.each([
  ["ACKed", undefined],
  ["NACKed", no],
])("what responses say of names without a resource is forgotten once they are %s", async (_, error) => {
  const talk = talkWith("delta", []);
  const bodies: WeakRef<Body>[] = [];
  const next = talk.machine.next.bind(talk.machine);
  talk.machine.next = (budget): readonly ServerEffect[] => {
    const effects = next(budget);
    for (const effect of effects) if (effect.kind === "send") bodies.push(new WeakRef(effect.body));
    return effects;
  };
  const initialVersions = initialVersionsOf(namesOf(1).map((name) => [name, "1"]));
  const said = [1, 2, 3].flatMap((round) =>
    talk.hear(1, delta(UNKNOWN, { subscribe: namesOf(round), ...(round === 1 && { initialVersions }) })),
  );
  expect(await heldOf(bodies, 3)).toBe(3);
  for (const nonce of error === undefined ? nonces(said).slice(-1) : nonces(said))
    talk.hear(1, delta(UNKNOWN, { nonce, error }));
  expect(await heldOf(bodies)).toBe(0);
});
