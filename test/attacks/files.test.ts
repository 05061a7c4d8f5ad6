import { afterAll, beforeAll, expect, test } from "vitest";
import { note } from "../e2e/support/measure.ts";
import { until } from "../e2e/support/wait.ts";
import { Attacker, breath } from "./support/attacker.ts";
import { GIVE_UP_MS } from "./support/good-client.ts";
import { createScene, type Scene } from "./support/scene.ts";
import { untilCollected } from "./support/withstand.ts";

const nine = (of: string): string => Array(9).fill(of).join(", ");
const levels = (line: (level: number) => string): string =>
  Array.from({ length: 30 }, (_, at) => line(at + 1)).join("\n");

/** A file that is simple to write and hard to read, and the codes of the problems that are told. */
interface Bomb {
  readonly name: string;
  readonly file: "bomb.yaml" | "bomb.json";
  readonly text: string;
  readonly told: readonly string[];
}

const bombs: readonly Bomb[] = [
  {
    name: "aliases that expand to 9^31 values",
    file: "bomb.yaml",
    text: `a0: &a0 [${nine("x")}]\n${levels((level) => `a${level}: &a${level} [${nine(`*a${level - 1}`)}]`)}`,
    told: ["YAML_ALIAS_BOMB"],
  },
  {
    name: "merge keys that expand to 9^30 mappings",
    file: "bomb.yaml",
    text: `a0: &a0 {x: 1}\n${levels((level) => `a${level}: &a${level} {<<: [${nine(`*a${level - 1}`)}]}`)}`,
    told: ["YAML_ALIAS_BOMB", "YAML_MERGE_KEY"],
  },
  { name: "an alias within itself", file: "bomb.yaml", text: "resources: &a\n- *a\n", told: ["YAML_SYNTAX"] },
  {
    name: "100,000 flow lists in one another",
    file: "bomb.yaml",
    text: "[".repeat(100_000),
    told: ["NESTING_TOO_DEEP"],
  },
  {
    name: "100,000 block lists in one another",
    file: "bomb.yaml",
    text: "- ".repeat(100_000),
    told: ["NESTING_TOO_DEEP"],
  },
  {
    name: "1,000 block mappings in one another",
    file: "bomb.yaml",
    text: Array.from({ length: 1_000 }, (_, level) => `${" ".repeat(level)}a:`).join("\n"),
    told: ["NESTING_TOO_DEEP"],
  },
  {
    name: "100,000 arrays in one another, in JSON",
    file: "bomb.json",
    text: `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    told: ["NESTING_TOO_DEEP"],
  },
  {
    name: "100,000 objects in one another, in JSON",
    file: "bomb.json",
    text: `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
    told: ["NESTING_TOO_DEEP"],
  },
  {
    name: "a line of 20 MB",
    file: "bomb.yaml",
    text: `resources: ${"x".repeat(20_000_000)}`,
    told: ["DOCUMENT_WRONG_TYPE"],
  },
  {
    name: "a line of 20 MB, in JSON",
    file: "bomb.json",
    text: `{"resources":"${"x".repeat(20_000_000)}"}`,
    told: ["DOCUMENT_WRONG_TYPE"],
  },
  {
    name: "a quote that is not closed within 10 MB",
    file: "bomb.yaml",
    text: `resources: "${"x\n".repeat(5_000_000)}`,
    told: ["YAML_NOT_PLAIN"],
  },
  {
    name: "a million elements that are no resources, in JSON",
    file: "bomb.json",
    text: `{"resources":[${Array(1_000_000).fill(0).join(",")}]}`,
    told: ["DOCUMENT_WRONG_TYPE", "PROBLEMS_CUT"],
  },
];

const RELOAD_MS = 40_000;

let scene: Scene;
beforeAll(async () => {
  scene = await createScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

test.each(bombs.map((bomb) => [bomb.name, bomb] as const))(
  "a file with %s is told, and no more than an error",
  async (name, { file, text, told }) => {
    const { server, site, client } = scene;
    const heldBefore = await scene.heldBytes();
    const linesBefore = scene.logged().length;
    const pings = await startPings(scene);
    site.write({ [file]: text });
    await until({ says: "the load failed", withinMs: RELOAD_MS }, () =>
      scene
        .logged()
        .slice(linesBefore)
        .some(({ event }) => event === "load-failed"),
    );
    note(name, "another client", "longest answer to a PING, ms", (await pings.stop()).toFixed(0));
    const problems = scene
      .logged()
      .slice(linesBefore)
      .filter(({ event }) => event === "problem");
    expect([...new Set(problems.map((problem) => `${problem.file} ${problem.code}`))].toSorted()).toEqual(
      told.map((code) => `${file} ${code}`),
    );
    expect(server.process().ended(), "the server lives").toBeUndefined();
    site.write({ [file]: undefined });
    const [editMs = 0] = await client.edit(1);
    expect(editMs, "an edit arrives once the file is gone").toBeLessThan(GIVE_UP_MS);
    await untilCollected(scene, heldBefore);
  },
);

/** Pings the server all the time; `stop` resolves with the longest time to an answer in milliseconds. */
async function startPings({ server, nextHost }: Scene): Promise<{ stop(): Promise<number> }> {
  const pinger = new Attacker(nextHost(), server.port);
  const connection = await pinger.frames();
  let longestMs = 0;
  const all = (async () => {
    while (!connection.isClosed) {
      const startedAt = performance.now();
      await connection.isRead();
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      await breath();
    }
  })();
  return {
    async stop() {
      pinger.end();
      await all;
      return longestMs;
    },
  };
}
