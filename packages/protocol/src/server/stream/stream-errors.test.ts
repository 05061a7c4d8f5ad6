import { describe, expect, test } from "vitest";
import { delta, node } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, failure, resource } from "../../../test/support/resources.ts";
import { typeStream } from "../../../test/support/type-streams.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { Resource } from "../../resource/resource.ts";
import { formatTypeUrl } from "../../resource/type-url.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { StreamErrors } from "./stream-errors.ts";

function viewWith(...held: readonly Resource[]): CurrentView {
  return new CurrentViews(new SharedResponses(digest)).of(viewOf(new WrittenLayer("base", held)));
}

function errorsFor(dialect: Partial<Dialect> = {}, apiVersion: "v2" | "v3" = "v3"): StreamErrors {
  return new StreamErrors({ variant: "delta", apiVersion }, { ...dialectFor(node("n")), ...dialect });
}

/** What is sent instead of nothing: the names of the errors. */
function add(errors: StreamErrors, type: TypeStream, current: CurrentView): readonly string[] {
  const answers = errors.add(type, [], { current, wasBlocked: false });
  return answers.flatMap(({ body }) =>
    body.segments.flatMap((segment) => (segment.errors ?? []).map(({ name }) => name)),
  );
}

describe("S-ERR-01: the errors of a stream", () => {
  test("are sent once, and forgotten for names that the client gives up", () => {
    const errors = errorsFor();
    const type = typeStream(ENDPOINTS, ["a", "b"]);
    const current = viewWith(failure(ENDPOINTS, "a", 13), failure(ENDPOINTS, "b", 13));
    const giveUp = delta(ENDPOINTS, { unsubscribe: ["a"] });
    errors.onRequest(type, giveUp);
    expect([errors.isEmpty, errors.describe(type)]).toEqual([true, []]);
    expect([add(errors, type, current), add(errors, type, current), errors.isEmpty]).toEqual([["a", "b"], [], false]);
    const error = { code: 13, message: "why" };
    expect([errors.describe(type), errors.describe(typeStream(CLUSTER))]).toEqual([
      [
        { name: "a", error },
        { name: "b", error },
      ],
      [],
    ]);
    type.onRequest(giveUp);
    errors.onRequest(type, giveUp);
    expect(errors.describe(type)).toEqual([{ name: "b", error }]);
  });

  test("are none where the type never had one, or where the client is sent none", () => {
    const [fine, broken] = [viewWith(resource(ENDPOINTS, "a", "1")), viewWith(failure(ENDPOINTS, "a", 13))];
    const isEmptyWith = (errors: StreamErrors, current = broken, type = typeStream(ENDPOINTS, ["a"])): boolean => {
      const answers = [{ body: current.wholeBody("delta", ENDPOINTS), isInOrder: true, news: [] }];
      const said = errors.add(type, answers, { current, wasBlocked: false });
      return errors.isEmpty && said === answers;
    };
    const ofV2 = typeStream(ENDPOINTS, ["a"], { type: formatTypeUrl("envoy.api.v2.ClusterLoadAssignment") });
    const all = { resourceErrors: "failed-and-missing" } as const;
    expect([
      isEmptyWith(errorsFor(), fine),
      isEmptyWith(errorsFor({ resourceErrors: "off" })),
      isEmptyWith(errorsFor(all, "v2")),
      isEmptyWith(errorsFor(all), broken, ofV2),
      isEmptyWith(errorsFor()),
      isEmptyWith(errorsFor(all), fine),
    ]).toEqual([true, true, true, true, false, false]);
  });

  test("are shown to people, the first hundred", () => {
    const errors = errorsFor();
    const type = typeStream(ENDPOINTS);
    const names = Array.from({ length: 101 }, (_, i) => `n${i}`);
    add(errors, type, viewWith(...names.map((name) => failure(ENDPOINTS, name, 13))));
    expect(errors.describe(type).map(({ name }) => name)).toEqual(names.slice(0, 100));
  });
});
