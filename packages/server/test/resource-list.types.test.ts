import { type AnyMessage, Cluster, createServer, type ResourceList } from "@xdskit/server";
import { expect, test } from "vitest";

const one: AnyMessage = Cluster({ name: "one" });
const many: readonly AnyMessage[] = [one];
const names = ["a", "b"];

test("a list of resources mixes messages of unknown and of known type", () => {
  const server = createServer();
  const named: ResourceList = [...many, ...names.map((name) => Cluster({ name }))];
  const lists = [
    server.set("mixed", [Cluster({ name: "web" }), one]),
    server.set("spread", [...many, ...[]]),
    server.set("mapped", [...many, ...names.map((name) => Cluster({ name }))]),
    server.set("named", named),
    server.set(
      "known",
      names.map((name) => Cluster({ name })),
    ),
    server.set(
      "flat",
      names.flatMap((name) => (name === "a" ? [Cluster({ name })] : many)),
    ),
    server.set("joined", many.concat(names.map((name) => Cluster({ name })))),
    server.set("none", []),
  ];
  expect(lists.map(({ changed }) => changed.length)).toEqual([2, 1, 3, 3, 2, 2, 3, 0]);
});

test("a literal in a list is checked like one alone", () => {
  const server = createServer();
  const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  // @ts-expect-error: no such field
  const wrongField = () => server.set("base", [{ "@type": type, conectTimeout: "1s" }, one]);
  // @ts-expect-error: a name is a string
  const wrongKind = () => server.set("base", [one, { "@type": type, name: 5 }]);
  const isBoth = { name: "a", type: "EDS", clusterType: { name: "b" } } as const;
  // @ts-expect-error: `type` or `clusterType`
  const two = () => server.set("base", [...many, { "@type": type, ...isBoth }]);
  // @ts-expect-error: no such type
  const wrongType = () => server.set("base", [...many, { "@type": "type.googleapis.com/envoy.Cluster", name: "a" }]);
  for (const set of [wrongField, wrongKind, two, wrongType]) expect(set).toThrow("nothing was changed");
});
