// SPDX-License-Identifier: Apache-2.0
// Runs the steps of `.ci/run`, each with a time budget, and prints what passed, failed and was skipped, with a sum at
// the end.
// `node tools/ci.mjs NAME…` runs only the named steps. It needs no package: the first step installs them.
import { AsyncLocalStorage } from "node:async_hooks";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const reports = join(root, ".cache", "ci");

/**
 * The steps in order. `budget` is in minutes on two cores; a step that takes three times as long is ended. A step `beside`
 * the next one runs at the same time, and what it prints is shown when it has ended.
 */
const steps = [
  { name: "install", says: "npm ci", budget: 2, run: () => command("npm", ["ci"]), stopsAll: true },
  {
    name: "start",
    says: "npm start serves, and what it suggests works",
    budget: 2,
    run: () => node("tools/ci-start.mjs"),
  },
  { name: "test", says: "npm test", budget: 8, run: () => vitest("test", ["npm", "test", "--"]) },
  {
    name: "http2",
    says: "the tests on the wire with the HTTP/2 of Node",
    budget: 3,
    run: () => vitest("http2", ["npm", "run", "--silent", "test:http2", "--"]),
  },
  {
    name: "peers",
    says: "foreign servers and clients are installed",
    budget: 7,
    run: () => node("tools/peers/install.mjs"),
    counts: installed,
    beside: true,
  },
  { name: "check", says: "npm run check", budget: 4, run: () => command("npm", ["run", "--silent", "check"]) },
  {
    name: "node-24",
    says: "what is closest to Node, on Node 24",
    budget: 2,
    run: () => onNode("node-24", closestToNode),
  },
  {
    name: "node-26",
    says: "what is closest to Node, on Node 26",
    budget: 3,
    // Groups of processes take long, and one newer version is enough for them.
    run: () => onNode("node-26", [...closestToNode, "packages/cli/test/workers"]),
  },
  { name: "conformance", says: "the requirements over the wire, ours and others", budget: 5, run: () => conformance() },
  {
    name: "e2e",
    says: "real clients, the short form",
    budget: 13,
    run: () => vitest("e2e", ["npm", "run", "--silent", "e2e", "--"]),
  },
  {
    name: "attacks",
    says: "hostile clients, while one that behaves measures its edits; h2spec, testssl.sh",
    budget: 6,
    run: () => vitest("attacks", ["npm", "run", "--silent", "attacks", "--"]),
  },
  {
    name: "chaos",
    says: "servers, the members of their etcd and the links between them fail under load",
    budget: 4,
    run: () => vitest("chaos", ["npm", "run", "--silent", "chaos:short", "--"]),
  },
  {
    name: "packages",
    says: "the tarballs of a release install, compile, bundle and run outside the repository",
    budget: 2.5,
    run: () => vitest("packages", ["npm", "run", "--silent", "packages", "--"]),
  },
];

/** How long a process group may take to end after SIGTERM, in milliseconds. */
const GRACE_MS = 5000;

/** What is known of the step that runs: its `deadline`, and where it `keeps` its output if it runs beside another. */
const running = new AsyncLocalStorage();
/** Each ends a running process group. */
const ends = new Set();

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    for (const end of ends) end("SIGTERM");
    process.exit(signal === "SIGINT" ? 130 : 143);
  });
}

/** Runs a program in its own process group, forwards its output, and ends the group at the deadline. */
function command(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const { deadline, keeps } = running.getStore();
    const lines = [];
    const hear = (chunk) => {
      if (keeps === undefined) process.stdout.write(chunk);
      else keeps.push(chunk);
      lines.push(chunk);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    let isLate = false;
    const end = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch (error) {
        if (error.code !== "ESRCH") throw error; // it has already ended
      }
    };
    ends.add(end);
    const late = setTimeout(
      () => {
        isLate = true;
        end("SIGTERM");
        setTimeout(() => end("SIGKILL"), GRACE_MS).unref();
      },
      Math.max(0, deadline - performance.now()),
    );
    child.on("error", (error) => {
      clearTimeout(late);
      ends.delete(end);
      resolve({ code: 127, output: error.message, isLate });
    });
    child.on("close", (code) => {
      clearTimeout(late);
      ends.delete(end);
      resolve({ code: code ?? 1, output: Buffer.concat(lines).toString("utf8"), isLate });
    });
  });
}

function node(script, ...args) {
  return command(process.execPath, [script, ...args]);
}

/**
 * Counts results in vitest's JSON, and names what failed by file; a file that could not be loaded counts as a failure.
 */
function countVitest(file) {
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0, skippedNames: [], failures: [] };
  const report = JSON.parse(readFileSync(file, "utf8"));
  const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((one) => one.status === "failed");
    if (failed.length === 0) return status === "failed" ? [{ file: name, test: "(the file)", reason: message }] : [];
    return failed.map((one) => ({ file: name, test: one.fullName, reason: one.failureMessages[0] ?? "" }));
  });
  const skippedNames = report.testResults
    .flatMap((suite) => suite.assertionResults)
    .filter(({ status }) => status !== "passed" && status !== "failed")
    .map(({ fullName }) => fullName);
  return {
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: skippedNames.length,
    skippedNames,
    failures,
  };
}

/** How many failed files are run again. More than these are no accident. */
const MOST_AGAIN = 3;

/**
 * Runs vitest on the files that the filters name; none: all. A few files that fail run once more, alone: what passes
 * then is counted as passed and listed at the end as unstable, which is a bug to fix.
 */
async function vitest(name, [program, ...args], filters = []) {
  const run = async (report, files) => {
    const file = join(reports, `${report}.json`);
    const output = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const result = await command(program, [...args, ...output, ...files]);
    return { ...result, counted: countVitest(file) };
  };
  const first = await run(name, filters);
  const { failures } = first.counted;
  const files = [...new Set(failures.map(({ file }) => file))];
  // Without a failed test, a bad exit code says that something else is wrong.
  if (first.isLate || files.length === 0 || files.length > MOST_AGAIN) return first;
  console.log(`\n${files.length} failed: once more, to tell an unstable test from a broken one\n`);
  // A file that could not be loaded has no number of tests in the first run.
  if (failures.some(({ test }) => test === "(the file)")) return first;
  for (const [index, file] of files.entries()) {
    if ((await run(`${name}-again-${index + 1}`, [file])).code !== 0) return first;
  }
  const { passed, ...counted } = first.counted;
  return {
    ...first,
    code: 0,
    counted: { ...counted, passed: passed + failures.length, failed: 0, failures: [], unstable: failures },
  };
}

/** Counts installed peers; one that cannot be installed is skipped, by name. */
function installed(output) {
  const lines = output.split("\n");
  const failed = lines.filter((line) => line.startsWith("FAILED"));
  return {
    passed: lines.filter((line) => /^(ok|installed) /.test(line)).length,
    failed: 0,
    skipped: failed.length,
    skippedNames: failed.map((line) => line.slice("FAILED".length).trim()),
  };
}

async function peers() {
  const { listPeers } = await import("./peers/peers.mjs");
  return new Map(listPeers().map((peer) => [peer.name, peer]));
}

function skip(reason) {
  return { code: 0, output: "", isLate: false, counted: { passed: 0, failed: 0, skipped: 1, skippedNames: [reason] } };
}

/** Tests of what differs between Node versions: HTTP/2, TLS, file watching, threads, processes. */
const closestToNode = [
  "packages/server/test/wire",
  "packages/server/test/files/export",
  "packages/server/test/files/files-golden",
  "packages/server/test/ledger/crash",
  "packages/server/test/ledger/directory-store",
  "packages/server/test/ledger/faults",
  "packages/server/test/ledger/replicas",
  "packages/server/test/ledger/store-copy",
  "packages/client/test/grpc-transport",
  "packages/client/test/process",
  "packages/client/test/store",
  "packages/source/test",
  "packages/store-etcd/test/contract",
  "packages/store-etcd/test/credentials",
  "packages/disk",
  "packages/cli/test/process",
  "packages/cli/test/serve",
  "packages/cli/test/start",
  "packages/cli/test/store.test",
];

async function onNode(name, tests) {
  const peer = (await peers()).get(name);
  if (!peer?.installed) return skip(`${name} is not installed`);
  return vitest(name, [...peer.command, "node_modules/vitest/vitest.mjs", "run"], tests);
}

/** The exit status of a target that cannot run on this machine. */
const CANNOT_RUN = 77;

/** Runs the conformance cases against our server and another one; known failures of the other count as skipped. */
async function conformance() {
  const total = { code: 0, output: "", isLate: false, counted: { passed: 0, failed: 0, skipped: 0, skippedNames: [] } };
  for (const [target, ...options] of [["ours", "--strict"], ["go-control-plane"]]) {
    const {
      code: status,
      output,
      isLate,
    } = await command(process.execPath, ["packages/conformance/dist/main.js", "--target", target, ...options]);
    const code = status === CANNOT_RUN ? 0 : status;
    const lines = output.split("\n");
    const count = (pattern) => lines.filter((line) => pattern.test(line)).length;
    const counted = {
      passed: count(/^passes /),
      failed: count(/^(FAILS|PASSES UNEXPECTED|LISTED, NOT PLAYED|NO SUCH CASE) /),
      skipped: count(/^(fails as known |differs |not played |SKIPPED)/),
    };
    if (code !== 0 && counted.failed === 0) counted.failed = 1;
    if (code === 0 && counted.passed + counted.skipped === 0) counted.failed = 1; // it printed nothing
    for (const key of ["passed", "failed", "skipped"]) total.counted[key] += counted[key];
    const known = count(/^fails as known /);
    if (known > 0)
      total.counted.skippedNames.push(`${known} plays that ${target} is known to fail, each with its reason`);
    const others = count(/^(differs|not played) /);
    if (others > 0)
      total.counted.skippedNames.push(`${others} plays that ${target} cannot be made to do, or differs in as it may`);
    total.counted.skippedNames.push(...lines.filter((line) => line.startsWith("SKIPPED")));
    total.code ||= code;
    total.isLate ||= isLate;
  }
  return total;
}

/**
 * Counts results of a step from its last `N passed, N failed[, N skipped]`, or from its exit code if it prints none.
 */
function countOutput(output, code) {
  const said = [...output.matchAll(/^(\d+) (?:checks ok|passed), (\d+) failed(?:, (\d+) skipped)?/gm)].at(-1);
  if (said === undefined) return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
  return { passed: Number(said[1]), failed: Number(said[2]), skipped: Number(said[3] ?? 0) };
}

function minutes(ms) {
  return `${Math.floor(ms / 60_000)}:${String(Math.round((ms % 60_000) / 1000)).padStart(2, "0")}`;
}

function describeFailure({ file, test, reason }) {
  return `${relative(root, file)} > ${test}: ${reason.split("\n")[0]}`;
}

const named = process.argv.slice(2);
const unknown = named.filter((name) => !steps.some((step) => step.name === name));
if (unknown.length > 0) {
  console.error(`no such step: ${unknown.join(", ")}; there are ${steps.map(({ name }) => name).join(", ")}`);
  process.exit(64);
}
const chosen = steps.filter(({ name }) => named.length === 0 || named.includes(name));
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
const rows = [];
const began = performance.now();
/** Steps that run beside the next one. */
const besides = [];
for (const step of chosen) {
  if (step.beside) {
    besides.push(runStep(step, []));
    continue;
  }
  const { failed } = await runStep(step);
  await Promise.all(besides.splice(0));
  if (step.stopsAll && failed > 0) break;
}
await Promise.all(besides);

/** Runs a step and adds its row. `keeps`: where its output goes until it has ended. */
async function runStep(step, keeps) {
  const title = `\n=== ${step.name}: ${step.says} (budget ${step.budget} min)`;
  console.log(keeps === undefined ? title : `\n=== ${step.name} has begun, beside what comes next`);
  const start = performance.now();
  const result = await running.run({ deadline: start + step.budget * 3 * 60_000, keeps }, step.run);
  const counted = result.counted ?? step.counts?.(result.output) ?? countOutput(result.output, result.code);
  // A step with a bad exit code has failed, whatever it counted.
  if ((result.code !== 0 || result.isLate) && counted.failed === 0) counted.failed = 1;
  const took = performance.now() - start;
  rows.push({ ...step, ...counted, took });
  if (keeps !== undefined) {
    console.log(title);
    process.stdout.write(Buffer.concat(keeps));
  }
  if (result.isLate) console.log(`${step.name} was ended after ${minutes(took)}: three times its budget`);
  for (const name of counted.skippedNames ?? []) console.log(`skipped: ${name}`);
  console.log(
    `=== ${step.name}: ${counted.failed === 0 ? "ok" : "FAILED"} in ${minutes(took)} of ${step.budget} min: ` +
      `${counted.passed} passed, ${counted.failed} failed, ${counted.skipped} skipped`,
  );
  return counted;
}

const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
console.log("\n    time  budget  passed  failed  skipped  step");
for (const row of rows) {
  const cells = [row.passed, row.failed, row.skipped].map((value) => String(value).padStart(6));
  console.log(
    `${minutes(row.took).padStart(8)} ${minutes(row.budget * 60_000).padStart(7)}  ${cells.join("  ")}   ${row.name}`,
  );
}
console.log(`${minutes(performance.now() - began).padStart(8)}          in all\n`);
for (const { name, failures = [], unstable = [] } of rows) {
  for (const one of failures) console.log(`failed: ${name}: ${describeFailure(one)}`);
  for (const one of unstable) console.log(`unstable, failed and then passed: ${name}: ${describeFailure(one)}`);
}
console.log(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
process.exitCode = sum("failed") === 0 ? 0 : 1;
