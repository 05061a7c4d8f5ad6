import { expect, test } from "vitest";
import type { Case, Request, Step } from "../src/case.ts";
import { serverCases } from "../src/cases/server/cases.ts";
import { levelOf } from "../src/requirement/level.ts";
import { requirements } from "../src/requirement/requirements.ts";

const listOf = <T>(given: T | readonly T[] | undefined): readonly T[] =>
  given === undefined ? [] : Array.isArray(given) ? given : [given as T];

/** The type that a stream without a type of its own means. */
function typesOfStreams({ steps }: Case): ReadonlyMap<string, string> {
  const opened = steps.flatMap((step) => ("opens" in step ? Object.entries(step.opens) : []));
  return new Map(opened.flatMap(([name, { kind }]) => (kind === undefined ? [] : [[name, kind]])));
}

/** The steps, from 1, that change a type of which a stream has a response that its client has not answered. */
function hastySteps(script: Case): readonly number[] {
  const types = typesOfStreams(script);
  const open = new Map<string, string>();
  const isAnswer = ({ ack, nack, error }: Request) => ack !== undefined || nack !== undefined || error !== undefined;
  const changes = (step: Step, type: string): boolean =>
    "moves" in step || ("publishes" in step && listOf(step.publishes).some((publication) => type in publication));
  return script.steps.flatMap((step, at) => {
    if ("receives" in step) {
      const on = step.on ?? "main";
      for (const request of listOf(step.receives).filter(isAnswer))
        open.delete(`${on} ${request.type || types.get(on) || script.type}`);
    }
    if ("breaks" in step || "restarts" in step) open.clear();
    if ("cancels" in step) for (const key of open.keys()) if (key.startsWith(`${step.cancels} `)) open.delete(key);
    const isHasty = [...open.values()].some((type) => changes(step, type));
    for (const { on = "main", type = script.type } of step.sends ?? []) open.set(`${on} ${type}`, type);
    return isHasty ? [at + 1] : [];
  });
}

test("no must depends on whether a server sends newer content before the ACK of what it sent, or after it", () => {
  const musts = serverCases.filter(
    (each) =>
      levelOf(each, requirements) === "must" && each.memoryOnly === undefined && !each.streams?.includes("rest"),
  );
  expect(musts.length).toBeGreaterThan(200);
  const hasty = musts.map((each) => [`${each.id} ${each.variant}`, hastySteps(each)] as const);
  expect(hasty.filter(([, steps]) => steps.length > 0)).toEqual([]);
});
