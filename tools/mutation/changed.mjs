// SPDX-License-Identifier: Apache-2.0
// Which lines of sources are newer than a commit, as Git blames them: code that only moved, to another file too, is not.
import { execFileSync } from "node:child_process";

/** Returns a test of whether the line of a mutant was written or changed after a commit, or is not committed yet. */
export function changedSince(root, files, commit) {
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n");
  const touched = new Set(git("diff", "--name-only", commit, "--", ...files));
  const lines = new Map(
    files
      .filter((file) => touched.has(file))
      .map((file) => [file, git("blame", "-s", "-C", "-C", `^${commit}`, "--", file)]),
  );
  // Git marks lines that are older with `^`.
  return ({ file, line }) => lines.has(file) && !lines.get(file)[line - 1].startsWith("^");
}
