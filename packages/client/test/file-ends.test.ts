import { watch, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { WatchDirectory } from "../src/transport/file/path-watch.ts";
import { namesIn } from "./support/fake-listener.ts";
import { followedFiles, json, replace } from "./support/followed-files.ts";
import { CLUSTER, request } from "./support/sources.ts";
import { until } from "./support/until.ts";

const { at, open, follow } = followedFiles();

/** Counts the watches that are open. */
function countWatches(): { readonly watchDirectory: WatchDirectory; readonly open: number } {
  let open = 0;
  return {
    watchDirectory: (path, listener) => {
      open++;
      const watcher = watch(path, listener);
      watcher.once("close", () => open--);
      return watcher;
    },
    get open() {
      return open;
    },
  };
}

test("a request that is sent at once is answered once the stream is open, not before", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const watches = countWatches();
  const { stream, listener } = open(at("cds.json"), {}, CLUSTER, watches.watchDirectory);
  stream.send(request(CLUSTER), false);
  // Reading begins with a watch, and nothing that takes the disk's time can be over yet.
  for (let turns = 0; turns < 20; turns++) await Promise.resolve();
  expect({ open: watches.open, kinds: listener.kinds }).toEqual({ open: 0, kinds: [] });
  expect(namesIn((await listener.next("response")).bytes)).toEqual(["a"]);
  expect(listener.kinds).toEqual(["opened", "response"]);
});

test("what is closed while a response is judged watches nothing any more", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const watches = countWatches();
  const { stream, listener } = await follow(at("cds.json"), {}, CLUSTER, watches.watchDirectory);
  let finish: (() => void) | undefined;
  listener.judge = () =>
    new Promise((resolve) => {
      finish = resolve;
    });
  replace(at("cds.json"), json("b"));
  await listener.next("response");
  replace(at("cds.json"), json("c"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  stream.close();
  finish?.();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect({ open: watches.open, kinds: listener.kinds }).toEqual({ open: 0, kinds: ["opened", "response", "response"] });
});

test("what is closed watches nothing and says nothing any more, whenever it is closed", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const watches = countWatches();
  for (const [index, waitMs] of [0, 1, 2, 5, 20, 60].entries()) {
    const opened = await follow(at("cds.json"), {}, CLUSTER, watches.watchDirectory);
    replace(at("cds.json"), json(`${index}`));
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    opened.stream.close();
    const { length } = opened.listener.told;
    await until("all watches are closed", () => watches.open === 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect({ open: watches.open, told: opened.listener.told.length }).toEqual({ open: 0, told: length });
  }
});
