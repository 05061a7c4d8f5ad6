/**
 * Installs a package of the machine's package manager with apt, if it is available and permitted; with a folder, unpacks it
 * there instead, so that a service in it is not started.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const [wanted, folder] = process.argv.slice(2);

function run(program, args, cwd) {
  const { status, error } = spawnSync(program, args, {
    cwd,
    stdio: "inherit",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (error !== undefined) throw error;
  return status === 0;
}

function unpack() {
  if (!run("apt-get", [...patiently, "download", "-qq", "-o", "APT::Sandbox::User=root", wanted], folder)) return false;
  const file = readdirSync(folder).find((name) => name.endsWith(".deb"));
  return file !== undefined && run("dpkg-deb", ["--extract", join(folder, file), folder]);
}

// Another program may hold the lock, and an outdated package list refers to deleted files.
const patiently = ["-o", "DPkg::Lock::Timeout=300"];
const isThere =
  wanted !== undefined &&
  run("apt-get", [...patiently, "update", "-qq"]) &&
  (folder === undefined
    ? run("apt-get", [...patiently, "install", "-qq", "-y", "--no-install-recommends", wanted])
    : unpack());
if (!isThere) process.exitCode = 1;
