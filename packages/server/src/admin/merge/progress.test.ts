import { afterEach, expect, test, vi } from "vitest";
import type { ProgressAnswer } from "../answers/progress.ts";
import { progressOfAll } from "./progress.ts";

afterEach(() => {
  vi.useRealTimers();
});

const none = { total: 0, nodes: [] };
const counted = { revision: 3, head: 3, nodes: 1, nacked: none, disconnected: none };
const pending: ProgressAnswer = {
  ...{ ...counted, state: "pending", deployed: 0 },
  pending: { total: 1, nodes: [{ id: "n", cluster: "", userAgent: "", types: [] }] },
};
const deployed: ProgressAnswer = { ...counted, state: "deployed", deployed: 1, pending: none };

test.each([
  ["forward", 3_600_000],
  ["back", -3_600_000],
])("a step of the wall clock %s neither ends the wait nor makes it longer", async (_, stepMs) => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const asked = { number: 3, nodes: undefined, minNodes: 0, named: 10 };
  const waitFor = async (answers: readonly ProgressAnswer[], waitMs: number): Promise<ProgressAnswer> => {
    let asks = 0;
    const ask = async (): Promise<never> => {
      vi.setSystemTime(Date.now() + stepMs);
      const answer = answers[Math.min(asks++, answers.length - 1)];
      return { answers: [{ worker: 1, answer }], unresponsive: [] } as never;
    };
    const own = { ...deployed, nodes: 0, deployed: 0 };
    return await progressOfAll({ ask }, () => own, { ...asked, waitMs });
  };
  expect((await waitFor([pending, pending, pending, deployed], 10_000)).state).toBe("deployed");
  expect((await waitFor([pending], 150)).state).toBe("pending");
});

test("nothing is deployed as long as a worker does not answer for its nodes", async () => {
  const ask = async (): Promise<never> => ({ answers: [{ worker: 1, answer: deployed }], unresponsive: [2] }) as never;
  const asked = { number: 3, nodes: undefined, minNodes: 0, named: 10, waitMs: 150 };
  const answer = await progressOfAll({ ask }, () => ({ ...deployed, nodes: 0, deployed: 0 }), asked);
  expect(answer).toMatchObject({ state: "pending", nodes: 1, deployed: 1, unresponsiveWorkers: [2] });
});
