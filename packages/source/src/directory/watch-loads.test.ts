import { expect, test } from "vitest";
import type { Load } from "../loaded-state.ts";
import { type BurstAttention, watchLoads } from "./watch-loads.ts";

/** A burst that goes on once after its paths were taken; records what is asked of it. */
function attentionOf(asked: string[]): BurstAttention {
  const paths = [new Set(["a"]), new Set(["b"])];
  const note = (text: string): Promise<void> => {
    asked.push(text);
    return Promise.resolve();
  };
  return {
    untilCalled: () => note("until called"),
    untilReadable: () => note("until readable"),
    untilQuiet: () => note("until quiet"),
    takePaths: () => paths.shift() ?? new Set(),
    isContinued: () => note("is continued").then(() => paths.length > 0),
    endBurst: () => void note("end of the burst"),
  };
}

test.each([
  ["early", true, "until readable"],
  ["when it is quiet", false, "until quiet"],
])("a burst is loaded %s, again if it goes on, and yields one load at its end", async (_, isEager, until) => {
  const asked: string[] = [];
  const ending = new AbortController();
  const look = (taken: ReadonlySet<string>): Promise<Load> => {
    const file = [...taken].join();
    asked.push(`look at ${file}`);
    return Promise.resolve({ state: undefined, problems: [{ code: "X", severity: "error", file, message: "" }] });
  };
  const steps = { isEager, poll: () => () => undefined, look, isSame: (a: Load, b: Load) => a === b };
  const loads: Load[] = [];
  for await (const load of watchLoads(attentionOf(asked), ending.signal, undefined, steps)) {
    loads.push(load);
    ending.abort();
  }
  expect(loads.map(({ problems }) => problems.map(({ file }) => file))).toEqual([["b"]]);
  expect(asked).toEqual([
    ...["until called", until, "look at a", "is continued"],
    ...["until called", until, "look at b", "is continued", "end of the burst"],
  ]);
});

test("a load that must be told is told while the burst goes on, and what follows is another one", async () => {
  const asked: string[] = [];
  const ending = new AbortController();
  const look = (taken: ReadonlySet<string>): Promise<Load> =>
    Promise.resolve({
      state: undefined,
      problems: [{ code: "X", severity: "error", file: [...taken].join(), message: "" }],
    });
  const mustTell = ({ problems }: Load): boolean => problems[0]?.file === "a";
  const steps = { isEager: true, poll: () => () => undefined, look, isSame: (a: Load, b: Load) => a === b, mustTell };
  const files: unknown[] = [];
  for await (const { problems } of watchLoads(attentionOf(asked), ending.signal, undefined, steps)) {
    files.push(problems[0]?.file);
    if (files.length === 2) ending.abort();
  }
  expect(files).toEqual(["a", "b"]);
});
