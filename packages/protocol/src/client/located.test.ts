import { describe, expect, test } from "vitest";
import { ClientStory, change, errorOf, received, sourceOf, started } from "../../test/support/client-story.ts";
import { ENDPOINTS } from "../../test/support/resources.ts";
import type { Constraints } from "../resource/constraints.ts";
import { locatedTerm, variantKey } from "../resource/variant-name.ts";

function withParameters(name: string, parameters: Record<string, string>): string {
  return locatedTerm(name, new Map(Object.entries(parameters)));
}

const prod: Constraints = { kind: "value", key: "env", value: "prod" };
const notProd: Constraints = { kind: "not", of: prod };

/** A variant as it was received: `name@label`. */
function variant(name: string, constraints: Constraints, label: string): ReturnType<typeof received> {
  return received(name, label, { name: variantKey({ name, constraints }) });
}

function talking(...terms: readonly string[]): ClientStory {
  const story = new ClientStory(sourceOf({ variant: "delta" }));
  story.on(...terms.map((term, i) => started(i + 1, ENDPOINTS, term)));
  story.open(1);
  return story;
}

describe("a name with parameters", () => {
  test("C-LOC-01 B-LOC-04 B-LOC-09 is told the variant that fits, and another one with other parameters", () => {
    const story = talking(withParameters("a", { env: "prod" }), withParameters("a", { env: "dev", zone: "z" }));
    expect(story.requests).toMatchObject([{ hasLocators: true }]);
    const both = change(ENDPOINTS, "n1", { resources: [variant("a", prod, "p"), variant("a", notProd, "d")] });
    expect(story.receive(1, both)).toEqual(["1: changed a@p", "2: changed a@d", "1> ClusterLoadAssignment n1"]);
    expect(story.timers).toEqual([]);
    expect(story.watch(3, ENDPOINTS, withParameters("a", { env: "prod", x: "y" }))).toEqual([
      "3: changed a@p",
      "1> ClusterLoadAssignment +a {env=prod, x=y}",
    ]);
  });

  test("C-LOC-01 beside plain names it is told as one that has parameters, and plain names alone as none", () => {
    const prodTerm = withParameters("a", { env: "prod" });
    const delta = talking("b", prodTerm);
    delta.watch(3, ENDPOINTS, "c");
    delta.on({ kind: "watch-stopped", watch: 1 }, { kind: "watch-stopped", watch: 2 });
    expect(delta.requests.map(({ hasLocators }) => hasLocators)).toEqual([true, undefined, true]);
    const sotw = new ClientStory();
    sotw.on(started(1, ENDPOINTS, "b"), started(2, ENDPOINTS, prodTerm));
    sotw.open(1);
    sotw.stop(2);
    sotw.watch(3, ENDPOINTS, "c");
    expect(sotw.requests.map(({ hasLocators }) => hasLocators)).toEqual([true, undefined, undefined]);
  });

  test("B-LOC-11 without parameters is the name, and fits what is for everybody", () => {
    const story = talking("a", locatedTerm("a"), withParameters("a", { env: "prod" }));
    expect(story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1")] }))).toEqual([
      "1: changed a@1",
      "2: changed a@1",
      "3: changed a@1",
      "1> ClusterLoadAssignment n1",
    ]);
  });

  test("S-LOC-06 S-LOC-07 a variant goes by its key, as another takes its place", () => {
    const story = talking(withParameters("a", { env: "prod" }));
    story.receive(1, change(ENDPOINTS, "n1", { resources: [variant("a", prod, "1")] }));
    const exists: Constraints = { kind: "exists", key: "env" };
    const replaced = change(ENDPOINTS, "n2", {
      resources: [variant("a", exists, "2")],
      removed: [variantKey({ name: "a", constraints: prod })],
    });
    expect(story.receive(1, replaced)).toEqual([
      '1: absent a [env = "prod"] removed',
      "1: changed a@2",
      "1> ClusterLoadAssignment n2",
    ]);
  });

  test("B-LOC-04 the plain name is another one than its variants: what becomes of those leaves it alone", () => {
    const story = talking("a", withParameters("a", { env: "prod" }));
    story.receive(1, change(ENDPOINTS, "n1", { resources: [received("a", "1")] }));
    story.receive(1, change(ENDPOINTS, "n2", { errors: [errorOf("a", 14)] }));
    story.receive(1, change(ENDPOINTS, "n3", { resources: [variant("a", prod, "p")] }));
    expect(story.watch(3, ENDPOINTS, "a")).toEqual(["3: changed a@1", "3: failed a resource-error: why (holds a@1)"]);
  });

  test("B-LOC-04 the plain name may be removed, which takes nothing from its variants", () => {
    const story = talking(withParameters("a", { env: "prod" }));
    story.receive(1, change(ENDPOINTS, "n1", { resources: [variant("a", prod, "1")] }));
    expect(story.receive(1, change(ENDPOINTS, "n2", { removed: ["a"] }))).toEqual(["1> ClusterLoadAssignment n2"]);
    expect(story.reported("response-accepted").map(({ isNews }) => isNews)).toEqual([true, false]);
    expect(story.states).toEqual(["ClusterLoadAssignment a@1 acked"]);
  });

  test("C-LOC-01 one of several parameters that is given up takes nothing from the others", () => {
    const story = talking(withParameters("a", { env: "prod" }), withParameters("a", { env: "dev" }));
    expect(story.stop(2)).toEqual(["1> ClusterLoadAssignment -a {env=dev}"]);
    expect(story.receive(1, change(ENDPOINTS, "n1", { resources: [variant("a", prod, "1")] }))).toEqual([
      "1: changed a@1",
      "1> ClusterLoadAssignment n1",
    ]);
  });

  test("C-XTP-03 C-LOC-01 is asked for in the one way to write the name", () => {
    const name = "xdstp://x/envoy.config.endpoint.v3.ClusterLoadAssignment/a";
    const story = talking(withParameters(`${name}?b=2&a=1#alt=other`, { env: "prod" }));
    expect(story.requests.map((request) => request.kind === "delta" && request.subscribe)).toEqual([
      [withParameters(`${name}?a=1&b=2`, { env: "prod" })],
    ]);
  });

  test("B-LOC-04 everything without parameters holds no variant for some", () => {
    const story = talking("*");
    const both = [variant("a", prod, "1"), received("b", "1")];
    expect(story.receive(1, change(ENDPOINTS, "n1", { resources: both }))).toEqual([
      "1: changed b@1",
      "1: synced",
      "1> ClusterLoadAssignment n1",
    ]);
  });

  test("B-LOC-04 a variant that fits nobody is dropped", () => {
    const story = talking(withParameters("a", { env: "dev" }));
    expect(story.receive(1, change(ENDPOINTS, "n1", { resources: [variant("a", prod, "1")] }))).toEqual([
      "1> ClusterLoadAssignment n1",
    ]);
    expect(story.states).toEqual(["ClusterLoadAssignment a {env=dev} requested"]);
  });

  test("everything with parameters fits by constraints alone", () => {
    const story = talking(withParameters("*", { env: "prod" }));
    expect(
      story.receive(1, change(ENDPOINTS, "n1", { resources: [variant("a", prod, "1"), variant("b", notProd, "1")] })),
    ).toEqual(["1: changed a@1", "1: synced", "1> ClusterLoadAssignment n1"]);
  });
});
