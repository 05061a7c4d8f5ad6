// SPDX-License-Identifier: Apache-2.0
// Creates a release from the built packages: a tarball of every public package, a list of everything that they install
// (CycloneDX), and checksums. Publishes nothing. The same tree gives the same bytes.
//
//   node tools/release.mjs [--output DIR]     default: release/
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values } = parseArgs({ options: { output: { type: "string", default: join(root, "release") } } });
const output = resolve(values.output);
const { version } = readJson(join(root, "package.json"));

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function fail(message) {
  console.error(`release: ${message}`);
  process.exit(1);
}

function npm(args, cwd) {
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) fail(`npm ${args[0]} failed\n${stderr}`);
  return stdout;
}

/** Removes build output of deleted sources, which `tsc` leaves. */
function removeStale(folder) {
  const dist = join(folder, "dist");
  for (const file of readdirSync(dist, { recursive: true })) {
    const [, module] = /^(.*?)(?:\.d)?\.[jt]s$/.exec(file) ?? [];
    if (module !== undefined && !existsSync(join(folder, "src", `${module}.ts`))) rmSync(join(dist, file));
  }
}

function pack() {
  const folders = readdirSync(join(root, "packages"))
    .map((name) => join(root, "packages", name))
    .filter((folder) => existsSync(join(folder, "package.json")) && !readJson(join(folder, "package.json")).private);
  for (const folder of folders) removeStale(folder);
  const args = ["pack", "--json", "--pack-destination", output, ...folders.flatMap((folder) => ["-w", folder])];
  return Object.values(JSON.parse(npm(args, root)));
}

/** Lists everything that an empty project installs with all tarballs. Omits what differs between machines and runs. */
function listComponents(tarballs) {
  const project = mkdtempSync(join(tmpdir(), "xdskit-release-"));
  try {
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "xdskit-release", version, private: true }));
    const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--package-lock-only"];
    npm(["install", ...quiet, ...tarballs.map((file) => join(output, file))], project);
    const list = JSON.parse(npm(["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], project));
    delete list.serialNumber;
    delete list.metadata.timestamp;
    list.metadata.component.name = "xdskit-release";
    for (const component of list.components) {
      component.externalReferences = component.externalReferences.filter(({ type }) => type !== "distribution");
    }
    return list;
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

mkdirSync(output, { recursive: true });
for (const file of readdirSync(output)) {
  if (/^xdskit-.*\.(tgz|cdx\.json)$|^SHA256SUMS$/.test(file)) rmSync(join(output, file)); // from an earlier run
}
const packed = pack();
const list = listComponents(packed.map(({ filename }) => filename));
writeFileSync(join(output, `xdskit-${version}.cdx.json`), `${JSON.stringify(list, undefined, 2)}\n`);
const sums = readdirSync(output)
  .toSorted()
  .map(
    (file) =>
      `${createHash("sha256")
        .update(readFileSync(join(output, file)))
        .digest("hex")}  ${file}\n`,
  );
writeFileSync(join(output, "SHA256SUMS"), sums.join(""));

for (const { filename, size, unpackedSize } of packed)
  console.log(`${filename}: ${size} bytes, ${unpackedSize} unpacked`);
console.log(`${packed.length} packages, ${list.components.length} components, in ${output}`);
