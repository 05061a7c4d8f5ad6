// SPDX-License-Identifier: Apache-2.0
// Each promise of the threat model names a test, and the test exists.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = "docs/threat-model.md";
const HEADER = /^\| promise \| shown by \|$/;

/** Problems in the tables of promises: a row without a test, and a test that is not there. */
export function checkThreatModel(root) {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  return promisesIn(readFileSync(join(root, PAGE), "utf8")).flatMap(({ line, shownBy }) => {
    const at = `${PAGE}:${line}`;
    const tests = [...shownBy.matchAll(/`([^`]+)`/g)].map(([, name]) => name).filter(isTest);
    if (tests.length === 0) return [`${at}: the promise names no test`];
    return tests.filter((name) => !exists(listed, name)).map((name) => `${at}: there is no ${name}`);
  });
}

/** The rows below each header "promise | shown by". */
function promisesIn(text) {
  const promises = [];
  let isInTable = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (HEADER.test(line)) isInTable = true;
    else if (!line.startsWith("|")) isInTable = false;
    else if (isInTable && !/^\|[-| ]+\|$/.test(line))
      promises.push({ line: index + 1, shownBy: line.split("|").at(-2) ?? "" });
  }
  if (promises.length === 0) promises.push({ line: 1, shownBy: "" });
  return promises;
}

/** A test file, or the name of a golden case: of the other words in code some are folders and functions. */
function isTest(name) {
  return name.endsWith(".test.ts") || /^[a-z]+(-[a-z]+)+$/.test(name);
}

function exists(listed, name) {
  if (name.endsWith(".test.ts")) return [`/${name}\n`, `\n${name}\n`].some((line) => listed.includes(line));
  return listed.includes(`/golden/${name}/`);
}
