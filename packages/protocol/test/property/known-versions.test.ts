import type { Resource } from "@xdskit/protocol";
import type { DiscoveryRequest } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { Journal } from "../../src/state/journal.ts";
import { Conversation } from "../support/conversation.ts";
import { delta, initialVersionsOf } from "../support/model-client.ts";
import { CLUSTER, resource } from "../support/resources.ts";

const names = ["a", "b", "c", "d"];
/** A commit: names with the label of what they have from then on, or with none. */
const commit = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.option(fc.nat(3))), {
  minLength: 1,
  selector: ([name]) => name,
});
const commits = fc.array(commit, { minLength: 1, maxLength: 12 });

/** The states that follow on each other, with the State of the World version of each. */
function play(
  talk: Conversation,
  steps: readonly (readonly (readonly [string, number | null])[])[],
): readonly { readonly held: ReadonlyMap<string, Resource>; readonly version: string }[] {
  const held = new Map<string, Resource>();
  return steps.map((step, index) => {
    const puts = step.flatMap(([name, label]) => (label === null ? [] : resource(CLUSTER, name, `${label}`)));
    const deletes = step.flatMap(([name, label]) => (label === null ? { type: CLUSTER, name } : []));
    for (const one of puts) held.set(one.name, one);
    for (const { name } of deletes) held.delete(name);
    talk.change({ puts, deletes });
    talk.open(index, "sotw", undefined, index);
    const [said] = talk.subscribe(index, CLUSTER);
    talk.close(index);
    return { held: new Map(held), version: said?.version ?? "" };
  });
}

function sotw(versionInfo: string | undefined): DiscoveryRequest {
  return { kind: "sotw", type: CLUSTER, node: undefined, nonce: undefined, error: undefined, versionInfo, names: [] };
}

test("whatever a server had lately is known to it, and nothing else is", () => {
  const run = (
    steps: readonly (readonly (readonly [string, number | null])[])[],
    which: number,
    part: readonly string[],
    foreign: string,
  ): void => {
    const talk = new Conversation();
    const knows = (request: DiscoveryRequest): boolean => talk.machine.knows(["base"], CLUSTER, request);
    const states = play(talk, steps);
    const { held, version } = states[which % states.length] ?? { held: new Map<string, Resource>(), version: "" };
    const pairs = [...held.values()].flatMap((one) =>
      part.includes(one.name) ? [[one.name, one.version] as const] : [],
    );
    const newer = resource(CLUSTER, foreign, "of another server");
    expect({
      part: knows(delta(CLUSTER, { initialVersions: initialVersionsOf(pairs) })),
      foreign: knows(delta(CLUSTER, { initialVersions: initialVersionsOf([...pairs, [foreign, newer.version]]) })),
      version: knows(sotw(version)),
      foreignVersion: knows(sotw(`${version}-of-another`)),
      nothing: knows(sotw(undefined)),
    }).toEqual({ part: true, foreign: false, version: true, foreignVersion: false, nothing: true });
  };
  fc.assert(fc.property(commits, fc.nat(11), fc.subarray(names), fc.constantFrom(...names, "e"), run));
});

test("a thousand clients that come back with what was replaced have the journal read once", () => {
  const talk = new Conversation();
  for (const label of ["1", "2"]) talk.put(resource(CLUSTER, "a", label));
  const former = delta(CLUSTER, { initialVersions: initialVersionsOf([["a", resource(CLUSTER, "a", "1").version]]) });
  const read = vi.spyOn(Journal.prototype, "backwards");
  for (let client = 0; client < 1_000; client++) expect(talk.machine.knows(["base"], CLUSTER, former)).toBe(true);
  expect(read).toHaveBeenCalledTimes(1);
  talk.put(resource(CLUSTER, "a", "3"));
  const second = delta(CLUSTER, { initialVersions: initialVersionsOf([["a", resource(CLUSTER, "a", "2").version]]) });
  expect(talk.machine.knows(["base"], CLUSTER, second)).toBe(true);
});
