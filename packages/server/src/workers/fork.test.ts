import { afterEach, expect, test } from "vitest";
import { forkWorker } from "./fork.ts";

const { execPath } = process;

afterEach(() => {
  process.execPath = execPath;
});

test("a process that cannot be started has ended, and says why", async () => {
  process.execPath = "/nowhere/node";
  const worker = forkWorker("worker.js");
  const ended = new Promise<string>((resolve) => worker.onEnded(resolve));
  worker.channel.send({ kind: "ping" });
  worker.kill();
  expect([worker.pid, await ended]).toEqual([undefined, "spawn /nowhere/node ENOENT"]);
});
