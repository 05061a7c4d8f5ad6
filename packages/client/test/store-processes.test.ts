/** One file of several processes, which are killed, or whose disk is full. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { readStore } from "../src/store/store-file.ts";
import { folder } from "./support/ends.ts";
import { builtModule, startProgram } from "./support/program.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = folder();
  path = join(directory, "resources");
});

/** A store, and a source of so many kilobytes to put into it. `killedAt` kilobytes from when that is set, the process is killed while it writes. */
const begin = (path: string): string => `
  import { existsSync } from "node:fs";
  import { createResourceStore } from ${builtModule("store/resource-store")};
  let killedAt = Infinity;
  const api = {
    holdsSecret: () => {
      if (--killedAt === 0) process.kill(process.pid, "SIGKILL");
      return false;
    },
  };
  const onProblem = (problem) => console.log(problem);
  const store = createResourceStore({ path: ${JSON.stringify(path)}, api, onProblem, retryMs: 10 });
  const resources = (version, kilobytes) => () => Array.from({ length: kilobytes }, (_, i) => ({
    type: "type.googleapis.com/acme.Widget", name: "w" + i, version, aliases: [], bytes: new Uint8Array(700),
  }));
`;

const newFiles = (): readonly string[] => readdirSync(directory).filter((name) => name.endsWith(".new"));

/** The versions of what is in the file, and how many of each; undefined if it is not whole. */
async function versions(): Promise<Readonly<Record<string, number>> | undefined> {
  const content = await readStore(path, Number.POSITIVE_INFINITY);
  if (content === undefined || "problem" in content) return undefined;
  const counts: Record<string, number> = {};
  for (const { version } of content.sources.flatMap(({ resources }) => resources))
    counts[version] = (counts[version] ?? 0) + 1;
  return counts;
}

test("C-CLI-06 a writer that is killed while it writes leaves the file as it was, and its leftovers to the next one", async () => {
  for (const killedAt of [1, 1_000, 20_000, 39_000, 40_000]) {
    const writer = startProgram(`${begin(path)}
      store.save("one", resources("before", 10));
      await store.flush();
      killedAt = ${killedAt};
      store.save("one", resources("after", 40_000));
      await store.flush();
      console.log("too late");
    `);
    expect([await writer.exit, writer.printed()]).toEqual([null, ""]);
    expect([await versions(), newFiles().length]).toEqual([{ before: 10 }, 1]);
  }
}, 60_000);

test("C-CLI-06 a process that stands still goes on being the one that writes, until it is killed", async () => {
  const first = startProgram(`${begin(path)}
    store.save("one", resources("1", 1));
    await store.flush();
    console.log("process " + process.pid + " wrote");
    setInterval(() => {}, 1000);
  `);
  const pid = Number((await first.find(/process (\d+) wrote/))[1]);
  process.kill(pid, "SIGSTOP");
  const second = startProgram(`${begin(path)}
    store.save("two", resources("2", 2));
    await store.flush();
    setInterval(() => {}, 1000);
  `);
  await second.find(/\n/);
  expect([second.printed(), await versions()]).toEqual([
    `${path} is written by the process with id ${pid}; nothing is kept\n`,
    { "1": 1 },
  ]);
  process.kill(pid, "SIGKILL");
  await first.exit;
  let written = await versions();
  while (written?.["2"] === undefined) written = await versions();
  expect(written).toEqual({ "1": 1, "2": 2 });
});

test("C-CLI-06 a disk that is full leaves the file as it was, is told once, and is written when there is room", async () => {
  const writer = startProgram(
    `${begin(path)}
      store.save("one", resources("before", 10));
      await store.flush();
      const hasRoom = () => existsSync(${JSON.stringify(join(directory, "room"))});
      store.save("one", () => resources("after", hasRoom() ? 20 : 40_000)());
      await store.flush();
      await store.flush();
      console.log("full");
      setInterval(() => {}, 1000);
    `,
    // A file may have so many blocks; who writes more is told so.
    "trap '' XFSZ; ulimit -f 2000",
  );
  await writer.find(/full/);
  expect(await versions()).toEqual({ before: 10 });
  writeFileSync(join(directory, "room"), "");
  const written = async (): Promise<boolean> => (await versions())?.["after"] === 20;
  let isWritten = false;
  while (!isWritten) isWritten = await written();
  expect(writer.printed()).toBe(`${path} cannot be written: EFBIG: file too large\nfull\n`);
  expect(newFiles()).toEqual([]);
});

test("what stands beside it and only looks like a leftover stays", async () => {
  mkdirSync(join(directory, "resources.0123456789ab.new.d"));
  for (const name of ["resources.new", "other.0123456789ab.new", "resources.0123456789ab.new"])
    writeFileSync(join(directory, name), "");
  const writer = startProgram(`${begin(path)}
    store.save("one", resources("1", 1));
    await store.close();
    console.log("done");
  `);
  await writer.find(/done/);
  expect(readdirSync(directory).sort()).toEqual([
    "other.0123456789ab.new",
    "resources",
    "resources.0123456789ab.new.d",
    "resources.new",
  ]);
});
