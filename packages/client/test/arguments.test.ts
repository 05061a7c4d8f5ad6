import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Cluster, createXdsClient, Listener, resourceType, validator, type XdsClient } from "../src/index.ts";
import { testApi } from "./support/sources.ts";

let client: XdsClient;
beforeEach(async () => {
  client = await createXdsClient({ api: testApi(), server: "127.0.0.1:1" });
});
afterEach(() => client.close());

/** As a program calls that has no compiler to hold it back. */
const any = (value: unknown): never => value as never;

async function mistakeOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string };
    return `${code} ${message}`;
  }
  return "none";
}

/** What is called, and what is told. */
const mistakes: readonly (readonly [call: () => unknown, told: string])[] = [
  [() => client.get(Cluster, any(undefined)), "get: name: expected a name, got undefined"],
  [() => client.get(Cluster, ""), 'get: name: expected a name, got ""'],
  [() => client.get(any(undefined), "a"), "type: expected a type such as Cluster, or its URL, got undefined"],
  [
    () => client.get(Cluster, any(5), any({ timeoutMs: "1s", retries: 3 })),
    "get: name: expected a name, got 5; " +
      'options.timeoutMs: expected milliseconds from 0 on, got "1s"; options.retries: unknown option (it may be timeoutMs, signal, parameters)',
  ],
  [
    () => client.get(any("eds"), "a"),
    'type: expected a type such as Cluster, or its URL, got "eds" (pass ClusterLoadAssignment of @xdskit/client)',
  ],
  [() => client.list(Cluster, any("all")), 'list: options: expected an object, got "all"'],
  [() => client.watch(Cluster, any({ sginal: 1 })), 'watch: options.sginal: unknown option (did you mean "signal"?)'],
  [() => client.watch(Cluster, any({}), {}), "watch: name: expected a name, got an object"],
  [() => client.watch(Cluster, any(null)), "watch: name: expected a name, got null"],
  [
    () => client.watch(Cluster, "a", any({ onChange: 1, parameters: { a: 1 }, signal: {} })),
    "watch: options.onChange: expected a function, got 1; options.parameters.a: expected a string, got a value of type number; " +
      "options.signal: expected an AbortSignal, got an object",
  ],
  [() => client.resolve(Listener, any(1)), "resolve: names: expected a name, got 1"],
  [() => client.resolve(Listener, []), "resolve: names: expected at least one, got none"],
  [() => client.resolve(Listener, ["a", any(1)]), "resolve: names[1]: expected a name, got 1"],
  [() => client.mesh(any({ snapshots: "all" })), 'mesh: options.snapshots: expected one of complete, every, got "all"'],
  [() => client.mesh().demandCluster(any(undefined)), "demandCluster: name: expected a name, got undefined"],
  [
    () => client.mesh().demandHost("r", any(1), any(5)),
    "demandHost: host: expected a name, got 1; options: expected an object, got 5",
  ],
  [() => client.mesh().demandScope(any({})), "demandScope: scope: expected a name, got an object"],
  [() => client.changeNode(any({ id: 5 })), "changeNode: node.id: expected a string, got 5"],
  [
    () => client.encodeStatus(any({ apiVersion: 3 })),
    "encodeStatus: options.apiVersion: expected one of v2, v3, got 3",
  ],
  [
    () => client.reportLoad(any({ cluster: "web" })),
    'reportLoad: options.cluster: expected a Cluster, as get and list find it, got "web"',
  ],
  [
    () => client.reportLoad(any({ server: "127.0.0.1:2" })),
    'reportLoad: options.server: expected a server of a configuration, got "127.0.0.1:2"',
  ],
  [
    () => client.reportLoad(any({ cluster: { type: Cluster.typeUrl, json: {} }, apiVersion: "v2" })),
    "reportLoad: options: expected a cluster or a server, got both",
  ],
  [() => client.reportLoad().start(any({})), "start: place.cluster: expected a name, got undefined"],
  [() => client.reportLoad().drop(any(undefined)), "drop: place: expected a name, got undefined"],
  [
    () => client.checkHealth(any({ checkers: { UDP: () => true } })),
    "checkHealth: options.checkers.UDP: unknown option (it may be HTTP, TCP, REDIS)",
  ],
  [
    () => resourceType(any(undefined)),
    "resourceType: messageName: expected the name of a message, such as acme.Widget, got undefined",
  ],
  [() => validator(Cluster, any("no")), 'validator: check: expected a function, got "no"'],
];

describe("what a method does not take is told, all of it, and nothing is done", () => {
  test.each(mistakes)("%s", async (call, told) => {
    expect(await mistakeOf(call)).toBe(`ARGUMENT_INVALID ${told}`);
    expect(client.dump()).toEqual([]);
  });

  test("so are options that are none", async () => {
    expect(await mistakeOf(() => createXdsClient(any(null)))).toBe(
      "CONFIG_INVALID the configuration is not valid: options: expected an object, got null",
    );
  });
});

test("a watch of everything takes its options as the second argument", async () => {
  const stop = new AbortController();
  const watch = client.watch(Cluster, { signal: stop.signal });
  stop.abort();
  expect(await watch.next()).toEqual({ done: true, value: undefined });
});

test("undefined fields of a node are left out; an undefined locality is none", async () => {
  const locality = { region: "r", zone: "z", subZone: "" };
  const node = any({ id: "n", cluster: undefined, metadata: undefined, locality });
  const one = await createXdsClient({ api: testApi(), server: "127.0.0.1:1", node });
  one.changeNode(any({ id: undefined, userAgentName: undefined }));
  expect(one.node).toMatchObject({ id: "n", cluster: "", metadata: {}, locality, userAgentName: "xdskit" });
  one.changeNode({ locality: undefined, cluster: "c" });
  expect(one.node).toMatchObject({ id: "n", cluster: "c", locality: undefined });
  await one.close();
});
