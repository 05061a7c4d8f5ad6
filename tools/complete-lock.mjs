// SPDX-License-Identifier: Apache-2.0
// Adds to package-lock.json the optional packages for other platforms that the registry did not have at installation;
// without them, `npm ci` rejects the lock. Their names tell their platforms. Run after an installation.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const file = join(dirname(fileURLToPath(import.meta.url)), "..", "package-lock.json");
const systems = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const processors = ["arm64", "arm", "armv7", "ia32", "ppc64", "riscv64", "s390x", "x64"];

/** The platform in a package's name. */
function platformOf(name) {
  const words = name.split("/").at(-1).split("-");
  const processor = words.find((word) => processors.includes(word));
  const cpu = processor === "armv7" ? "arm" : processor;
  const libc = words.some((word) => word.startsWith("musl"))
    ? "musl"
    : words.some((word) => word.startsWith("gnu"))
      ? "glibc"
      : undefined;
  return { os: words.filter((word) => systems.includes(word)), cpu: cpu === undefined ? [] : [cpu], libc };
}

const lock = JSON.parse(readFileSync(file, "utf8"));
const added = [];
for (const [path, owner] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const places = [`${path}/node_modules/${name}`, `node_modules/${name}`];
    if (places.some((place) => lock.packages[place] !== undefined)) continue;
    const { os, cpu, libc } = platformOf(name);
    if (os.length === 0 || cpu.length === 0) throw new Error(`which platform is ${name} for?`);
    lock.packages[places[1]] = {
      version,
      cpu,
      ...(owner.dev ? { dev: true } : {}),
      ...(libc === undefined || os[0] !== "linux" ? {} : { libc: [libc] }),
      optional: true,
      os,
    };
    added.push(name);
  }
}
if (process.argv.includes("--check")) {
  for (const name of added)
    console.error(`package-lock.json: ${name} is missing; run \`node tools/complete-lock.mjs\``);
  process.exitCode = added.length === 0 ? 0 : 1;
} else if (added.length > 0) {
  const { "": root, ...rest } = lock.packages;
  const sorted = Object.entries(rest).toSorted(([a], [b]) => a.localeCompare(b, "en"));
  lock.packages = { "": root, ...Object.fromEntries(sorted) };
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`added ${added.join(", ")}`);
}
