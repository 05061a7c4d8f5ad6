import type { Resource } from "@xdskit/protocol";
import type { Remembered } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, node, type Said, says } from "./support/conversation.ts";
import { CLUSTER, HOST, plain, ROUTE, resource, routeTo } from "./support/resources.ts";
import { firstOf, holding, rememberedOf, swapped } from "./support/returning.ts";

describe("a client that asks for routes and never for Clusters, which are its own", () => {
  const variants = ["sotw", "delta"] as const;
  const kinds = [ROUTE, undefined].flatMap((onlyType) => variants.map((variant) => ({ variant, onlyType })));

  test.each(kinds)(
    "is sent them when it comes back and its Clusters had time to be asked for ($variant, $onlyType)",
    ({ variant, onlyType }) => {
      const talk = swapped();
      talk.open(1, variant, onlyType);
      const held = variant === "sotw" ? { versionInfo: "before" } : { initialVersions: holding(routeTo("old")) };
      expect(says(talk.subscribe(1, ROUTE, ["r"], { ...firstOf(), ...held }))).toEqual([]);
      expect([...talk.timers.values()]).toEqual([30_000]);
      expect(says(talk.pass(30_000))).toEqual([["r@new"]]);
      expect(talk.reports.filter(({ kind }) => kind === "order-overdue")).toEqual([]);
    },
  );

  test.each([ROUTE, undefined])("is sent them after a second when it is new, and changes at once (%s)", (onlyType) => {
    const talk = swapped();
    talk.open(1, "delta", onlyType);
    expect(says(talk.subscribe(1, ROUTE, ["r"], firstOf()))).toEqual([]);
    expect(says(talk.pass(1_000))).toEqual([["r@new"]]);
    talk.ack(1, ROUTE);
    talk.put(plain("newer"), routeTo("newer"));
    expect(says(talk.turns())).toEqual([["r@newer"]]);
  });

  test("is sent virtual hosts after a second", () => {
    const talk = swapped();
    talk.put(resource(HOST, "r/h", "1", { references: [{ type: CLUSTER, name: "new" }] }));
    talk.open(1, "delta");
    expect(says(talk.subscribe(1, HOST, ["r/h"], firstOf()))).toEqual([]);
    expect(says(talk.pass(1_000))).toEqual([["r/h@1"]]);
  });

  test("is protected from then on if it asks for Clusters after all", () => {
    const talk = swapped();
    talk.open(1, "delta");
    talk.subscribe(1, ROUTE, ["r"], firstOf());
    expect(says(talk.pass(1_000))).toEqual([["r@new"]]);
    talk.ack(1, ROUTE);
    expect(says(talk.subscribe(1, CLUSTER))).toEqual([["new@1"]]);
    talk.ack(1, CLUSTER);
    talk.change({ puts: [plain("newer"), routeTo("newer")], deletes: [{ type: CLUSTER, name: "new" }] });
    expect(says(talk.turns())).toEqual([["newer@1"]]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["r@newer"]]);
    expect(says(talk.ack(1, ROUTE))).toEqual([["-new"]]);
  });
});

describe("a client that never asks for Clusters comes back", () => {
  const variants = [{ variant: "sotw" }, { variant: "delta" }] as const;
  const askFor = (
    talk: Conversation,
    stream: number,
    variant: "sotw" | "delta",
    type: typeof ROUTE | typeof HOST,
    held?: Resource,
  ): readonly Said[] =>
    talk.subscribe(stream, type, [type === HOST ? "r/h" : "r"], {
      ...firstOf(),
      ...(held && (variant === "sotw" ? { versionInfo: held.version } : { initialVersions: holding(held) })),
    });

  /** A server that met the client, which has the route. */
  function met(variant: "sotw" | "delta", onlyType: typeof ROUTE | undefined = ROUTE): Conversation {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("old"), plain("new"), routeTo("old"));
    talk.open(1, variant, onlyType);
    askFor(talk, 1, variant, ROUTE);
    if (variant === "delta") {
      // A new delta client may list nothing and hold something.
      talk.pass(1_000);
    } else talk.ack(1, ROUTE);
    return talk;
  }

  /** The next server, with what the one before kept, and a route that changed meanwhile. */
  function restarted(remembered: Iterable<Remembered>): Conversation {
    const talk = new Conversation({ remembers: true });
    talk.machine.on({ kind: "history-restored", remembered });
    talk.put(plain("old"), plain("new"), routeTo("new"));
    return talk;
  }

  test.each(variants)("S-ORD-06 and is sent a changed route after a second on ADS ($variant)", ({ variant }) => {
    const talk = restarted(rememberedOf(met(variant, undefined)));
    talk.open(1, variant);
    expect(says(askFor(talk, 1, variant, ROUTE, routeTo("old")))).toEqual([]);
    expect([...talk.timers.values()]).toEqual([1_000]);
    expect(says(talk.pass(1_000))).toEqual([["r@new"]]);
  });

  test.each(variants)("S-ORD-06 and is sent a changed route at once after a restart ($variant)", ({ variant }) => {
    const talk = restarted(rememberedOf(met(variant)));
    talk.open(1, variant, ROUTE);
    expect(says(askFor(talk, 1, variant, ROUTE, routeTo("old")))).toEqual([["r@new"]]);
    expect([...talk.timers.values()]).not.toContain(30_000);
  });

  test("S-ORD-06 and is sent virtual hosts that it asks for on demand at once", () => {
    const talk = restarted(met("delta").machine.remembered());
    talk.put(resource(HOST, "r/h", "1", { references: [{ type: CLUSTER, name: "new" }] }));
    talk.open(1, "delta", ROUTE);
    askFor(talk, 1, "delta", ROUTE, routeTo("old"));
    talk.open(2, "delta", HOST);
    expect(says(askFor(talk, 2, "delta", HOST))).toEqual([["r/h@1"]]);
  });

  test("also where the server went on and only the connection broke", () => {
    const talk = met("delta");
    talk.close(1);
    talk.put(routeTo("new"));
    talk.open(2, "delta", ROUTE, 2);
    expect(says(askFor(talk, 2, "delta", ROUTE, routeTo("old")))).toEqual([["r@new"]]);
  });

  test("and waits for Clusters if another node does", () => {
    const talk = restarted(rememberedOf(met("delta")));
    talk.open(1, "delta", ROUTE);
    const other = { node: node("other", "envoy"), initialVersions: holding(routeTo("old")) };
    expect(says(talk.subscribe(1, ROUTE, ["r"], other))).toEqual([]);
  });

  test("is waited for again once it asked for Clusters", () => {
    const talk = met("delta");
    talk.open(2, "delta", CLUSTER);
    talk.subscribe(2, CLUSTER, [], firstOf());
    const next = restarted(rememberedOf(talk));
    next.open(1, "delta", ROUTE);
    expect(says(askFor(next, 1, "delta", ROUTE, routeTo("old")))).toEqual([]);
    next.open(2, "delta", CLUSTER);
    next.subscribe(2, CLUSTER, [], { ...firstOf(), initialVersions: holding(plain("old"), plain("new")) });
    next.ack(2, CLUSTER);
    next.close(2);
    next.close(1);
    next.put(routeTo("old"));
    next.open(3, "delta", ROUTE, 2);
    expect(says(askFor(next, 3, "delta", ROUTE, routeTo("new")))).toEqual([]);
  });

  test("is not noted if it may ask for Clusters by name, after what names them", () => {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("old"), routeTo("old"));
    talk.open(1, "sotw");
    talk.subscribe(1, ROUTE, ["r"], firstOf("gRPC Go"));
    talk.ack(1, ROUTE);
    expect(rememberedOf(talk).filter(({ kind }) => kind === "clusters-elsewhere")).toEqual([]);
  });

  test("is waited for while another client of its id gets Clusters here", () => {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("old"), plain("new"), routeTo("old"));
    talk.open(1, "delta", CLUSTER, 1);
    talk.subscribe(1, CLUSTER, [], firstOf());
    talk.open(2, "delta", undefined, 2);
    talk.subscribe(2, CLUSTER, [], firstOf());
    talk.close(1);
    talk.open(3, "sotw", ROUTE, 3);
    askFor(talk, 3, "sotw", ROUTE);
    talk.ack(3, ROUTE);
    expect(rememberedOf(talk).filter((one) => one.kind === "clusters-elsewhere")).toEqual([
      { kind: "clusters-elsewhere", node: "n", isElsewhere: false, isHere: true },
    ]);
  });
});
