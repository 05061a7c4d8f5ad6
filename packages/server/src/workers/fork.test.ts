import { afterEach, expect, test } from "vitest";
import { forkWorker } from "./fork.ts";

const { execPath } = process;

afterEach(() => {
  process.execPath = execPath;
});

// Node reports the first kind of error by an event, and throws all others, such as ENOMEM.
test.each([
  ["/nowhere/node", "spawn /nowhere/node ENOENT"],
  ["/dev/null/node", "spawn ENOTDIR"],
])("a process that cannot be started has ended, and says why (%s)", async (path, why) => {
  process.execPath = path;
  const worker = forkWorker("worker.js");
  const ended = new Promise<string>((resolve) => worker.onEnded(resolve));
  worker.channel.send({ kind: "ping" });
  worker.kill();
  expect([worker.pid, await ended]).toEqual([undefined, why]);
});
