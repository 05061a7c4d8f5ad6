// SPDX-License-Identifier: Apache-2.0
// Reads every test file of the repository: the ids in the names of tests are the proof of requirements.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const left = new Set(["node_modules", "dist", "gen"]);

/** Returns [path relative to the root, text] of every test file, sorted by path. */
export function readTestFiles(root) {
  return [...testsIn(root, "packages"), ...testsIn(root, "test")]
    .sort()
    .map((path) => [path, readFileSync(join(root, path), "utf8")]);
}

function testsIn(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return left.has(entry.name) ? [] : testsIn(root, path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
