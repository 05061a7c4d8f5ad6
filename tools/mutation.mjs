// SPDX-License-Identifier: Apache-2.0
// `npm run mutation`: mutates the server's half of the protocol and tells which mutants no test detects. It takes a random
// sample, the same for the same seed; its score has an interval that holds the score of all mutants 19 times out of 20.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { changedSince } from "./mutation/changed.mjs";
import { mutantsIn, sourcesIn, writeMutated } from "./mutation/instrument.mjs";
import { scoreLine, scoresByRoom } from "./mutation/score.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const work = join(root, ".cache", "mutation");
const report = join(root, "reports", "mutation.json");
const folders = ["packages/protocol/src/server", "packages/protocol/src/state"];

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    all: { type: "boolean", default: false },
    /** Judges as many of the sample as these minutes allow: those are a sample too. */
    minutes: { type: "string", default: "600" },
    /** Only files whose path holds this text. */
    in: { type: "string", multiple: true, default: [] },
    /** Only lines that are new or changed since this commit. */
    since: { type: "string" },
    /** The mutants that no test detected in the last run, again. */
    again: { type: "boolean", default: false },
  },
});

// Vitest keeps what it compiled by the sources in the tree, which are the same for other mutants.
rmSync(work, { recursive: true, force: true });
const files = folders.flatMap((folder) => sourcesIn(root, folder));
const mutants = await mutantsIn(root, files);
const chosen = choose();
await writeMutated(root, files, new Set(chosen.map(({ id }) => id)), join(work, "sources"));
console.log(`${chosen.length} of ${mutants.length} mutants in ${files.length} files`);

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
let seen = 0;
const began = performance.now();
const { tests, loaded } = await coverage();
const results = await playAll();
tellResults();

function choose() {
  if (values.again) {
    const missed = new Set(JSON.parse(readFileSync(report, "utf8")).survivors.map(keyOf));
    return mutants.filter((mutant) => missed.has(keyOf(mutant)));
  }
  const isChanged = values.since === undefined ? () => true : changedSince(root, files, values.since);
  const isIn = ({ file }) => values.in.length === 0 || values.in.some((part) => file.includes(part));
  const among = mutants.filter((mutant) => isIn(mutant) && isChanged(mutant));
  return values.all ? among : shuffled(among, Number(values.seed)).slice(0, Number(values.sample));
}

/** What a mutant is, wherever its line has moved to. */
function keyOf({ file, mutator, before, after }) {
  return JSON.stringify([file, mutator, before, after]);
}

/** Fisher and Yates' shuffle with a small generator (mulberry32) that is the same everywhere. */
function shuffled(list, seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

/** Runs the tests once without a mutant: which mutants each meets, and how long it takes. */
async function coverage() {
  const lines = await vitest({});
  // Such as those that count steps: copies with mutants take more.
  const broken = new Set(lines.flatMap((line) => line.broken ?? []));
  for (const name of broken) console.log(`left out, as it fails without a mutant: ${name}`);
  const tests = lines.filter(({ test }) => test !== undefined && !broken.has(test));
  const took = tests.reduce((sum, test) => sum + test.took, 0);
  const loaded = new Set(lines.flatMap((line) => line.loaded ?? []));
  console.log(
    `${tests.length} tests take ${(took / 1000).toFixed(1)} s; ${loaded.size} mutants are met while they load`,
  );
  return { tests, loaded };
}

/** Returns mutant and result of each mutant: `killed` by a test, `looped`, `survived`, or `unmet` by any test. */
async function playAll() {
  const meets = new Map(chosen.map((mutant) => [mutant.id, []]));
  for (const test of tests) for (const [id, count] of test.met) meets.get(id)?.push({ test, count });
  const results = new Map();
  const queue = [];
  for (const { id } of chosen) {
    const met = meets.get(id).sort((a, b) => a.test.took - b.test.took);
    // Values that are made while modules are loaded are seen by any test.
    if (loaded.has(id)) queue.push({ id, isLoaded: true });
    else if (met.length === 0) results.set(id, { status: "unmet" });
    else
      queue.push({
        id,
        tests: met.map(({ test }) => test.test),
        limit: 1000 + 100 * Math.max(...met.map((m) => m.count)),
      });
  }
  while (queue.length > 0 && !isOver()) {
    const next = queue[0];
    const lines = await vitest(
      next.isLoaded ? { only: next } : { mutants: queue.filter((one) => !one.isLoaded) },
      (line) => line.id !== undefined && progress(line),
    );
    for (const { id, by, error } of lines.filter((line) => line.id !== undefined)) {
      results.set(id, by === undefined ? { status: "survived" } : { status: "killed", by, error });
    }
    const last = lines.findLast((line) => line.begun !== undefined)?.begun ?? next.id;
    // The first one in the queue is the first of the next process.
    if (lines.at(-1)?.again !== undefined)
      queue.unshift(
        ...queue.splice(
          queue.findIndex(({ id }) => id === last),
          1,
        ),
      );
    const isAgain = lines.at(-1)?.again !== undefined;
    if (!results.has(last) && !isAgain && !isOver()) results.set(last, { status: "looped" });
    queue.splice(0, queue.length, ...queue.filter(({ id }) => !results.has(id)));
  }
  // Mutants that no test meets are known at once; they count as far as the others came, or they would count too much.
  const last = chosen.findLastIndex(({ id }) => results.has(id) && results.get(id).status !== "unmet");
  return chosen
    .slice(0, last + 1)
    .filter(({ id }) => results.has(id))
    .map((mutant) => ({ ...mutant, ...results.get(mutant.id) }));
}

function progress({ id, by }) {
  seen++;
  const mutant = mutants[id];
  if (by === undefined) console.log(`  survived: ${place(mutant)}`);
  if (seen % 50 === 0) console.log(`  ${seen} of ${chosen.length} after ${minutes()}`);
}

/** Runs Vitest with a job and returns the lines that it told, when it ends. */
function vitest(job, seen = () => undefined) {
  mkdirSync(work, { recursive: true });
  const [jobFile, resultFile] = [join(work, "job.json"), join(work, "results.jsonl")];
  rmSync(resultFile, { force: true });
  writeFileSync(jobFile, JSON.stringify({ ...job, size: mutants.length, results: resultFile }));
  const env = { ...process.env, XDS_MUTATION_JOB: jobFile, XDS_MUTATION_SOURCES: join(work, "sources") };
  const program = join(root, "node_modules", "vitest", "vitest.mjs");
  const child = spawn(process.execPath, [program, "run", "--config", "vitest.mutation.config.ts"], { cwd: root, env });
  const stop = () => child.kill("SIGKILL");
  process.once("exit", stop);
  const output = [];
  child.stdout.on("data", (data) => output.push(data));
  child.stderr.on("data", (data) => output.push(data));
  let told = 0;
  const read = () =>
    existsSync(resultFile)
      ? readFileSync(resultFile, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      : [];
  const watch = setInterval(() => {
    const lines = read();
    for (const line of lines.slice(told)) seen(line);
    told = lines.length;
    if (isOver()) child.kill("SIGKILL");
  }, 500);
  return new Promise((resolve) => {
    child.on("close", () => {
      clearInterval(watch);
      process.off("exit", stop);
      const lines = read();
      for (const line of lines.slice(told)) seen(line);
      if (lines.length === 0) {
        console.error(Buffer.concat(output).toString());
        process.exit(1);
      }
      resolve(lines);
    });
  });
}

function tellResults() {
  const survivors = results.filter(({ status }) => status === "survived" || status === "unmet");
  console.log(`\n${scoreLine("all", results)}, ${minutes()}\n`);
  for (const line of scoresByRoom(results)) console.log(line);
  console.log("");
  for (const mutant of survivors.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line)) {
    console.log(`${place(mutant)}${mutant.status === "unmet" ? " (no test comes here)" : ""}`);
  }
  mkdirSync(dirname(report), { recursive: true });
  writeFileSync(report, JSON.stringify({ seed: values.seed, survivors, results }, undefined, 1));
}

function place({ file, line, column, mutator, before, after }) {
  return `${file}:${line}:${column} ${mutator}: ${short(before)} => ${short(after)}`;
}

function short(text) {
  const line = text.replace(/\s+/g, " ");
  return line.length > 90 ? `${line.slice(0, 60)} … ${line.slice(-25)}` : line;
}

function isOver() {
  return performance.now() - began > Number(values.minutes) * 60_000;
}

function minutes() {
  return `${((performance.now() - began) / 60_000).toFixed(1)} min`;
}
