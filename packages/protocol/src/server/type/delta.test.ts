import { describe, expect, test } from "vitest";
import { Conversation, delta, node, says, talkWith } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import {
  CLUSTER,
  digest,
  ENDPOINTS,
  EXTENSION,
  HOST,
  LISTENER,
  ROUTE,
  resource,
  UNKNOWN,
} from "../../../test/support/resources.ts";
import { newTypeStream, TypeClient, toldAtOnce, typeStream } from "../../../test/support/type-streams.ts";
import type { InitialVersions } from "../../message/request.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { everythingRemovable } from "../cache/pending-removals.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import type { ServerMachineOptions } from "../contract/server-machine-options.ts";
import { nothingHeldBack } from "./held-back.ts";
import type { TypeStream } from "./type-stream.ts";
import type { AbsenceBounds } from "./untold-absences.ts";

const no = { code: 3, message: "no" };
const e = (name: string, label: string, onDemand = false): ReturnType<typeof resource> =>
  resource(ENDPOINTS, name, label, { onDemand });
const gone = (...names: readonly string[]): { deletes: { type: typeof ENDPOINTS; name: string }[] } => ({
  deletes: names.map((name) => ({ type: ENDPOINTS, name })),
});

function holding(...held: readonly ReturnType<typeof resource>[]): InitialVersions {
  const pairs = held.map((one) => [one.name, one.version] as const);
  return { size: pairs.length, key: undefined, [Symbol.iterator]: () => pairs[Symbol.iterator]() };
}

describe("a request", () => {
  test("is understood by what it changes and what it answers", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1")]);
    const ask = (what: Parameters<typeof delta>[1]): string => {
      talk.hear(1, delta(ENDPOINTS, what));
      return talk.understood();
    };
    expect(ask({ subscribe: ["a"], nonce: "7", error: no })).toBe("initial");
    expect(ask({ nonce: "1" })).toBe("ack, acked 1");
    expect(ask({ nonce: "1" })).toBe("repeat");
    expect(ask({})).toBe("repeat");
    expect(ask({ subscribe: ["b"] })).toBe("subscribe");
    expect(ask({ nonce: "2", error: no, unsubscribe: ["a"] })).toBe("nack, nacked 2: 3 no");
    expect(ask({ nonce: "2", error: no })).toBe("repeat");
    expect(ask({ nonce: "strange", unsubscribe: ["b"] })).toBe("unsubscribe");
    expect(ask({ initialVersions: holding(e("a", "1")) })).toBe("repeat, late-initial-versions");
  });
});

describe("there is something to send", () => {
  const hasNews = (client: TypeClient): boolean => client.type.hasNews(client.current.view);

  test("S-UNS-06: a name that is given up under a wildcard, until it is answered", () => {
    const client = new TypeClient("delta", ENDPOINTS, "*", "a");
    client.put("a1");
    client.flush();
    client.ack();
    expect(hasNews(client)).toBe(false);
    client.type.onRequest(delta(ENDPOINTS, { unsubscribe: ["a"] }));
    expect([hasNews(client), client.flush().length, hasNews(client)]).toEqual([true, 1, false]);
  });

  test("S-ORD-10: an absence that is not told yet; it is once the client has what was there when it was noticed", () => {
    const client = new TypeClient("delta", ENDPOINTS, "a");
    client.put("b1");
    const flush = (to: number): number => {
      const absences = (): AbsenceBounds => ({ to, overruledTo: -1, isUnmet: () => false, isAwaited: () => false });
      const removable = () => everythingRemovable;
      return client.type.next(client.current, { removable, heldBack: nothingHeldBack, absences }).length;
    };
    expect([flush(0), hasNews(client)]).toEqual([0, true]);
    client.put("b2");
    expect([flush(1), hasNews(client)]).toEqual([1, false]);
  });
});

describe("what is missing", () => {
  const ask = (options: Partial<ServerMachineOptions>, type = ENDPOINTS): unknown => {
    const talk = talkWith("delta", [e("a", "1")], options);
    return says(talk.hear(1, delta(type, { subscribe: ["a", "none"] })));
  };

  test("is told as the dialect has it", () => {
    expect(ask({})).toEqual([["a@1", "-none"]]);
    expect(ask({ dialect: { deltaMissing: { otherwise: "empty-resource" } } })).toEqual([["a@1", "?none"]]);
    expect(ask({ dialect: { deltaMissing: { otherwise: "none" } } })).toEqual([["a@1"]]);
    expect(ask({ dialect: { deltaMissing: { otherwise: "none", eds: "removed" } } })).toEqual([["a@1", "-none"]]);
    expect(ask({}, UNKNOWN)).toEqual([["-a", "-none"]]);
  });

  test("is told once, and again when it is asked for again", () => {
    const talk = talkWith("delta", []);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["none"] })))).toEqual([["-none"]]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "1" })))).toEqual([]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["none"] })))).toEqual([["-none"]]);
  });

  test("is told beside what a wildcard covers", () => {
    const talk = talkWith("delta", [e("a", "1")]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["*", "none"] })))).toEqual([["a@1", "-none"]]);
    const empty = talkWith("delta", []);
    expect(says(empty.hear(1, delta(LISTENER, { subscribe: ["*"] })))).toEqual([[]]);
    expect(says(empty.hear(1, delta(ROUTE, { subscribe: ["*"], initialVersions: holding(e("x", "1")) })))).toEqual([
      ["-x"],
    ]);
  });
});

describe("what is asked for while an answer is unsettled", () => {
  test("goes out at once, and is not repeated when the rest has its turn", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1"), e("d", "1")]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
    talk.put(e("a", "2"));
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["b", "none"] })))).toEqual([["b@1", "-none"]]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "1" })))).toEqual([["a@2"]]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "3" })))).toEqual([]);
  });

  test("is told anew when its turn comes if it changed meanwhile: changed, come, gone", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1"), e("d", "1")]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["b", "d", "none"] }));
    talk.put(e("b", "2"), e("none", "1"));
    talk.change(gone("d"));
    expect(talk.turns()).toEqual([]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "1" })))).toEqual([["b@2", "none@1", "-d"]]);
  });

  test("is silent about what was given up before its turn", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1")]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["b"] }));
    talk.put(e("b", "2"));
    talk.hear(1, delta(ENDPOINTS, { unsubscribe: ["b"] }));
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "1" })))).toEqual([]);
    talk.receive(1, delta(ENDPOINTS, { subscribe: ["b"] }));
    expect(says(talk.hear(1, delta(ENDPOINTS, { unsubscribe: ["b"] })))).toEqual([]);
  });
});

test("S-VHD-03 a virtual host sent for a domain with a star while an answer is unsettled is sent once", () => {
  const host = resource(HOST, "r/1", "1", { aliases: ["r/*.x"], onDemand: true });
  const talk = talkWith("delta", [host]);
  talk.hear(1, delta(HOST, { node: node("n") }));
  expect(says(talk.hear(1, delta(HOST, { subscribe: ["r/a.x"] })))).toEqual([["r/1@1"]]);
  expect(says(talk.hear(1, delta(HOST, { nonce: "1" })))).toEqual([]);
  expect(says(talk.hear(1, delta(HOST, { nonce: "2" })))).toEqual([]);
  expect(says(talk.hear(1, delta(HOST, { subscribe: ["r/b.x"] })))).toEqual([["r/1@1"]]);
});

describe("a name given up under a wildcard", () => {
  test("is answered with what the wildcard says of it", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1", true)]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["*", "a", "b", "none"] })))).toEqual([
      ["a@1", "b@1", "-none"],
    ]);
    talk.hear(1, delta(ENDPOINTS, { nonce: "1" }));
    expect(says(talk.hear(1, delta(ENDPOINTS, { unsubscribe: ["a", "b", "none"] })))).toEqual([["a@1", "-b", "-none"]]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "2" })))).toEqual([]);
  });

  test("is forgotten if the wildcard is given up too", () => {
    const talk = talkWith("delta", [e("a", "1")]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["*", "a"] }));
    talk.receive(1, delta(ENDPOINTS, { unsubscribe: ["a"] }));
    expect(talk.hear(1, delta(ENDPOINTS, { unsubscribe: ["*"] }))).toEqual([]);
  });
});

describe("a wildcard that is named again", () => {
  test("is answered with everything, and with what is gone and may be held", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1")]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["*"] }));
    talk.change(gone("b"));
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["*"] })))).toEqual([["a@1", "-b"]]);
    talk.hear(1, delta(ENDPOINTS, { nonce: "2" }));
    talk.hear(1, delta(ENDPOINTS, { unsubscribe: ["*"] }));
    talk.put(e("d", "1"));
    expect(talk.turns()).toEqual([]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["*"] })))).toEqual([["a@1", "d@1"]]);
  });

  test("is told what is gone of an answer that is on its way, though its name was given up", () => {
    const talk = talkWith("delta", [e("a", "1")]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
    talk.put(e("b", "1"));
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["b"] })))).toEqual([["b@1"]]);
    talk.hear(1, delta(ENDPOINTS, { unsubscribe: ["b"] }));
    talk.change(gone("b"));
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["*"] })))).toEqual([["a@1", "-b"]]);
  });

  test("before the first turn after it came back takes no version for granted", () => {
    const talk = talkWith("delta", [e("a", "1")]);
    talk.receive(1, delta(CLUSTER, {}));
    talk.receive(1, delta(LISTENER, { subscribe: ["*"], initialVersions: holding(e("a", "1")) }));
    talk.put(resource(LISTENER, "a", "1"));
    talk.receive(1, delta(LISTENER, { subscribe: ["*"] }));
    expect(says(talk.turns())).toEqual([[], ["a@1"]]);
  });
});

describe("removals that would break the client", () => {
  const options = { dialect: { deltaRemovals: { otherwise: "at-once", ecds: "when-unreferenced" } } } as const;
  const filter = (label: string): ReturnType<typeof resource> => resource(EXTENSION, "f", label);
  const listener = (...references: readonly string[]): ReturnType<typeof resource> =>
    resource(LISTENER, "l", references.join(), { references: references.map((name) => ({ type: EXTENSION, name })) });

  test("wait until nothing refers to what is gone", () => {
    const talk = talkWith("delta", [filter("1"), listener("f")], options);
    talk.hear(1, delta(EXTENSION, { subscribe: ["f"] }));
    talk.hear(1, delta(EXTENSION, { nonce: "1" }));
    talk.change({ deletes: [{ type: EXTENSION, name: "f" }] });
    expect(talk.turns()).toEqual([]);
    talk.put(listener());
    expect(says(talk.turns())).toEqual([["-f"]]);
    expect(talk.turns()).toEqual([]);
  });

  test("are never told, though nothing refers to what is gone", () => {
    const never = { dialect: { deltaRemovals: { otherwise: "at-once", ecds: "never" } } } as const;
    const talk = talkWith("delta", [filter("1"), listener("f")], never);
    talk.hear(1, delta(EXTENSION, { subscribe: ["f"] }));
    talk.hear(1, delta(EXTENSION, { nonce: "1" }));
    talk.change({ puts: [listener()], deletes: [{ type: EXTENSION, name: "f" }] });
    expect(talk.turns()).toEqual([]);
    talk.put(filter("1"));
    expect(says(talk.turns())).toEqual([["f@1"]]);
  });

  test("are not needed if it comes again", () => {
    const talk = talkWith("delta", [filter("1"), listener("f")], options);
    talk.hear(1, delta(EXTENSION, { subscribe: ["f"] }));
    talk.hear(1, delta(EXTENSION, { nonce: "1" }));
    talk.change({ deletes: [{ type: EXTENSION, name: "f" }] });
    talk.turns();
    talk.put(filter("2"));
    expect(says(talk.turns())).toEqual([["f@2"]]);
  });
});

describe("one resource a response", () => {
  const options = { dialect: { deltaOnePerResponse: true } } as const;

  test("is what some editions want; removals travel together", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1")], options);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["a", "b", "x", "y"] })))).toEqual([
      ["a@1"],
      ["b@1"],
      ["-x", "-y"],
    ]);
    talk.hear(1, delta(ENDPOINTS, { nonce: "3" }));
    talk.put(e("a", "2"));
    expect(says(talk.turns())).toEqual([["a@2"]]);
    const missing = talkWith("delta", [], {
      dialect: { ...options.dialect, deltaMissing: { otherwise: "empty-resource" } },
    });
    expect(says(missing.hear(1, delta(ENDPOINTS, { subscribe: ["x", "y"] })))).toEqual([["?x"], ["?y"]]);
  });
});

describe("an answer that is too large for one response", () => {
  const options = { dialect: { maxResponseBytes: 1 } } as const;

  test("is several, with removals and what is missing among them", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1")], options);
    const parts = talk.hear(1, delta(ENDPOINTS, { subscribe: ["a", "x", "b"] }));
    expect(says(parts)).toEqual([["a@1"], ["b@1"], ["-x"]]);
    expect(parts.map((part) => part.nonce)).toEqual(["1", "2", "3"]);
  });

  test("counts as one: what is newer waits for all of it, and nothing of a refused part is sent again", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1"), e("d", "1")], options);
    talk.hear(1, delta(ENDPOINTS, {}));
    talk.put(e("b", "2"));
    expect(talk.hear(1, delta(ENDPOINTS, { nonce: "1" }))).toEqual([]);
    expect(talk.hear(1, delta(ENDPOINTS, { nonce: "2", error: no }))).toEqual([]);
    expect(talk.understood()).toBe("nack, nacked 2: 3 no");
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "3" })))).toEqual([["b@2"]]);
    expect(talk.hear(1, delta(ENDPOINTS, { nonce: "4", error: no }))).toEqual([]);
  });

  test("is settled by the ACK of its last part", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1"), e("d", "1")], options);
    talk.hear(1, delta(ENDPOINTS, {}));
    talk.put(e("b", "2"));
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "3" })))).toEqual([["b@2"]]);
  });

  test("is one for an Envoy, which takes the first for all there is, unless it waits for each name", () => {
    const talk = talkWith(
      "delta",
      [resource(CLUSTER, "a", "1"), resource(CLUSTER, "b", "1"), e("a", "1"), e("b", "1")],
      options,
    );
    const envoy = node("n", "envoy");
    expect(says(talk.hear(1, delta(CLUSTER, { node: envoy })))).toEqual([["a@1", "b@1"]]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["a", "b"] })))).toEqual([["a@1"], ["b@1"]]);
  });

  test("is the same for everybody who is told the same", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1")], options);
    talk.open(2, "delta");
    const bodiesOf = (stream: number): readonly unknown[] => {
      const request = delta(ENDPOINTS, { node: node("n") });
      talk.machine.on({ kind: "request-received", stream, request });
      return talk.machine.next(10).flatMap((effect) => (effect.kind === "send" ? [effect.body] : []));
    };
    const [mine, yours] = [bodiesOf(1), bodiesOf(2)];
    expect(mine.length).toBe(2);
    expect(mine.map((body, i) => body === yours[i])).toEqual([true, true]);
  });
});

describe("streams that are told the same", () => {
  const many = Array.from({ length: 20 }, (_, i) => `n${i}`);
  const bodies = (talk: Conversation): readonly unknown[] =>
    talk.machine.next(100).flatMap((effect) => (effect.kind === "send" ? [effect.body] : []));

  test.each([
    ["everything", ["*"]],
    ["names", many],
    ["everything and a name", ["*", "n1"]],
  ])("share one body, at first and after a change (%s)", (_, subscribe) => {
    const talk = new Conversation();
    talk.put(...many.map((name) => e(name, "1")));
    for (const stream of [1, 2, 3]) {
      talk.open(stream, "delta");
      talk.receive(stream, delta(ENDPOINTS, { subscribe }));
    }
    const first = bodies(talk);
    expect([first.length, new Set(first).size]).toEqual([3, 1]);
    for (const stream of [1, 2, 3]) talk.receive(stream, delta(ENDPOINTS, { nonce: "1" }));
    talk.put(...many.map((name) => e(name, "2")));
    const second = bodies(talk);
    expect([second.length, new Set(second).size]).toEqual([3, 1]);
  });
});

describe("what a type can be sent while some of it is held back (S-ORD-06)", () => {
  const flags = ({ canHoldBack, canTellTargets }: TypeStream): unknown => ({ canHoldBack, canTellTargets });
  const everything = {
    ...{ removable: () => everythingRemovable, heldBack: new Map() },
    absences: toldAtOnce,
  };
  const current = (): CurrentView => new CurrentViews(new SharedResponses(digest)).of(viewOf(new WrittenLayer("base")));

  test("is all the rest once it was sent something, and an earlier state unless it is to be compared", () => {
    const fresh = typeStream(ENDPOINTS, ["a"]);
    const returning = newTypeStream(ENDPOINTS);
    returning.onRequest(delta(ENDPOINTS, { subscribe: ["a"], initialVersions: holding(e("a", "1")) }));
    expect([fresh, returning].map(flags)).toEqual([
      { canHoldBack: false, canTellTargets: true },
      { canHoldBack: false, canTellTargets: false },
    ]);
    const both = { canHoldBack: true, canTellTargets: true };
    for (const stream of [fresh, returning]) {
      stream.next(current(), everything);
      expect(flags(stream)).toEqual(both);
    }
  });

  test("does not differ where a term may match several", () => {
    const hosts = typeStream(HOST, ["r/a"]);
    expect(flags(hosts)).toEqual({ canHoldBack: false, canTellTargets: true });
    hosts.next(current(), everything);
    expect(flags(hosts)).toEqual({ canHoldBack: true, canTellTargets: true });
  });

  test("S-WRM-08 is not marked for a resend before a first answer, which has all of it but what is compared", () => {
    const fresh = typeStream(ENDPOINTS, ["a"]);
    const returning = newTypeStream(ENDPOINTS);
    returning.onRequest(delta(ENDPOINTS, { subscribe: ["a"], initialVersions: holding(e("a", "1")) }));
    const hosts = typeStream(HOST, ["r/a"]);
    expect([fresh.resend(new Set(["a"])), hosts.resend(new Set(["r/"]))]).toEqual([false, false]);
    expect([returning.resend(new Set(["a"])), returning.resend(new Set(["b"]))]).toEqual([true, false]);
    for (const stream of [fresh, hosts]) stream.next(current(), everything);
    expect([fresh.resend(new Set(["a"])), fresh.resend(new Set(["b"]))]).toEqual([true, false]);
    expect([hosts.resend(new Set(["r/"])), hosts.resend(new Set(["r/b"])), hosts.resend(new Set(["r/a"]))]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe("a change of demand", () => {
  test.each([
    ["r/none", ["-r/"]],
    ["r/a", ["r/a@1", "-r/"]],
  ])("S-NEX-06 after %s to the name of a collection is answered", (first, said) => {
    const talk = talkWith("delta", [resource(HOST, "r/a", "1")]);
    talk.hear(1, delta(HOST, { subscribe: [first] }));
    talk.hear(1, delta(HOST, { nonce: "1" }));
    expect(says(talk.hear(1, delta(HOST, { subscribe: ["r/"] })))).toEqual([said]);
  });

  test("takes a resource from a wildcard, and gives it", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1", true)]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["*"] }));
    talk.hear(1, delta(ENDPOINTS, { nonce: "1" }));
    talk.put(e("a", "1", true), e("b", "1"));
    expect(says(talk.turns())).toEqual([["b@1", "-a"]]);
  });

  test("changes nothing for who asks by name", () => {
    const talk = talkWith("delta", [e("a", "1")]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
    talk.hear(1, delta(ENDPOINTS, { nonce: "1" }));
    talk.put(e("a", "1", true));
    expect(talk.turns()).toEqual([]);
  });
});
