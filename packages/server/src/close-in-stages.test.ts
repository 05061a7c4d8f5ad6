import { expect, test } from "vitest";
import { closeInStages } from "./close-in-stages.ts";

test("a part that fails keeps none of the others open", async () => {
  const closed: string[] = [];
  const close = (part: string) => async (): Promise<void> => {
    await Promise.resolve();
    closed.push(part);
  };
  const fail = (): never => {
    throw new Error("cannot be closed");
  };
  await expect(closeInStages([[close("a")], [fail, close("b")], [close("c")]])).rejects.toThrow("cannot be closed");
  expect(closed).toEqual(["a", "b", "c"]);
  await expect(closeInStages([[fail], [fail]])).rejects.toThrow("2 parts could not be closed");
  await expect(closeInStages([[close("d")], []])).resolves.toBeUndefined();
});
