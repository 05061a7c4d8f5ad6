#!/usr/bin/env node
/**
 * Installs the other clients of the end-to-end tests below `.cache/peers/`.
 *
 *   node tools/peers/install.mjs [NAME…]     installs what is missing or outdated (everything, or only these)
 *   node tools/peers/install.mjs --list      prints what is installed, as JSON
 *   node tools/peers/install.mjs --path NAME prints the program or file of an installed one
 *   node tools/peers/install.mjs --strict    exits with 1 if one cannot be installed
 *
 * A peer that cannot be installed is named at the end; the tests that need it are reported as skipped, by name.
 */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { isCurrent, listPeers, peers, root, stampFile, stampOf } from "./peers.mjs";

const args = process.argv.slice(2);
const unknown = args.filter((arg) => !arg.startsWith("--") && !peers.some((peer) => peer.name === arg));
if (unknown.length > 0) {
  process.stderr.write(`no such peer: ${unknown.join(", ")}; there are ${peers.map((peer) => peer.name).join(", ")}\n`);
  process.exit(64);
}

if (args.includes("--list")) {
  process.stdout.write(`${JSON.stringify(listPeers(), null, 2)}\n`);
} else if (args.includes("--path")) {
  const command = listPeers().find((peer) => args.includes(peer.name))?.command;
  if (command === undefined) process.exitCode = 1;
  else process.stdout.write(`${command.at(0)}\n`);
} else {
  const names = args.filter((arg) => !arg.startsWith("--"));
  const failed = await installAll(names.length === 0 ? peers : peers.filter((peer) => names.includes(peer.name)));
  if (failed.length > 0) {
    process.stdout.write(`not installed: ${failed.join(", ")}; the tests that need them will be skipped\n`);
    if (args.includes("--strict")) process.exitCode = 1;
  }
}

/**
 * In parallel, because most of the time is waiting for downloads; only those of the package manager one after the other,
 * because it has a lock.
 */
async function installAll(wanted) {
  let packages = Promise.resolve();
  const inTurn = (peer) => {
    if (!peer.isPackage) return install(peer);
    const installed = packages.then(() => install(peer));
    packages = installed;
    return installed;
  };
  const outcomes = await Promise.all(wanted.map(async (peer) => ({ peer, installed: await inTurn(peer) })));
  return outcomes.filter(({ installed }) => !installed).map(({ peer }) => peer.name);
}

async function install(peer) {
  const title = `${peer.name} ${peer.version}`;
  if (isCurrent(peer)) {
    process.stdout.write(`ok        ${title} (already there)\n`);
    return true;
  }
  const startedAt = performance.now();
  if (peer.install.length > 0 && !peer.isOfTheMachine) {
    rmSync(peer.at, { recursive: true, force: true });
    mkdirSync(peer.at, { recursive: true });
  }
  for (const step of peer.install) {
    const failure = await run(step);
    if (failure !== undefined) {
      process.stdout.write(`FAILED    ${title} after ${seconds(startedAt)}: ${step.run.join(" ")}: ${failure}\n`);
      return false;
    }
  }
  if (peer.proof(peer.at) === undefined) {
    process.stdout.write(`FAILED    ${title} after ${seconds(startedAt)}: its program is not where it should be\n`);
    return false;
  }
  if (peer.install.length > 0 && !peer.isOfTheMachine) writeFileSync(stampFile(peer), stampOf(peer));
  process.stdout.write(`installed ${title} in ${seconds(startedAt)}\n`);
  return true;
}

/** Resolves to undefined on success, else to the last lines of the output. */
function run(step) {
  return new Promise((resolve) => {
    const [program, ...rest] = step.run;
    const child = spawn(program, rest, { cwd: step.in ?? root, stdio: ["ignore", "pipe", "pipe"] });
    const said = [];
    child.stdout.on("data", (chunk) => said.push(chunk));
    child.stderr.on("data", (chunk) => said.push(chunk));
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => {
      resolve(code === 0 ? undefined : `exit ${code}: ${Buffer.concat(said).toString("utf8").trim().slice(-600)}`);
    });
  });
}

function seconds(startedAt) {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}
