// Prints which cases and tests prove each requirement, plays every case in memory, and fails for whatever is missing.
// With --write it writes docs/spec/requirements.md from the data instead of comparing the two.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  coverageOf,
  isMissing,
  playInMemory,
  playsOf,
  proofs,
  renderPage,
  requirements,
  serverCases,
} from "../packages/conformance/dist/index.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const page = `${root}docs/spec/requirements.md`;

if (process.argv.includes("--write")) writeFileSync(page, renderPage(requirements));

const failures = [];
if (readFileSync(page, "utf8") !== renderPage(requirements)) {
  failures.push("docs/spec/requirements.md differs from the data: run node tools/check-requirements.mjs --write");
}

const failed = new Set();
for (const play of playsOf(serverCases)) {
  const verdict = await playInMemory(play);
  if (verdict.passed) continue;
  failed.add(play.case);
  failures.push(`${play.key}: step ${verdict.step} does not go as written`);
}

const coverage = coverageOf(requirements, serverCases, proofs);
for (const row of coverage) {
  const cases = row.cases.map((each) => `${each.id} (${each.variant})${failed.has(each) ? " FAILS" : ""}`);
  const tests = row.proofs.map(({ test, name }) => {
    const isThere = readFileSync(root + test, "utf8").includes(`test("${name}"`);
    if (!isThere) failures.push(`${row.id}: no test "${name}" in ${test}`);
    return `${test}${isThere ? "" : " NOT THERE"}`;
  });
  const reason = row.later ?? row.elsewhere;
  const proof = reason === undefined ? [...new Set([...cases, ...tests])].join(", ") || "MISSING" : `- ${reason}`;
  console.log(`${row.id.padEnd(9)} ${proof}`);
  if (isMissing(row)) failures.push(`${row.id}: no case and no test`);
}

const kept = coverage.filter(({ id, later }) => later === undefined && /^[SB]-/.test(id)).length;
const waiting = coverage.filter(({ later }) => later !== undefined).length;
const points = coverage.length - kept - waiting;
console.log(
  `\n${kept} requirements, ${points} diagrams, open points, traps and rows of editions, ${serverCases.length} cases in ${playsOf(serverCases).length} plays; ` +
    `${waiting} requirements wait for later`,
);
for (const failure of failures) console.error(`FAILED ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;
