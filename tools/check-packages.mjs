// SPDX-License-Identifier: Apache-2.0
// Checks what npm publishes of every package: one version, exact dependencies, existing entries, types that resolve.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const problems = [];

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), "utf8"));
}

function checkVersions(file, dependencies, version) {
  for (const [name, wanted] of Object.entries(dependencies ?? {})) {
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(wanted)) problems.push(`${file}: ${name} is not pinned ("${wanted}")`);
    if (name.startsWith("@xdskit/") && wanted !== version) {
      problems.push(`${file}: ${name} is ${wanted}, the workspace is ${version}`);
    }
  }
}

/** Every file that `exports` and `bin` refer to. */
function targetsOf(value) {
  if (typeof value === "string") return [value];
  return Object.values(value ?? {}).flatMap(targetsOf);
}

/** Entries that are files to fetch, not modules to import. */
function filesAmong(entries) {
  return Object.entries(entries ?? {}).flatMap(([entry, target]) =>
    typeof target === "string" && !/\.[cm]?js$/.test(target) ? [entry] : [],
  );
}

/**
 * Problems to accept. Bundlers would honour a condition in `imports`, but then the sources would import built code, and
 * tests would run that.
 */
const accepted = ["USE_EXPORTS_OR_IMPORTS_BROWSER"];

const workspace = readJson("package.json");
checkVersions("package.json", workspace.devDependencies, workspace.version);
checkVersions("package.json", workspace.dependencies, workspace.version);

for (const folder of readdirSync(join(root, "packages"))) {
  const file = `packages/${folder}/package.json`;
  if (!existsSync(join(root, file))) continue;
  const manifest = readJson(file);
  for (const field of ["version", "license", "type"]) {
    if (manifest[field] !== workspace[field]) {
      problems.push(`${file}: ${field} is ${manifest[field]}, the workspace has ${workspace[field]}`);
    }
  }
  if (manifest.engines?.node !== workspace.engines.node) problems.push(`${file}: engines differ from the workspace's`);
  if (!manifest.description) problems.push(`${file}: has no description`);
  checkVersions(file, manifest.dependencies, workspace.version);
  checkVersions(file, manifest.devDependencies, workspace.version);
  if (manifest.private) continue;
  for (const target of [...targetsOf(manifest.exports), ...targetsOf(manifest.bin)]) {
    const fixed = target.split("*")[0];
    if (!existsSync(join(root, "packages", folder, fixed))) problems.push(`${file}: ${target} does not exist`);
  }
  const { messages } = await publint({ pkgDir: join(root, "packages", folder), strict: true, pack: false });
  for (const message of messages.filter(({ code }) => !accepted.includes(code)))
    problems.push(`${file}: ${formatMessage(message, manifest)}`);
  const attw = spawnSync(
    join(root, "node_modules", ".bin", "attw"),
    [
      ...["--pack", join("packages", folder), "--profile", "esm-only", "--no-emoji", "--no-color", "--format", "ascii"],
      ...filesAmong(manifest.exports).flatMap((entry) => ["--exclude-entrypoints", entry]),
    ],
    { cwd: root, encoding: "utf8" },
  );
  if (attw.status !== 0) problems.push(`${file}: attw\n${attw.stdout}${attw.stderr}`);
}

for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
