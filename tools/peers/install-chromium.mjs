/** Installs Chromium with apt, if it is available and permitted, unless a Chromium is already installed. */
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
  // An outdated package list refers to deleted files.
  const isThere = run("update", "-qq") && run("install", "-qq", "-y", "--no-install-recommends", "chromium");
  if (!isThere) process.exitCode = 1;
}
