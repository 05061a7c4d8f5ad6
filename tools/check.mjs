// SPDX-License-Identifier: Apache-2.0
// `npm run check`: runs every fast check, two at a time, and prints a line for each. `npm run check -- NAME…` runs only
// those named.
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const packages = readdirSync(join(root, "packages"));
const AT_A_TIME = 2;

/** The commands of each check, in order, the check that must finish first, and what to do about a failure. */
const checks = [
  { name: "generate", says: "the descriptor set is up to date", run: ["npm run --silent generate"] },
  {
    name: "types",
    says: "everything compiles, tests too",
    run: ["tsc -b", "tsc -p tsconfig.test.json"],
    after: "generate",
  },
  {
    name: "format",
    says: "formatting and plain lint",
    run: ["biome ci --colors=off --error-on-warnings ."],
    mend: "`npm run format` mends what can be mended by itself",
  },
  { name: "lint", says: "typed rules, purity of the protocol", run: ["eslint ."], after: "generate" },
  {
    name: "layers",
    says: "who may import whom",
    run: [`depcruise --config .dependency-cruiser.cjs ${packages.map((name) => `packages/${name}/src`).join(" ")}`],
    after: "generate",
  },
  {
    name: "unused",
    says: "no dead files, exports or dependencies",
    run: ["knip --no-progress --no-config-hints"],
    after: "generate",
  },
  { name: "api", says: "public names are those of api/", run: ["node tools/api-report.mjs --check"], after: "types" },
  { name: "docs", says: "links, names and code in the docs", run: ["node tools/check-docs.mjs"], after: "types" },
  { name: "tree", says: "file names, no machine paths", run: ["node tools/check-tree.mjs"] },
  {
    name: "packages",
    says: "what npm will see",
    run: ["node tools/complete-lock.mjs --check", "node tools/check-packages.mjs"],
    after: "types",
  },
  {
    name: "requirements",
    says: "every requirement has a case",
    run: ["node tools/check-requirements.mjs"],
    after: "types",
  },
];

function seconds(since) {
  return ((performance.now() - since) / 1000).toFixed(1).padStart(6);
}

/** Runs a command line with the workspace's binaries on the PATH. */
function execute(command) {
  return new Promise((resolve) => {
    const child = spawn(command, {
      cwd: root,
      shell: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, PATH: `${join(root, "node_modules", ".bin")}:${process.env["PATH"]}`, NO_COLOR: "1" },
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("error", (error) => resolve({ ok: false, output: String(error) }));
    child.on("close", (code) => resolve({ ok: code === 0, output }));
  });
}

async function runCheck(check) {
  const start = performance.now();
  let result = { ok: true, output: "" };
  for (const command of check.run) {
    result = await execute(command);
    if (!result.ok) break;
  }
  console.log(`${result.ok ? "ok    " : "FAILED"} ${seconds(start)} s  ${check.name.padEnd(13)} ${check.says}`);
  return { ...check, ...result };
}

const named = process.argv.slice(2);
const unknown = named.filter((name) => !checks.some((check) => check.name === name));
if (unknown.length > 0) {
  console.error(`no such check: ${unknown.join(", ")}; there are ${checks.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
const waiting = checks.filter(
  ({ name, run }) =>
    (named.length === 0 || named.includes(name)) &&
    // Skips a check whose script does not exist.
    (name !== "requirements" || existsSync(join(root, run[0].replace(/^node /, "")))),
);
const results = [];
const running = new Set();
const start = performance.now();
while (waiting.length > 0 || running.size > 0) {
  const isOpen = ({ after }) =>
    after !== undefined &&
    (waiting.some(({ name }) => name === after) || [...running].some(({ name }) => name === after));
  const next = waiting.find((check) => !isOpen(check));
  if (next !== undefined && running.size < AT_A_TIME) {
    waiting.splice(waiting.indexOf(next), 1);
    const entry = { name: next.name, done: undefined };
    entry.done = runCheck(next).then((result) => {
      results.push(result);
      running.delete(entry);
    });
    running.add(entry);
    continue;
  }
  await Promise.race([...running].map(({ done }) => done));
}
const failed = results.filter(({ ok }) => !ok);
for (const { name, output, mend } of failed) {
  console.log(`\n----- ${name}\n${output.trimEnd()}`);
  if (mend !== undefined) console.log(`\n${mend}`);
}
console.log(`\n${results.length - failed.length} checks ok, ${failed.length} failed, in ${seconds(start).trim()} s`);
process.exitCode = failed.length === 0 ? 0 : 1;
