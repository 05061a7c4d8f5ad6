import { Listener } from "@xdskit/envoy-api/resources";
import { expect, test } from "vitest";
import { testApi } from "../../test/support/sources.ts";
import { entryIn, entryName } from "./entry-name.ts";
import { type Listed, membersOf } from "./members.ts";

const api = testApi();
const LISTENERS = "type.googleapis.com/envoy.config.listener.v3.ListenerCollection";
const name = "xdstp://a/envoy.config.listener.v3.ListenerCollection/c";

function listed(...entries: readonly object[]): Listed {
  const { input, problems } = api.readResource({ "@type": LISTENERS, entries }, { name });
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return input;
}

const listener = { "@type": Listener.typeUrl, name: "own, #1" };
const inline = (entry: object): object => ({ inlineEntry: { version: "7", ...entry } });

test("B-XTP-07 an entry is known by its name, else by that of its resource, else by that of the collection", () => {
  const nameless = { "@type": Listener.typeUrl, statPrefix: "x" };
  const { members, problems } = membersOf(
    listed(
      inline({ name: "one", resource: listener }),
      inline({ resource: listener }),
      inline({ resource: nameless }),
      { locator: { authority: "b", resourceType: "envoy.config.listener.v3.Listener", id: "in/*" } },
    ),
    name,
    api,
  );
  expect(problems).toEqual([]);
  expect(members.map((one) => (one.kind === "inline" ? one.name : one.names))).toEqual([
    `${name}#entry=one`,
    `${name}#entry=own%2C%20%231`,
    name,
    ["xdstp://b/envoy.config.listener.v3.Listener/in/*"],
  ]);
  const [first] = members;
  expect(first).toEqual({
    kind: "inline",
    name: `${name}#entry=one`,
    resource: {
      type: Listener.typeUrl,
      name: `${name}#entry=one`,
      aliases: [],
      version: "7",
      bytes: api.readResource(listener).input?.bytes,
      ttlMs: undefined,
    },
  });
});

test("B-XTP-07 what is wrong with entries is told, and the others are read", () => {
  const cluster = { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "c" };
  const { members, problems } = membersOf(
    listed(
      inline({ name: "a", resource: cluster }),
      inline({ name: "b" }),
      inline({ name: "c", resource: listener }),
      inline({ name: "c", resource: listener }),
    ),
    name,
    api,
  );
  expect(problems).toEqual([
    "entries[0]: expected a resource of envoy.config.listener.v3.Listener, got envoy.config.cluster.v3.Cluster",
    "entries[1]: expected a resource of envoy.config.listener.v3.Listener, got none",
    "entries[3]: expected a name of its own, got that of another entry",
  ]);
  expect(members.map((one) => one.kind === "inline" && one.name)).toEqual([`${name}#entry=c`]);
  expect(membersOf({ type: Listener.typeUrl, bytes: new Uint8Array() }, name, api)).toEqual({
    members: [],
    problems: ["expected a list collection, got envoy.config.listener.v3.Listener"],
  });
});

test("B-XTP-07 a name may ask for one entry", () => {
  expect(entryIn(`${name}#alt=xdstp:%2F%2Fb/t/x,entry=one`)).toBe("one");
  expect(entryIn(`${name}#entry=a%2Cb`)).toBe("a,b");
  expect(entryName(name, "a,b")).toBe(`${name}#entry=a%2Cb`);
  expect([entryIn(name), entryIn("old#entry=one"), entryIn(`${name}#entry=%`)]).toEqual([undefined, undefined, "%"]);
});
