import { setImmediate as nextTurn } from "node:timers/promises";
import {
  Cluster,
  ClusterLoadAssignment,
  createServer,
  HttpConnectionManager,
  type LayerUpdate,
  Listener,
  type ManagementServer,
  message,
  RouteConfiguration,
  type Update,
  XdsError,
} from "@xdskit/server";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../protocol/test/support/garbage.ts";
import { testApi } from "../support/test-server.ts";

const create = (): ManagementServer => createServer({ api: testApi() });
const a = Cluster({ name: "a", connectTimeout: "1s" });
const b = Cluster({ name: "b", connectTimeout: "1s" });
const c = Cluster({ name: "c", connectTimeout: "1s" });
const BYTES_OF_NAME = 16_384;
const change = (kind: "put" | "deleted", name: string, layer = "base"): object => ({
  ...{ kind, layer, name },
  type: Cluster.typeUrl,
});

/** A variant of the cluster `v`, for clients with a parameter of this value. */
function variant(key: string, value: string): typeof a {
  return message("envoy.service.discovery.v3.Resource", {
    resourceName: { name: "v", dynamicParameterConstraints: { constraint: { key, value } } },
    resource: Cluster({ name: "v" }),
  }) as never;
}

function problemsOf(act: () => unknown): XdsError["problems"] {
  try {
    act();
  } catch (error) {
    if (error instanceof XdsError && error.code === "RESOURCES_INVALID") return error.problems;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("set", () => {
  it("changes what differs, and nothing else", () => {
    const server = create();
    expect(server.set("base", [a, b])).toEqual({ revision: 1, changed: [change("put", "a"), change("put", "b")] });
    const changed = Cluster({ name: "b", connectTimeout: "2s" });
    expect(server.set("base", [changed, c])).toEqual({
      revision: 2,
      changed: [change("put", "b"), change("put", "c"), change("deleted", "a")],
    });
  });

  it("changes nothing for the same content, in any order and with either names of fields", () => {
    const server = create();
    server.set("base", [a, b]);
    const inProtoNames = { "@type": Cluster.typeUrl, name: "a", connect_timeout: "1s" } as typeof a;
    expect(server.set("base", [b, inProtoNames])).toEqual({ revision: 1, changed: [] });
  });

  it("leaves other layers and what commit put there alone", () => {
    const server = create();
    server.set("base", [a]);
    server.set("group/canary", [b]);
    expect(server.set("base", [])).toEqual({ revision: 3, changed: [change("deleted", "a")] });
    expect(server.set("group/canary", [b]).changed).toEqual([]);
  });

  it("makes the server ready, be it with nothing, once it listens", async () => {
    const server = createServer({ api: testApi(), listen: { port: 0 } });
    const ready: string[] = [];
    server.on("ready", ({ kind }) => ready.push(kind));
    expect(server.set("base", []).changed).toEqual([]);
    expect(ready).toEqual([]);
    await server.listen();
    server.set("base", [a]);
    expect(ready).toEqual(["ready"]);
    await server.close();
  });

  it("puts a resource again whose ttl alone changed", () => {
    const server = create();
    const withTtl = (ttl: "60s" | "90s"): Parameters<ManagementServer["set"]>[1][number] =>
      message("envoy.service.discovery.v3.Resource", { ttl, resource: Cluster({ name: "a" }) });
    server.set("base", [withTtl("60s")]);
    expect(server.set("base", [withTtl("60s")]).changed).toEqual([]);
    expect(server.set("base", [withTtl("90s")]).changed).toEqual([change("put", "a")]);
  });

  it("reads only what differs, also in place and in copies", () => {
    const read: unknown[] = [];
    const api = testApi();
    const server = createServer({
      api: {
        ...api,
        readResource: (value, wrapper) => {
          read.push(value);
          return api.readResource(value, wrapper);
        },
      },
    });
    const mine = Cluster({ name: "a", connectTimeout: "1s" });
    server.set("base", [mine, b]);
    expect(read.splice(0)).toEqual([mine, b]);
    Object.assign(mine, { connectTimeout: "2s" });
    expect(server.set("base", [structuredClone(b), c, mine]).changed).toEqual([change("put", "c"), change("put", "a")]);
    expect(read.splice(0)).toEqual([c, mine]);
    server.update((tx) => tx.layer("base").put(b, a).delete(Cluster, "c"));
    expect(read.splice(0)).toEqual([a]);
    expect(server.set("base", [a, b, c]).changed).toEqual([change("put", "c")]);
    expect(read).toEqual([c]);
  });

  it("names the first of two that are the same, however many there are", () => {
    const found = problemsOf(() => create().set("base", [a, b, b, c, a, structuredClone(b)]));
    expect(found.map(({ path, message }) => [path, message.slice(message.indexOf("at "))])).toEqual([
      ["resources[2]", "at resources[1]"],
      ["resources[4]", "at resources[0]"],
      ["resources[5]", "at resources[1]"],
    ]);
  });

  it("refuses all that is wrong at once, and changes nothing", () => {
    const server = create();
    server.set("base", [a]);
    const wrong = { "@type": Cluster.typeUrl, name: "b", conect_timeout: "1s", type: "EDSS" } as unknown as typeof a;
    const noType = { name: "c" } as unknown as typeof a;
    const problems = problemsOf(() => server.set("base", [a, wrong, a, noType, Cluster({ connectTimeout: "1s" })]));
    expect(problems).toEqual([
      {
        ...{ layer: "base", type: Cluster.typeUrl, name: "b", code: "FIELD_UNKNOWN", severity: "error" },
        path: "resources[1].conect_timeout",
        message: expect.stringContaining("conect_timeout"),
        hint: expect.stringContaining("connect_timeout"),
      },
      {
        ...{ layer: "base", type: Cluster.typeUrl, name: "b", code: "ENUM_UNKNOWN", severity: "error" },
        path: "resources[1].type",
        message: expect.stringContaining('got "EDSS"'),
        hint: expect.stringContaining("EDS"),
      },
      {
        ...{ layer: "base", type: Cluster.typeUrl, name: "a", code: "RESOURCE_DUPLICATE", severity: "error" },
        path: "resources[2]",
        message: 'expected one envoy.config.cluster.v3.Cluster named "a", got another at resources[0]',
      },
      {
        ...{ layer: "base", name: "c", code: "TYPE_MISSING", severity: "error", path: "resources[3]" },
        message: "expected @type, got none",
        hint: 'name the type, such as "@type": "type.googleapis.com/…"',
      },
      {
        ...{ layer: "base", type: Cluster.typeUrl, code: "RESOURCE_UNNAMED", severity: "error", path: "resources[4]" },
        message: "expected a name, got none",
        hint: expect.any(String),
      },
    ]);
    expect([server.revision, server.set("base", [a])]).toEqual([1, { revision: 1, changed: [] }]);
  });

  it("hints in the spelling of the program, without flags of the command line", () => {
    const wrong = { ...a, conectTimeout: "1s", quiteNew: 1, "@type": Cluster.typeUrl } as unknown as typeof a;
    expect(problemsOf(() => create().set("base", [wrong])).map(({ hint }) => hint)).toEqual([
      'did you mean "connectTimeout"?',
      "what is newer than this version, or private, needs its descriptors",
    ]);
  });

  it("refuses what is no list, and what is no layer", () => {
    const server = create();
    expect(problemsOf(() => server.set("", a as never))).toEqual([
      {
        layer: "",
        path: "layer",
        code: "ARGUMENT_INVALID",
        severity: "error",
        message: 'expected the name of a layer, got ""',
      },
      {
        ...{ layer: "", path: "resources", code: "ARGUMENT_INVALID", severity: "error" },
        message: "expected a list of resources, got an object",
      },
    ]);
  });
});

describe("update", () => {
  it("puts and deletes in several layers at one revision", () => {
    const server = create();
    server.set("base", [a, b]);
    const result = server.update((tx) => {
      tx.layer("base").delete(Cluster, "a", "unknown").put(c);
      tx.layer("group/canary").put(a).put(b).delete(Cluster.typeUrl, "b");
    });
    expect(result).toEqual({
      revision: 2,
      changed: [change("put", "c"), change("deleted", "a"), change("put", "a", "group/canary")],
    });
    expect(server.set("base", [b, c]).changed).toEqual([]);
  });

  it("counts the last of several changes of one resource", () => {
    const server = create();
    server.set("base", [a, b]);
    const slow = Cluster({ name: "a", connectTimeout: "9s" });
    const result = server.update((tx) => {
      tx.layer("base").put(slow).delete(Cluster, "a").put(a).delete(Cluster, "b").put(c);
      tx.layer("base").delete(Cluster, "c");
    });
    expect(result).toEqual({ revision: 2, changed: [change("deleted", "b")] });
    expect(server.set("base", [a]).changed).toEqual([]);
  });

  it("changes nothing if the callback throws, is async, or puts what is wrong", () => {
    const server = create();
    server.set("base", [a]);
    const stop = new Error("stop");
    expect(() =>
      server.update((tx) => {
        tx.layer("base").delete(Cluster, "a");
        throw stop;
      }),
    ).toThrow(stop);
    const wrong = { ...a, conect_timeout: "1s" } as unknown as typeof a;
    const found = problemsOf(() => server.update(async (tx) => tx.layer("base").put(b, wrong)));
    expect(found.map(({ code, path, layer }) => [code, path, layer])).toEqual([
      ["FIELD_UNKNOWN", "put[1].conect_timeout", "base"],
      ["ARGUMENT_INVALID", "update", ""],
    ]);
    expect(server.set("base", [a])).toEqual({ revision: 1, changed: [] });
  });

  it("handles the promise of an async callback, whose rejection would end the process", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const failing = async (): Promise<void> => {
      throw new Error("not there");
    };
    expect(problemsOf(() => create().update(failing)).map(({ path }) => path)).toEqual(["update"]);
    await nextTurn();
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});

describe("a change within a change", () => {
  const slow = Cluster({ name: "a", connectTimeout: "9s" });

  it("is counted, in the callback of an update", () => {
    const server = create();
    server.update((tx) => {
      tx.layer("base").put(a);
      server.update((other) => other.layer("base").put(b));
      tx.layer("other").put(c);
      server.set("other", [b]);
    });
    expect(server.set("base", []).changed).toEqual([change("deleted", "b"), change("deleted", "a")]);
    expect(server.set("other", []).changed).toEqual([change("deleted", "b", "other"), change("deleted", "c", "other")]);
  });

  it.each([
    ["set", (server: ManagementServer) => server.set("base", [a])],
    ["update", (server: ManagementServer) => server.update((tx) => tx.layer("base").put(a))],
  ])("is counted, by a listener of the commit of %s", (_, act) => {
    const server = create();
    const stop = server.on("committed", () => {
      stop();
      server.update((tx) => tx.layer("base").put(slow, b));
    });
    act(server);
    expect(server.set("base", [a]).changed).toEqual([change("put", "a"), change("deleted", "b")]);
  });

  it("names variants by their name", () => {
    const server = create();
    const variant = message("envoy.service.discovery.v3.Resource", {
      resourceName: { name: "a", dynamicParameterConstraints: { constraint: { key: "env", value: "prod" } } },
      resource: a,
    });
    expect(server.set("base", [variant]).changed).toEqual([change("put", "a")]);
    expect(server.set("base", []).changed).toEqual([change("deleted", "a")]);
  });

  it("deletes all variants of a name, except those that are put afterwards", () => {
    const server = create();
    const [prod, test] = [variant("env", "prod"), variant("env", "test")];
    const plain = Cluster({ name: "v" });
    const deleted = change("deleted", "v");
    server.set("base", [a, prod, test]);
    expect(server.update((tx) => tx.layer("base").delete(Cluster, "v").put(test)).changed).toEqual([deleted]);
    expect(server.set("base", [a, test]).changed).toEqual([]);
    expect(server.update((tx) => tx.layer("base").put(prod).delete(Cluster, "v").put(plain)).changed).toEqual([
      change("put", "v"),
      deleted,
    ]);
    expect(server.set("base", [a, plain]).changed).toEqual([]);
    server.update((tx) => tx.layer("base").delete(Cluster, "v").put(prod, test));
    expect(server.update((tx) => tx.layer("base").delete(Cluster, "v")).changed).toEqual([deleted, deleted]);
    expect(server.update((tx) => tx.layer("base").delete(Cluster, "v")).changed).toEqual([]);
    expect(server.set("base", [a]).changed).toEqual([]);
  });

  it("leaves all as it was if the commit is refused", () => {
    const server = create();
    server.set("base", [a, variant("env", "prod")]);
    const refused = expect.objectContaining({ code: "VARIANTS_AMBIGUOUS" });
    const ambiguous = variant("zone", "b");
    expect(() => server.set("base", [b, variant("env", "prod"), ambiguous])).toThrow(refused);
    expect(() => server.update((tx) => tx.layer("base").put(slow, b, ambiguous).delete(Cluster, "a"))).toThrow(refused);
    expect(() => server.update((tx) => tx.layer("new").put(variant("env", "prod"), ambiguous))).toThrow(refused);
    expect(server.set("base", [a, variant("env", "prod")])).toEqual({ revision: 1, changed: [] });
    expect(server.set("new", [])).toEqual({ revision: 1, changed: [] });
  });
});

it("keeps nothing of layers that were emptied, or only looked at", async () => {
  const server = create();
  server.set("base", [a]);
  await collectGarbage();
  const before = process.memoryUsage().heapUsed;
  // In one piece each: joined strings would share theirs.
  const nameOf = (i: number): string => Buffer.alloc(BYTES_OF_NAME, String(i).padStart(5)).toString("latin1");
  for (let i = 0; i < 1_000; i++) {
    server.set(nameOf(2 * i), [a]);
    server.set(nameOf(2 * i), []);
    server.update((tx) => tx.layer(nameOf(2 * i + 1)).delete(Cluster, "a"));
  }
  await collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(1_000 * BYTES_OF_NAME);
});

describe("what silently did nothing is refused", () => {
  const argument = { code: "ARGUMENT_INVALID", severity: "error" };

  it("an update that puts one name twice, unless it deletes it in between", () => {
    const server = create();
    const path = "put[1]";
    expect(problemsOf(() => server.update((tx) => tx.layer("base").put(a, a)))).toEqual([
      {
        ...{ layer: "base", type: Cluster.typeUrl, name: "a", code: "RESOURCE_DUPLICATE", severity: "error", path },
        message: 'expected one envoy.config.cluster.v3.Cluster named "a", got another at put[0]',
      },
    ]);
    const replaced = server.update((tx) => tx.layer("base").put(a).delete(Cluster, "a").put(a));
    expect(replaced.changed).toEqual([change("put", "a")]);
  });

  it("a deletion without names", () => {
    expect(problemsOf(() => create().update((tx) => tx.layer("base").delete(Cluster)))).toEqual([
      { ...argument, layer: "base", path: "delete", message: "expected at least one name, got none" },
    ]);
  });

  it("a change of an update that was made", () => {
    const server = create();
    const kept: { tx?: Update; layer?: LayerUpdate } = {};
    server.update((tx) => void Object.assign(kept, { tx, layer: tx.layer("base") }));
    const over = expect.objectContaining({ code: "SERVER_STATE" });
    expect(() => kept.tx?.layer("base")).toThrow(over);
    expect(() => kept.layer?.put(a)).toThrow(over);
    expect(() => kept.layer?.delete(Cluster, "a")).toThrow(over);
  });

  it("an update without a function", () => {
    expect(problemsOf(() => create().update(undefined as never))).toEqual([
      { ...argument, layer: "", path: "update", message: "expected a function, got undefined" },
    ]);
  });

  it("a deletion of a type by its short name, and one by a list of names", () => {
    const found = problemsOf(() =>
      create().update((tx) =>
        tx
          .layer("base")
          .delete("Cluster" as never, "a")
          .delete(Cluster, ["a", "b"] as never),
      ),
    );
    expect(found).toEqual([
      {
        ...argument,
        layer: "base",
        path: "delete",
        message: 'expected a type such as Cluster, or its URL, got "Cluster"',
      },
      { ...argument, layer: "base", path: "delete", message: "expected names one by one, got a list" },
    ]);
  });

  it("a set without a layer", () => {
    expect(problemsOf(() => (create().set as (one: unknown) => unknown)([a]))).toEqual([
      { ...argument, layer: "", path: "layer", message: "expected the name of a layer, got a list" },
      { ...argument, layer: "", path: "resources", message: "expected a list of resources, got undefined" },
    ]);
  });

  it("listeners of nothing, no listeners, and other options of drain", async () => {
    const server = create();
    const on = server.on.bind(server) as (...given: unknown[]) => unknown;
    expect(() => on("response-ackd", () => undefined)).toThrow(
      'on: event: expected the name of an event, got "response-ackd" (did you mean "response-acked"?)',
    );
    expect(() => on("response-acked")).toThrow("on: listener: expected a function, got undefined");
    await expect(server.publish({ origin: {} } as never)).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      message: "publish: publication.origin.writer: expected a name, got undefined",
    });
    await expect(server.drain({ grace: 5 } as never)).rejects.toThrow(
      "drain: options.grace: unknown option (it may be graceMs)",
    );
  });

  it("a Map in place of an object", () => {
    const wrong = { ...a, metadata: new Map([["a", 1]]) } as never;
    expect(problemsOf(() => create().set("base", [wrong]))).toEqual([
      {
        ...{ layer: "base", type: Cluster.typeUrl, name: "a", code: "FIELD_WRONG_TYPE", severity: "error" },
        ...{ path: "resources[0].metadata", message: "expected a plain object, got a Map" },
      },
    ]);
  });

  it("what is no resource, and types by their short names, with a hint", () => {
    const wrong = [HttpConnectionManager({ statPrefix: "x" }), { "@type": "Cluster", name: "a" } as never];
    expect(problemsOf(() => create().set("base", wrong)).map(({ path, hint }) => [path, hint])).toEqual([
      [
        "resources[0]",
        "clients do not subscribe to this message by itself: it belongs in a typedConfig, such as that of a filter in a Listener; what they do subscribe to goes into an envoy.service.discovery.v3.Resource with a name",
      ],
      ['resources[1]["@type"]', 'did you mean "envoy.config.cluster.v3.Cluster"?'],
    ]);
  });

  it("a constructor without fields", () => {
    expect(() => Cluster("hello" as never)).toThrow(
      new TypeError('envoy.config.cluster.v3.Cluster: expected an object of fields, got "hello"'),
    );
  });

  it("with ten problems in the message, and all of them in the list", () => {
    const wrong = Array.from({ length: 2_000 }, (_, i) => Cluster({ name: `c${i}`, connectTimeout: "x" as never }));
    const error = expect.objectContaining({
      message: expect.stringMatching(
        /^nothing was changed: (resources\[\d\]\.[^;]*; ){10}and 1,990 more, see `problems`$/,
      ),
    });
    const server = create();
    expect(() => server.set("base", wrong)).toThrow(error);
    expect(problemsOf(() => server.set("base", wrong))).toHaveLength(2_000);
  });

  it("promises in place of resources", () => {
    const server = create();
    const message = "expected a resource, got a promise: is an await missing?";
    expect(problemsOf(() => server.set("base", [Promise.resolve(a)] as never))).toEqual([
      { ...argument, layer: "base", path: "resources[0]", message },
    ]);
    expect(problemsOf(() => server.set("base", Promise.resolve([a]) as never))).toEqual([
      {
        ...{ ...argument, layer: "base", path: "resources" },
        message: "expected a list of resources, got a promise: is an await missing?",
      },
    ]);
  });

  it("changes of a closed server", async () => {
    const server = create();
    await server.close();
    const closed = expect.objectContaining({ code: "SERVER_STATE" });
    expect(() => server.set("base", [a])).toThrow(closed);
    expect(() => server.update((tx) => tx.layer("base").put(a))).toThrow(closed);
  });

  it("a layer that no node sees is a warning, until a node mapping is set", () => {
    const server = create();
    const cluster = Cluster({ name: "a", type: "ORIGINAL_DST", lbPolicy: "CLUSTER_PROVIDED" });
    server.set("canary", [cluster]);
    server.set("base", [cluster]);
    expect(server.check()).toEqual([
      {
        ...{ layer: "canary", path: "", code: "LAYER_UNSEEN", severity: "warning" },
        message: 'no node sees the layer "canary": without a nodeMapping, nodes see only "base"',
        hint: 'pass a nodeMapping that names the layer, or put the resources into "base"',
      },
    ]);
    server.setNodeMapping(() => ["canary", "base"]);
    expect(server.check()).toEqual([]);
  });
});

describe("what xds validate calls an error", () => {
  const routes = (name: string, match: object, weight = 1): ReturnType<typeof RouteConfiguration> => {
    const route = { weightedClusters: { clusters: [{ name: "a", weight }] } };
    return RouteConfiguration({
      name,
      virtualHosts: [{ name: "all", domains: ["*"], routes: [{ match: match as { prefix: string }, route }] }],
    });
  };
  const wrong = [
    Listener({ name: "port", address: { socketAddress: { address: "127.0.0.1", portValue: 99_999 } } }),
    routes("weights", { prefix: "/" }, 0),
    routes("regex", { safeRegex: { regex: "(" } }),
  ];
  const slow = Cluster({ name: "slow", type: "ORIGINAL_DST", lbPolicy: "CLUSTER_PROVIDED", connectTimeout: "-1s" });
  const codes = (found: readonly { code?: string; path: string }[]): unknown =>
    found.map(({ code, path }) => [code, path]);
  const errors = [
    ["PGV_LTE", "[0].address.socketAddress.portValue"],
    ["ROUTE_WEIGHTS_ZERO", "[1].virtualHosts[0].routes[0].route.weightedClusters"],
    ["ROUTE_REGEX_INVALID", "[2].virtualHosts[0].routes[0].match.safeRegex.regex"],
  ];

  it("is rejected by set and by update", () => {
    const server = create();
    const at = (where: string): unknown => errors.map(([code, path]) => [code, `${where}${path}`]);
    expect(codes(problemsOf(() => server.set("base", wrong)))).toEqual(at("resources"));
    expect(codes(problemsOf(() => server.update((tx) => tx.layer("base").put(...wrong))))).toEqual(at("put"));
    expect(server.revision).toBe(0);
  });

  it("is all that violates Envoy's rules with validation: reject, and with off what they do not concern", () => {
    const strict = createServer({ api: testApi(), validation: "reject" });
    expect(codes(problemsOf(() => strict.set("base", [slow])))).toEqual([["PGV_GT", "resources[0].connectTimeout"]]);
    const lax = createServer({ api: testApi(), validation: "off" });
    lax.set("base", [slow, ...wrong.slice(0, 1)]);
    expect(lax.check().map(({ code }) => code)).not.toContain("PGV_GT");
    const warning = create();
    warning.set("base", [slow]);
    expect(warning.check().map(({ code, severity }) => [code, severity])).toEqual([["PGV_GT", "warning"]]);
  });
});

describe("check", () => {
  const routes = RouteConfiguration({
    name: "routes",
    virtualHosts: [
      { name: "all", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "nowhere" } }] },
    ],
  });
  const listener = (name: string): ReturnType<typeof Listener> =>
    Listener({
      name,
      address: { socketAddress: { address: "127.0.0.1", portValue: 10_000 } },
      filterChains: [{ filters: [{ name: "echo" }] }],
    });

  it("finds nothing in resources that fit each other", () => {
    const server = create();
    server.set("base", [Cluster({ name: "a", type: "ORIGINAL_DST", lbPolicy: "CLUSTER_PROVIDED" })]);
    expect(server.check()).toEqual([]);
  });

  it("finds references to nothing, unused resources, broken rules and addresses that are taken", () => {
    const server = create();
    server.set("base", [
      routes,
      listener("one"),
      Cluster({ name: "slow", type: "ORIGINAL_DST", lbPolicy: "CLUSTER_PROVIDED", connectTimeout: "-1s" }),
      ClusterLoadAssignment({ clusterName: "orphan" }),
    ]);
    server.set("group/canary", [listener("two")]);
    server.setNodeMapping(() => ["group/canary", "base"]);
    expect(server.check().map(({ hint, ...problem }) => problem)).toEqual([
      {
        ...{ layer: "base", type: Cluster.typeUrl, name: "slow", code: "PGV_GT", severity: "warning" },
        path: "connectTimeout",
        message: "expected more than 0s, got -1s",
      },
      {
        ...{ layer: "base", type: RouteConfiguration.typeUrl, name: "routes", code: "REFERENCE_DANGLING" },
        ...{ severity: "warning", path: "" },
        message: 'RouteConfiguration "routes" needs Cluster "nowhere", which is not defined',
      },
      {
        ...{ layer: "base", type: RouteConfiguration.typeUrl, name: "routes", code: "RESOURCE_UNUSED" },
        ...{ severity: "warning", path: "", message: 'nothing refers to RouteConfiguration "routes"' },
      },
      {
        ...{ layer: "base", type: ClusterLoadAssignment.typeUrl, name: "orphan", code: "RESOURCE_UNUSED" },
        ...{ severity: "warning", path: "", message: 'nothing refers to ClusterLoadAssignment "orphan"' },
      },
      {
        ...{ layer: "group/canary", type: Listener.typeUrl, name: "two", code: "LISTENER_ADDRESS_DUPLICATE" },
        ...{ severity: "warning", path: "" },
        message: 'Listener "two" has the address 127.0.0.1:10000 of Listener "one": Envoy refuses the second',
        related: { layer: "base", type: Listener.typeUrl, name: "one" },
      },
    ]);
  });
});
