/** Installs a package of the machine's package manager with apt, if it is available and permitted. */
import { spawnSync } from "node:child_process";

const [wanted] = process.argv.slice(2);

function run(...args) {
  const { status, error } = spawnSync("apt-get", args, {
    stdio: "inherit",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (error !== undefined) throw error;
  return status === 0;
}

// Another program may hold the lock, and an outdated package list refers to deleted files.
const patiently = ["-o", "DPkg::Lock::Timeout=300"];
const isThere =
  wanted !== undefined &&
  run(...patiently, "update", "-qq") &&
  run(...patiently, "install", "-qq", "-y", "--no-install-recommends", wanted);
if (!isThere) process.exitCode = 1;
