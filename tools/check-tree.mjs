// SPDX-License-Identifier: Apache-2.0
// Checks the names of files and types and the size of files, and rejects machine paths and hosts of package registries in their text:
// of all files that git tracks, and of those that `git add .` would add.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const problems = [];

/** Vague words that are not allowed in names (docs/glossary.md). */
const vague = [
  "manager",
  "handler",
  "helper",
  "helpers",
  "util",
  "utils",
  "wrapper",
  "info",
  "data",
  "impl",
  "base",
  "common",
];
/** Names that tools require. */
const prescribed =
  /^(tsconfig(\..+)?\.json|README\.md|CONTRIBUTING\.md|CHANGELOG\.md|SECURITY\.md|LICENSE|Dockerfile|[A-Z][A-Za-z]*\.java)$/;

/** Terms of the field that contain a vague word. */
const fieldWords = ["resource-wrapper"];

const machinePath = /(^|[\s"'`(=:])\/(home|root|Users|work|mnt|private\/var)\/[\w.-]+/;
const homeOfWindows = /\b[A-Z]:\\\\?Users\\/;
const publicRegistry = /\bregistry\.(npmjs|yarnpkg|npmmirror)\.\w+/;

function registryHosts() {
  const configured = execFileSync("npm", ["config", "get", "registry"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return [configured, process.env["PIP_INDEX_URL"], process.env["GOPROXY"], process.env["CARGO_REGISTRIES_DEFAULT"]]
    .flatMap((text) => (text ?? "").split(","))
    .flatMap((text) => (URL.canParse(text.trim()) ? [new URL(text.trim()).host] : []));
}

function isKebab(name) {
  return /^\.?[a-z0-9]+([-.][a-z0-9]+)*$/.test(name);
}

function listFiles(...flags) {
  return execFileSync("git", ["ls-files", ...flags], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "");
}

/** Files that `git add .` would add. */
const untracked = listFiles("--others", "--exclude-standard");
const files = [...listFiles("--cached"), ...untracked];
const hosts = registryHosts().filter((host) => host !== "" && !host.startsWith("127.") && host !== "localhost");

/** Where each type of a package is declared, by "package name": one name has one meaning (docs/decisions/0028). */
const declared = new Map();

function findTypes(file, text) {
  const [, pkg] = /^packages\/([^/]+)\/src\/.*(?<!\.test)\.ts$/.exec(file) ?? [];
  if (pkg === undefined) return;
  // The formatter puts declarations of a module at the beginning of a line.
  for (const [, type] of text.matchAll(/^(?:export )?(?:abstract )?(?:class|interface|type|enum) (\w+)/gm)) {
    const first = declared.get(`${pkg} ${type}`);
    if (first === undefined) declared.set(`${pkg} ${type}`, file);
    else if (first !== file) problems.push(`${file}: the type ${type} is also declared in ${first}`);
  }
}

/** A file with fewer lines, and a single user that stays below `MOST_LINES` with it, joins that user. */
const FEW_LINES = 25;
const MOST_LINES = 300;
/** Rows of a table, each with a file of its own; modules that are loaded when they are needed; and another change's work. */
const mayBeSmall =
  /^packages\/(cli\/src\/(command-line|commands)|envoy-api\/src\/catalog|conformance\/src\/(requirement|target)|server\/src\/(admin|ledger))\//;
/** The sources of packages by path, with their lines and what they import. */
const sources = new Map();
/** The files of packages that import a file, tests included, by the path of that file. */
const users = new Map();

function noteImports(file, text) {
  if (!/^packages\/[^/]+\/(src|test)\/.*\.tsx?$/.test(file)) return;
  const isTest = /\.test\.tsx?$|^packages\/[^/]+\/test\//.test(file);
  if (!isTest && !file.endsWith(".d.ts")) sources.set(file, text.split("\n").length - 1);
  for (const [, from] of text.matchAll(/(?:from |import\(|import |new URL\()"(\.{1,2}\/[^"]+)"/g)) {
    const to = join(dirname(file), from);
    users.set(to, (users.get(to) ?? new Set()).add(file));
  }
}

/** Finds small files that say less alone than in the file that uses them (docs/decisions/0108). */
function findLonely() {
  for (const [file, lines] of sources) {
    const [user, ...others] = users.get(file) ?? [];
    if (lines >= FEW_LINES || others.length > 0 || mayBeSmall.test(file)) continue;
    const ofUser = sources.get(user);
    // An entry point makes it public.
    if (ofUser === undefined || ofUser + lines > MOST_LINES || /\/(index|internal)\.ts$/.test(user)) continue;
    problems.push(`${file}: only ${user} uses these ${lines} lines; they join it`);
  }
}

for (const file of files) {
  const name = basename(file);
  if (/\.(ts|mjs|cjs|js)$/.test(name)) {
    if (!isKebab(name)) problems.push(`${file}: file names are kebab-case`);
    const words = name.split(".")[0].split("-");
    const found = words.find((word) => vague.includes(word)) ?? (words.join("-") === "types" ? "types" : undefined);
    const isFieldWord = fieldWords.some((word) => name.startsWith(`${word}.`));
    if (found !== undefined && !isFieldWord && !prescribed.test(name))
      problems.push(`${file}: "${found}" says nothing; name what it is`);
    if (/\d\.test\.ts$/.test(name) && !/v\d\.test\.ts$|http2\.test\.ts$/.test(name))
      problems.push(`${file}: tests are named, not numbered`);
  }
  let text;
  try {
    if (statSync(join(root, file)).size > 4_000_000) continue;
    text = readFileSync(join(root, file), "utf8");
  } catch (error) {
    // The file is deleted in the tree and still listed by git.
    if (error.code === "ENOENT") continue;
    throw error;
  }
  if (text.includes("\0") || file === "tools/check-tree.mjs") continue;
  findTypes(file, text);
  noteImports(file, text);
  for (const [index, line] of text.split("\n").entries()) {
    const where = `${file}:${index + 1}`;
    if (machinePath.test(line) || homeOfWindows.test(line))
      problems.push(`${where}: a path of one machine: ${line.trim().slice(0, 120)}`);
    const host = hosts.find((one) => line.includes(one)) ?? publicRegistry.exec(line)?.[0];
    if (host !== undefined) problems.push(`${where}: the host of a package registry: ${host}`);
  }
}

findLonely();
for (const problem of problems) console.error(problem);
const own = untracked.filter((file) => problems.some((problem) => problem.startsWith(`${file}:`)));
if (own.length > 0)
  console.error(
    `not tracked by git: ${own.join(", ")}; to keep files out of this check, list them in .git/info/exclude`,
  );
process.exitCode = problems.length === 0 ? 0 : 1;
