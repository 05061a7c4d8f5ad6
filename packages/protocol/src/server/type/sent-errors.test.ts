import { describe, expect, test } from "vitest";
import { Conversation, delta, node, says, sotw, talkWith } from "../../../test/support/conversation.ts";
import { CLUSTER, ENDPOINTS, failure, LISTENER, plain, ROUTE, resource } from "../../../test/support/resources.ts";
import { statusCode } from "../../message/status.ts";
import { formatTypeUrl } from "../../resource/type-url.ts";

const { INTERNAL, NOT_FOUND, PERMISSION_DENIED, UNAVAILABLE } = statusCode;
const e = (name: string, label: string): ReturnType<typeof resource> => resource(ENDPOINTS, name, label);
const denied = (name: string, type = ENDPOINTS): ReturnType<typeof failure> => failure(type, name, PERMISSION_DENIED);

describe("in delta, an error", () => {
  test("is told in place of the resource, once, and again when it changes (S-ERR-01, S-ERR-02)", () => {
    const talk = talkWith("delta", [e("a", "1"), denied("x")]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["a", "x"] })))).toEqual([["a@1", "!x 7 why"]]);
    expect(talk.hear(1, delta(ENDPOINTS, { nonce: "1" }))).toEqual([]);
    talk.put(e("a", "2"));
    expect(says(talk.turns())).toEqual([["a@2"]]);
    talk.hear(1, delta(ENDPOINTS, { nonce: "2" }));
    talk.put(failure(ENDPOINTS, "x", PERMISSION_DENIED, "another why"));
    expect(says(talk.turns())).toEqual([["!x 7 another why"]]);
    talk.hear(1, delta(ENDPOINTS, { nonce: "3" }));
    talk.put(e("x", "1"));
    expect(says(talk.turns())).toEqual([["x@1"]]);
  });

  test("answers a name that is asked for again", () => {
    const talk = talkWith("delta", [denied("x")]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["x"] })))).toEqual([["!x 7 why"]]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["x"] })))).toEqual([["!x 7 why"]]);
    expect(talk.hear(1, delta(ENDPOINTS, { nonce: "2" }))).toEqual([]);
  });

  test("out of turn is not told once more in turn", () => {
    const talk = talkWith("delta", [e("a", "1"), denied("x")]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["x"] })))).toEqual([["!x 7 why"]]);
    expect(talk.hear(1, delta(ENDPOINTS, { nonce: "2" }))).toEqual([]);
  });

  test("waits for the answer to what was sent before", () => {
    const talk = talkWith("delta", [e("a", "1")]);
    talk.hear(1, delta(ENDPOINTS, {}));
    talk.put(denied("x"));
    expect(talk.turns()).toEqual([]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { nonce: "1" })))).toEqual([["!x 7 why"]]);
  });

  test("takes the place of a resource, and says so in place of its removal", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1")]);
    talk.hear(1, delta(ENDPOINTS, {}));
    talk.hear(1, delta(ENDPOINTS, { nonce: "1" }));
    talk.put(failure(ENDPOINTS, "a", UNAVAILABLE));
    talk.change({ deletes: [{ type: ENDPOINTS, name: "b" }] });
    expect(says(talk.turns())).toEqual([["-b", "!a 14 why"]]);
  });

  test("that is taken away leaves the client with nothing: what it kept is removed", () => {
    const talk = talkWith("delta", [e("a", "1")]);
    talk.hear(1, delta(ENDPOINTS, {}));
    talk.hear(1, delta(ENDPOINTS, { nonce: "1" }));
    talk.put(failure(ENDPOINTS, "a", UNAVAILABLE));
    talk.turns();
    talk.hear(1, delta(ENDPOINTS, { nonce: "2" }));
    talk.change({ deletes: [{ type: ENDPOINTS, name: "a" }] });
    expect(says(talk.turns())).toEqual([["-a"]]);
  });

  test("in a layer of the node's own hides the resource below", () => {
    const talk = new Conversation({ nodeMapping: () => ["node/n", "base"] });
    talk.commit([
      { layer: "base", puts: [e("x", "1")] },
      { layer: "node/n", puts: [denied("x")] },
    ]);
    talk.open(1, "delta");
    expect(says(talk.hear(1, delta(ENDPOINTS, {})))).toEqual([["!x 7 why"]]);
    talk.hear(1, delta(ENDPOINTS, { nonce: "1" }));
    talk.change({ layer: "node/n", deletes: [{ type: ENDPOINTS, name: "x" }] });
    expect(says(talk.turns())).toEqual([["x@1"]]);
  });

  test("of a Cluster that may be in use comes when the Cluster goes", () => {
    const route = (cluster: string): ReturnType<typeof resource> =>
      resource(ROUTE, "r", cluster, { references: [{ type: CLUSTER, name: cluster }] });
    const talk = talkWith("delta", [plain("old", "1"), plain("new", "1"), route("old")]);
    talk.hear(1, delta(CLUSTER, {}));
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.hear(1, delta(ROUTE, { subscribe: ["r"] }));
    talk.hear(1, delta(ROUTE, { nonce: "2" }));
    talk.put(denied("old", CLUSTER), route("new"));
    expect(says(talk.turns())).toEqual([["r@new"]]);
    expect(says(talk.hear(1, delta(ROUTE, { nonce: "3" })))).toEqual([["!old 7 why"]]);
  });

  test("of a glob collection is told to those who name it, not to a wildcard (B-ERR-12)", () => {
    const glob = "xdstp://a/envoy.config.endpoint.v3.ClusterLoadAssignment/web/*";
    const talk = talkWith("delta", [denied(glob)]);
    expect(says(talk.hear(1, delta(ENDPOINTS, {})))).toEqual([[]]);
    talk.hear(1, delta(ENDPOINTS, { nonce: "1" }));
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: [glob] })))).toEqual([[`!${glob} 7 why`]]);
    expect(() => denied("*")).toThrow("a wildcard has no error of its own");
  });

  test("is no placeholder's neighbour (S-ERR-03)", () => {
    const placeholder = (): Uint8Array => new Uint8Array(1);
    const talk = talkWith("delta", [resource(CLUSTER, "a", "1"), denied("a")], {
      traits: (type) =>
        type === ENDPOINTS ? { type, kind: "eds", isFullState: false, owes: [], placeholder } : undefined,
    });
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] })))).toEqual([["!a 7 why"]]);
  });
});

describe("an Envoy, which reads no errors,", () => {
  const envoy = { node: node("n", "envoy") };

  test("is told that what it waits for is missing, beside the error", () => {
    const talk = talkWith("delta", [failure(ENDPOINTS, "x", INTERNAL), denied("r", ROUTE)]);
    expect(says(talk.hear(1, delta(ENDPOINTS, { ...envoy, subscribe: ["x"] })))).toEqual([["-x", "!x 13 why"]]);
    // Of a route that is not there Envoy is not told: its listener would wait for ever.
    expect(says(talk.hear(1, delta(ROUTE, { subscribe: ["r"] })))).toEqual([["!r 7 why"]]);
  });

  test("loses what it may not have, and keeps what only failed", () => {
    const talk = talkWith("delta", [e("a", "1"), e("b", "1")]);
    talk.hear(1, delta(ENDPOINTS, { ...envoy, subscribe: ["a", "b"] }));
    talk.hear(1, delta(ENDPOINTS, { nonce: "1" }));
    talk.put(denied("a"), failure(ENDPOINTS, "b", INTERNAL));
    expect(says(talk.turns())).toEqual([["-a", "!a 7 why", "!b 13 why"]]);
  });

  test("gets a resource without a body where it wants that, and not the error beside it (S-ERR-03)", () => {
    const HOST = formatTypeUrl("envoy.config.route.v3.VirtualHost");
    const talk = talkWith("delta", [denied("rc/x", HOST)], {
      traits: (type) => ({ type, kind: "vhds", isFullState: false, owes: [] }),
    });
    expect(says(talk.hear(1, delta(HOST, { ...envoy, subscribe: ["rc/x"] })))).toEqual([["?rc/x"]]);
  });
});

describe("in State of the World, an error", () => {
  test("of a named type is told alone (S-ERR-01, S-ERR-02)", () => {
    const talk = talkWith("sotw", [e("a", "1"), denied("x")]);
    const names = ["a", "x", "y"];
    expect(says(talk.hear(1, sotw(ENDPOINTS, { names })))).toEqual([["a@1", "!x 7 why"]]);
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names }))).toEqual([]);
    talk.put(denied("y"));
    expect(says(talk.turns())).toEqual([["!y 7 why"]]);
    talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names }));
    talk.put(e("x", "1"));
    expect(says(talk.turns())).toEqual([["x@1"]]);
  });

  test("of a full-state type comes with all other resources, and is not repeated with them (S-ERR-04)", () => {
    const talk = talkWith("sotw", [plain("a", "1")]);
    talk.hear(1, sotw(CLUSTER, {}));
    talk.hear(1, sotw(CLUSTER, { nonce: "1" }));
    talk.put(denied("x", CLUSTER));
    expect(says(talk.turns())).toEqual([["a@1", "!x 7 why"]]);
    talk.hear(1, sotw(CLUSTER, { nonce: "2" }));
    talk.put(plain("a", "2"));
    expect(says(talk.turns())).toEqual([["a@2"]]);
    talk.hear(1, sotw(CLUSTER, { nonce: "3" }));
    talk.change({ deletes: [{ type: CLUSTER, name: "x" }] });
    expect(says(talk.turns())).toEqual([["a@2"]]);
  });

  test("of a Cluster comes when the Cluster goes", () => {
    const talk = talkWith("sotw", [plain("a", "1"), plain("x", "1"), resource(LISTENER, "l", "1")]);
    talk.hear(1, sotw(CLUSTER, {}));
    talk.hear(1, sotw(CLUSTER, { nonce: "1" }));
    talk.hear(1, sotw(LISTENER, {}));
    talk.put(denied("x", CLUSTER));
    expect(says(talk.turns())).toEqual([]);
    expect(says(talk.hear(1, sotw(LISTENER, { nonce: "2" })))).toEqual([["a@1", "!x 7 why"]]);
  });

  test("is also that nothing has a name, where that is switched on (S-RES-15)", () => {
    const talk = talkWith("sotw", [e("a", "1")], { dialect: { resourceErrors: "failed-and-missing" } });
    const missing = `!x ${NOT_FOUND} no resource has this name`;
    expect(says(talk.hear(1, sotw(ENDPOINTS, { names: ["a", "x"] })))).toEqual([["a@1", missing]]);
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a", "x"] }))).toEqual([]);
    talk.put(e("x", "1"));
    expect(says(talk.turns())).toEqual([["x@1"]]);
    expect(says(talk.hear(1, sotw(LISTENER, { names: ["x"] })))).toEqual([[missing]]);
  });
});

describe("an error is an absence", () => {
  const V2 = formatTypeUrl("envoy.api.v2.ClusterLoadAssignment");

  test.each([
    ["for types of version 2", V2, {}],
    ["for editions that have no field for it", ENDPOINTS, { edition: "2021" }],
    [
      "where the switch is off",
      ENDPOINTS,
      { dialect: { resourceErrors: "off", deltaMissing: { otherwise: "empty-resource" } } },
    ],
  ] as const)("%s", (_, type, options) => {
    const talk = talkWith("delta", [resource(type, "a", "1"), denied("x", type)], options);
    const missing = type === V2 ? "-x" : "?x";
    expect(says(talk.hear(1, delta(type, { subscribe: ["a", "x"] })))).toEqual([["a@1", missing]]);
    talk.open(2, "sotw");
    expect(says(talk.hear(2, sotw(type, { names: ["a", "x"] })))).toEqual([["a@1"]]);
  });

  test("to whoever looks at the state", () => {
    const talk = talkWith("delta", [e("a", "1"), denied("x")]);
    talk.hear(1, delta(ENDPOINTS, { subscribe: ["a", "x"] }));
    const [layer] = talk.machine.layers();
    expect(layer?.types.get(ENDPOINTS)).toMatchObject({ resources: 1, errors: 1 });
    expect([...talk.machine.resources(["base"], ENDPOINTS)].map((one) => one.name)).toEqual(["a"]);
    expect([...talk.machine.resourceErrors(["base"], ENDPOINTS)].map((one) => one.name)).toEqual(["x"]);
    const [stream] = talk.machine.streams();
    expect(stream?.types.map(({ doesNotExist, errors }) => ({ doesNotExist, errors }))).toEqual([
      { doesNotExist: ["x"], errors: [{ name: "x", error: { code: 7, message: "why" } }] },
    ]);
  });

  test("whose body is shared by all who are told the same", () => {
    const talk = talkWith("delta", [e("a", "1")]);
    talk.open(2, "delta");
    for (const stream of [1, 2]) {
      talk.hear(stream, delta(ENDPOINTS, { node: node("n") }));
      talk.hear(stream, delta(ENDPOINTS, { nonce: "1" }));
    }
    talk.put(denied("a"));
    const bodies = talk.machine.next(10).flatMap((effect) => (effect.kind === "send" ? [effect.body] : []));
    expect([bodies.length, new Set(bodies).size]).toEqual([2, 1]);
  });
});
