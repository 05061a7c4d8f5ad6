import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ConnectedNode, readConnectedNodes } from "./connected-node-files.ts";
import { ConnectedNodes } from "./connected-nodes.ts";

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "xdskit-connected-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(parent, { recursive: true });
});

const node: ConnectedNode = { key: "a", id: "a", layers: ["base"] };

test("what cannot be written is told once, and written as soon as it can be", async () => {
  const directory = join(parent, "nodes");
  const problems: string[] = [];
  const recovered: string[] = [];
  const options = {
    directory,
    connected: () => [node],
    onProblem: (message: string) => problems.push(message),
    onRecovered: (message: string) => recovered.push(message),
  };
  mkdirSync(directory);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const connected = await ConnectedNodes.open(options);
  rmSync(directory, { recursive: true });
  connected.changed();
  vi.advanceTimersByTime(1_000);
  await vi.waitFor(() => expect(problems).toHaveLength(1));
  expect(problems[0]).toMatch(
    /^which nodes are connected cannot be written down, and is tried again every minute: ENOENT/,
  );
  vi.advanceTimersByTime(60_000);
  mkdirSync(directory);
  vi.advanceTimersByTime(60_000);
  await connected.close();
  expect(await readConnectedNodes(directory)).toEqual([node]);
  expect(problems).toHaveLength(1);
  expect(recovered).toEqual(["which nodes are connected is written down again"]);
});
