import { expect, test } from "vitest";
import { collectGarbage } from "../../../protocol/test/support/garbage.ts";
import { RECEIVE_WINDOW_BYTES } from "../../src/transport/http2/limits.ts";
import { callHeaders, frame, PREFACE } from "../support/http2-frames.ts";
import { MachineRun } from "../support/machine-run.ts";

test("what nobody reads is held up to the window, however many streams send it", async () => {
  const run = new MachineRun({ maxStreams: 100 });
  run.receive(PREFACE, frame(4, 0, 0));
  await collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let id = 1; id < 199; id += 2) run.receive(frame(1, 4, id, callHeaders("/one")));
  const data = Array.from({ length: 99 }, (_, at) => frame(0, 0, 1 + 2 * at, Buffer.alloc(10)));
  for (let round = 0; round < RECEIVE_WINDOW_BYTES / 990 - 1; round++) run.receive(...data);
  expect(run.events.some((event) => event.startsWith("broken"))).toBe(false);
  await collectGarbage();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * RECEIVE_WINDOW_BYTES);
  run.receive(...data, ...data);
  expect(run.events.at(-1)).toBe("broken: DATA beyond the window of the connection");
});
