// SPDX-License-Identifier: Apache-2.0
// Tests the README's commands: `npm start` starts and suggests commands; all of these, the README's other commands and
// its program work.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseMarkdown } from "./docs/markdown.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const START_WITHIN_MS = 240_000;
const ANSWER_WITHIN_MS = 20_000;
const STOP_WITHIN_MS = 15_000;

/** Starts a command line in its own process group, and collects its output. */
function start(line) {
  const child = spawn(line, { cwd: root, shell: true, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const run = { line, said: "", out: "", code: undefined, child, listeners: new Set() };
  const hear = (stream) => (chunk) => {
    run.said += chunk;
    if (stream === "stdout") run.out += chunk;
    for (const listener of run.listeners) listener();
  };
  child.stdout.on("data", hear("stdout"));
  child.stderr.on("data", hear("stderr"));
  run.closed = new Promise((resolve) => {
    child.on("close", (code, signal) => {
      run.code = code ?? signal;
      for (const listener of run.listeners) listener();
      resolve();
    });
  });
  return run;
}

function end(run, signal) {
  if (run.code !== undefined) return;
  try {
    process.kill(-run.child.pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error; // it has already ended
  }
}

/** Resolves to true when the condition holds, or to false at the deadline or when the process ends first. */
function until(run, condition, withinMs) {
  return new Promise((resolve) => {
    const settle = (value) => {
      clearTimeout(timer);
      run.listeners.delete(look);
      resolve(value);
    };
    const look = () => {
      if (condition()) settle(true);
      else if (run.code !== undefined) settle(false);
    };
    const timer = setTimeout(() => settle(condition()), withinMs);
    run.listeners.add(look);
    look();
  });
}

let passed = 0;
let failed = 0;
function note(ok, what, output) {
  if (ok) passed += 1;
  else failed += 1;
  console.log(`${ok ? "ok    " : "FAILED"} ${what}`);
  if (!ok) console.log(output.trimEnd().replace(/^/gm, "       "));
}

/** The suggested commands, without comments. */
const suggestions = (text) =>
  [...text.matchAll(/^ {2}((?:npx )?xds |curl )([^#\n]*)/gm)].map(([, program, rest]) => `${program}${rest}`.trim());

/** The port if it is free, else one that the system chooses. */
function freePort(port) {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", (error) => (error.code === "EADDRINUSE" && port !== 0 ? resolve(freePort(0)) : reject(error)));
    probe.listen(port, "127.0.0.1", () => {
      const { port: found } = probe.address();
      probe.close(() => resolve(found));
    });
  });
}

// Uses the default ports unless another process has them; then every command gets the others.
const [listen, admin] = [await freePort(18000), await freePort(18001)];
if (listen !== 18000 || admin !== 18001) {
  console.log(`port 18000 or 18001 is taken: using ${listen} and ${admin}`);
  process.env["XDS_LISTEN"] = process.env["XDS_SERVER"] = `127.0.0.1:${listen}`;
  process.env["XDS_ADMIN"] = process.env["XDS_ADMIN_SERVER"] = `127.0.0.1:${admin}`;
}

const server = start("npm start");
const isUp = await until(
  server,
  () => suggestions(server.said).length > 0 && /\n\n?$/.test(server.said),
  START_WITHIN_MS,
);
note(isUp, "npm start serves and says what to try next", server.said);
const readme = parseMarkdown(readFileSync(join(root, "README.md"), "utf8")).blocks;
const written = readme
  .filter(({ language }) => language === "sh")
  .flatMap((block) => block.lines)
  .filter((line) => line.startsWith("npx xds "))
  .map((line) => line.split(" && ")[0]);
// The suggestions are printed at once, so they are complete here.
const lines = new Set([...suggestions(server.said), ...written]);
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
/** The same request with Node, where curl is missing. */
const withoutCurl = (line) =>
  line.replace(/^curl (\S+)$/, `node -e 'fetch("$1").then((r) => { process.exitCode = r.ok ? 0 : 1; })'`);
for (const line of lines) {
  const run = start((hasCurl ? line : withoutCurl(line)).replace(/\s>\s*\S+$/, ""));
  // A command that follows changes does not end by itself: it works once it has printed something.
  const follows = /\bxds watch\b/.test(line);
  if (follows) {
    await until(run, () => run.out.trim() !== "", ANSWER_WITHIN_MS);
    note(run.out.trim() !== "", line, run.said);
  } else {
    await until(run, () => run.code !== undefined, ANSWER_WITHIN_MS);
    note(run.code === 0, `${line}${run.code === undefined ? " (no end)" : ` (exit ${run.code})`}`, run.said);
  }
  end(run, "SIGTERM");
  await Promise.race([run.closed, new Promise((resolve) => setTimeout(resolve, STOP_WITHIN_MS).unref())]);
  end(run, "SIGKILL");
}
end(server, "SIGTERM");
await until(server, () => server.code !== undefined, STOP_WITHIN_MS);
note(server.code !== undefined, "it ends when it is told to", server.said);
end(server, "SIGKILL");

const program = readme.find(({ language }) => language === "ts");
mkdirSync(join(root, ".cache"), { recursive: true });
writeFileSync(join(root, ".cache", "readme.mjs"), program.lines.join("\n"));
const embedded = start("node .cache/readme.mjs");
const serves = await until(embedded, () => /port: \d+/.test(embedded.out), ANSWER_WITHIN_MS);
note(serves, "the program of the README serves", embedded.said);
end(embedded, "SIGKILL");
await embedded.closed;
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed === 0 ? 0 : 1;
