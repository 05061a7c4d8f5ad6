import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { expect, test } from "vitest";
import type { Load } from "../loaded-state.ts";
import { LoadFollower, LoadTeller } from "./load-change.ts";

const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const resource = (name: string): Resource => createResource({ type, name, bytes: Uint8Array.of(1) }, contentDigest);
const [a, b, c, d, unused] = ["a", "b", "c", "d", "unused"].map(resource) as [
  Resource,
  Resource,
  Resource,
  Resource,
  Resource,
];
const loadOf = (...resources: readonly Resource[]): Load => ({
  state: {
    layers: new Map([["base", resources]]),
    ...{ settings: {}, clients: [], listeners: [], groups: [], access: undefined },
    ...{ files: 1, resources: resources.length },
  },
  problems: [],
});

test("what was sent ahead is not sent again, and what is in no load does no harm", () => {
  const [teller, follower] = [new LoadTeller(), new LoadFollower()];
  const follow = (load: Load, ahead: readonly Resource[]): readonly unknown[] => {
    const told = teller.tell(load, ahead);
    const names: string[][] = [];
    const received = [...ahead];
    for (;;) {
      const { done, value } = told.next();
      if (done === true) return [names, follower.follow(value, received, [])];
      if (value.kind !== "resources") continue;
      names.push([...value.packed.names]);
      for (const name of value.packed.names) received.push(resource(name));
    }
  };
  expect(follow(loadOf(a, b, c), [c, unused, a])).toEqual([[["b"]], loadOf(a, b, c)]);
  expect(follow(loadOf(a, d, c), [d])).toEqual([[], loadOf(a, d, c)]);
});
