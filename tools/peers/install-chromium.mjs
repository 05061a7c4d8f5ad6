/** Installs Chromium with the package manager of the machine, where that is apt and may be used; a Chromium that is there is enough. */
import { spawnSync } from "node:child_process";
import { findChromium } from "./chromium.mjs";

function run(...args) {
  const { status, error } = spawnSync("apt-get", args, {
    stdio: "inherit",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (error !== undefined) throw error;
  return status === 0;
}

if (findChromium() === undefined) {
  // An old list of packages names files that are gone.
  const isThere = run("update", "-qq") && run("install", "-qq", "-y", "--no-install-recommends", "chromium");
  if (!isThere) process.exitCode = 1;
}
