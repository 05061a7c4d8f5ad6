// Prints the cases and tests that prove each requirement of server and client, plays every case in memory, and fails if
// anything is missing. `--write` writes the pages of docs/spec from the data instead of comparing them.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  clientCases,
  clientPlaysOf,
  clientPoints,
  clientRequirements,
  coverageOf,
  isMissing,
  playClientInMemory,
  playInMemory,
  playsOf,
  proofsIn,
  provesFor,
  renderClientPage,
  renderPage,
  requirements,
  serverCases,
} from "../packages/conformance/dist/index.js";
import { readTestFiles } from "./test-files.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const failures = [];
const proofs = readTestFiles(root).flatMap(([test, text]) => proofsIn(test, text));

checkPage("docs/spec/requirements.md", renderPage(requirements));
checkPage("docs/spec/client-requirements.md", renderClientPage(clientRequirements));

console.log("The server\n");
report(
  coverageOf(requirements, serverCases, proofsFor("server")),
  await failedAmong(playsOf(serverCases), playInMemory),
  playsOf(serverCases).length,
);
console.log("\nThe client\n");
report(
  coverageOf(clientRequirements, clientCases, proofsFor("client"), clientPoints),
  await failedAmong(clientPlaysOf(clientCases), playClientInMemory),
  clientPlaysOf(clientCases).length,
);

for (const failure of failures) console.error(`FAILED ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;

function proofsFor(side) {
  return proofs.filter(({ test }) => provesFor(side, test));
}

function checkPage(file, text) {
  if (process.argv.includes("--write")) writeFileSync(root + file, text);
  if (readFileSync(root + file, "utf8") === text) return;
  failures.push(`${file} differs from the data: run node tools/check-requirements.mjs --write`);
}

async function failedAmong(plays, play) {
  const failed = new Set();
  for (const each of plays) {
    const verdict = await play(each);
    if (verdict.passed) continue;
    failed.add(each.case);
    failures.push(`${each.key}: step ${verdict.step} does not go as written`);
  }
  return failed;
}

function report(coverage, failed, plays) {
  for (const row of coverage) {
    const cases = row.cases.map((each) => `${each.id} (${each.variant})${failed.has(each) ? " FAILS" : ""}`);
    const tests = row.proofs.map(({ test }) => test);
    const reason = row.later ?? row.elsewhere;
    const proof = reason === undefined ? [...new Set([...cases, ...tests])].join(", ") || "MISSING" : `- ${reason}`;
    console.log(`${row.id.padEnd(9)} ${proof}`);
    if (isMissing(row)) failures.push(`${row.id}: no case and no test`);
  }
  const kept = coverage.filter(({ id, later }) => later === undefined && /^[SCB]-/.test(id)).length;
  const waiting = coverage.filter(({ later }) => later !== undefined).length;
  const points = coverage.length - kept - waiting;
  const cases = new Set(coverage.flatMap((row) => row.cases)).size;
  console.log(
    `\n${kept} requirements, ${points} diagrams, open points, traps and rows of editions, ${cases} cases in ${plays} plays; ` +
      `${waiting} requirements wait for later`,
  );
}
