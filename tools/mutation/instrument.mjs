// SPDX-License-Identifier: Apache-2.0
// Writes copies of source files that hold every mutant at once, each behind a switch; `runner.mjs` has the switches.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Instrumenter } from "@stryker-mutator/instrumenter";

const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent, isDebugEnabled: () => false };
const switches = "const { isActive: stryMutAct_9fa48, cover: stryCov_9fa48 } = globalThis.xdsMutation; ";

/** Returns the TypeScript files below a folder, tests left out, relative to the root and sorted. */
export function sourcesIn(root, folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .sort();
}

/** Returns the mutants of files: number, file, line, column, mutator, before, after. */
export async function mutantsIn(root, files) {
  const texts = read(root, files);
  const { mutants } = await transform(texts, () => false);
  return mutants.map(({ id, fileName: file, location, mutatorName: mutator, replacement: after }) => ({
    id: Number(id),
    file,
    line: location.start.line + 1,
    column: location.start.column + 1,
    mutator,
    before: textBetween(texts.get(file), location),
    after,
  }));
}

/** Writes copies of `files` with the mutants of these numbers into `directory`. */
export async function writeMutated(root, files, ids, directory) {
  rmSync(directory, { recursive: true, force: true });
  const { files: copies, mutants } = await transform(read(root, files), (id) => ids.has(id));
  const placed = mutants.filter(({ status }) => status !== "Ignored").map(({ id }) => Number(id));
  if (placed.length !== ids.size || !placed.every((id) => ids.has(id))) throw new Error("other mutants were placed");
  for (const { name, content } of copies) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, switches + content);
  }
}

/** Stryker asks once for each mutant, in their order, whether its kind is left out; only those that are chosen are not. */
function transform(texts, isChosen) {
  let next = 0;
  return new Instrumenter(logger).instrument(
    [...texts].map(([name, content]) => ({ name, content, mutate: true })),
    { plugins: [], ignorers: [], noHeader: true, excludedMutations: { includes: () => !isChosen(next++) } },
  );
}

function read(root, files) {
  return new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

function textBetween(text, { start, end }) {
  const lines = text.split("\n").slice(start.line, end.line + 1);
  const last = lines.length - 1;
  lines[last] = lines[last].slice(0, end.column);
  lines[0] = lines[0].slice(start.column);
  return lines.join("\n");
}
