import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Cluster, createXdsClient } from "@xdskit/client";
import { afterEach, describe, expect, test } from "vitest";
import { clusters, Site, until } from "./serving.ts";

const command = fileURLToPath(new URL("../bin/xds.js", import.meta.url));
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
});

/** The built command, in a process of its own. */
function xds(...argv: readonly string[]): { child: ChildProcessWithoutNullStreams; output: () => string } {
  return xdsWith({}, ...argv);
}

function xdsWith(env: Readonly<Record<string, string>>, ...argv: readonly string[]): ReturnType<typeof xds> {
  const child = spawn(process.execPath, [command, ...argv], { env: { ...process.env, ...env } });
  started.push(child);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { child, output: () => text };
}

test("the built command answers with its exit code", async () => {
  const good = xds("--version");
  expect(await once(good.child, "exit")).toEqual([0, null]);
  expect(good.output()).toBe("0.1.0\n");
  expect(await once(xds("nonsense").child, "exit")).toEqual([2, null]);
});

describe.runIf(existsSync("/proc/self/limits"))("with a low limit of open files", () => {
  const flags = ["--listen", "127.0.0.1:0", "--admin", "off", "--state-dir", "off"];

  // How many are too few depends on the version of Node.
  test.each([64, 128, 512])("a server that may have %d says so when it starts, or why it cannot", async (limit) => {
    const site = await Site.make({ "clusters.yaml": clusters("one") });
    const script = `ulimit -n ${limit}; exec "$0" "$@"`;
    const child = spawn("sh", ["-c", script, process.execPath, command, "serve", site.directory, ...flags], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    started.push(child);
    const exited = once(child, "exit");
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
    const ended = once(child.stderr, "end");
    await until("it is ready or has ended", () => log.includes('"event":"ready"') || child.exitCode !== null);
    if (child.exitCode === null) {
      expect(log).toMatch(new RegExp(`"event":"few-open-files".*"limit":${limit}\\b`));
      child.kill("SIGTERM");
      expect(await exited).toEqual([0, null]);
    } else {
      await ended;
      expect([log, child.exitCode]).toEqual([
        `xds: too many open files: this process may have ${limit}\nhint: raise the limit: \`ulimit -n 65536\`, or LimitNOFILE= of systemd\n`,
        1,
      ]);
    }
    await site.remove();
  });

  test("connections leave it enough to read its files, and those that do not fit are named", async () => {
    const site = await Site.make({ "clusters.yaml": clusters("one") });
    const script = 'ulimit -n 512; exec "$0" "$@"';
    const child = spawn("sh", ["-c", script, process.execPath, command, "serve", site.directory, ...flags], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    started.push(child);
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
    await until("it is ready", () => log.includes('"event":"ready"'));
    expect(log).toMatch(/"event":"few-open-files".*"limit":512,"connections":384\b/);
    const port = Number(/"event":"serving".*"address":"127\.0\.0\.1:(\d+)"/.exec(log)?.[1]);
    let closed = 0;
    const sockets = Array.from({ length: 600 }, () =>
      connect(port, "127.0.0.1")
        .on("close", () => closed++)
        .on("error", () => undefined)
        .resume(),
    );
    // An eighth more than connections are open, to be told of the limit.
    await until("those that do not fit are closed", () => closed >= 600 - 384 - 48);
    expect(closed).toBe(600 - 384 - 48);
    expect(log).toMatch(/"event":"limit-hit","limit":"maxConnections"/);
    await site.write("clusters.yaml", clusters("one", "two"));
    await until("the change is read", () => log.includes('"event":"ledger-recorded","number":2'));
    expect(closed).toBe(600 - 384 - 48);
    for (const socket of sockets) socket.destroy();
    await site.remove();
  });
});

test.runIf(existsSync("/dev/full"))("a full disk behind standard output is an error of its own", async () => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [command, "--help"], { stdio: ["ignore", full, "pipe"] });
  closeSync(full);
  started.push(child);
  const [told, exited] = await Promise.all([child.stderr && text(child.stderr), once(child, "exit")]);
  expect([told, exited]).toEqual(["xds: cannot write to standard output: no space left on device\n", [74, null]]);
});

test("a reader that stops early ends the command without an error", async () => {
  const child = spawn(process.execPath, [command, "completion", "bash"], { stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  child.stdout.destroy();
  const [told, exited] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect([told, exited]).toEqual(["", [0, null]]);
});

test("a reader that stops early does not hide the problems that a command found", async () => {
  const site = await Site.make({ "broken.yaml": "- name: nothing\n".repeat(900) });
  const child = spawn(process.execPath, [command, "validate", site.directory], { stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  child.stdout.destroy();
  const [told, exited] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect([told, exited]).toEqual(["", [1, null]]);
  await site.remove();
});

test("the first Ctrl-C sends clients away, the second ends the process at once", async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  const serving = xds("serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "off");
  const ready = /"address":"(127[\d.:]+)"[\s\S]*"event":"ready"/;
  await until("it is ready", () => ready.test(serving.output()));
  const address = ready.exec(serving.output())?.[1] ?? "";
  // A client that stays keeps the process alive until its time is up.
  const clients = await Promise.all([createXdsClient({ server: address }), createXdsClient({ server: address })]);
  for (const client of clients) client.watch(Cluster);
  await Promise.all(clients.map((client) => client.list(Cluster)));
  const exited = once(serving.child, "exit");
  serving.child.kill("SIGINT");
  await until("it is stopping", () => serving.output().includes('"event":"stopping"'));
  serving.child.kill("SIGINT");
  expect(await exited).toEqual([130, null]);
  await Promise.all(clients.map((client) => client.close()));
  await site.remove();
});

test("SIGHUP reloads at once, and ends nothing", async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  const serving = xds("serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "off");
  await until("it is ready", () => serving.output().includes('"event":"ready"'));
  serving.child.kill("SIGHUP");
  const loads = (): number => serving.output().split('"event":"loaded"').length - 1;
  await until("it says so, and loads again", () => serving.output().includes('"event":"hangup"') && loads() === 2);
  const exited = once(serving.child, "exit");
  serving.child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  await site.remove();
});

test("SIGTERM ends a server that nobody uses with 0", async () => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  const serving = xds("serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0");
  await until("it is ready", () => serving.output().includes('"event":"ready"'));
  const exited = once(serving.child, "exit");
  serving.child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  await site.remove();
});

test.each([
  ["state directory", ["--state-dir", "REMOVED"]],
  ["file store", ["--store", "file:REMOVED", "--state-dir", "off"]],
  ["export directory", ["--export-directory", "REMOVED", "--export-node", "n", "--state-dir", "off"]],
])("SIGTERM ends a server with 0 also after its %s was removed", async (_, flags) => {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  const place = await Site.make();
  const removed = join(place.directory, "removed");
  const given = flags.map((flag) => flag.replace("REMOVED", removed));
  const serving = xds("serve", site.directory, "--listen", "127.0.0.1:0", "--admin", "off", ...given);
  await until("it is ready", () => serving.output().includes('"event":"ready"') && existsSync(removed));
  // Something may still be written there.
  rmSync(removed, { recursive: true, maxRetries: 10 });
  const exited = once(serving.child, "exit");
  serving.child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(serving.output()).toContain('"event":"stopped"');
  await site.remove();
  await place.remove();
});

describe("a server whose log nobody reads any more goes on", () => {
  const READY = /"address":"(127[\d.:]+)"[\s\S]*"event":"ready"/;
  const SUGGESTED = /127[\d.]+:\d+/;
  const flags = ["--listen", "127.0.0.1:0", "--admin", "off", "--log-level", "debug"];

  async function servesOn(child: ChildProcess, address: string, site: Site): Promise<void> {
    await site.write("clusters.yaml", clusters("one", "two"));
    await until("what changed is served", async () => {
      await using client = await createXdsClient({ server: address });
      return (await client.list(Cluster)).length === 2;
    });
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  }

  test.each(["stderr", "stdout and stderr"])("when the reader of %s is gone", async (which) => {
    const site = await Site.make({ "clusters.yaml": clusters("one") });
    const serving = xds("serve", site.directory, ...flags);
    await until("it is ready", () => READY.test(serving.output()));
    serving.child.stderr.destroy();
    if (which !== "stderr") serving.child.stdout.destroy();
    await servesOn(serving.child, READY.exec(serving.output())?.[1] ?? "", site);
    await site.remove();
  });

  test("when nobody reads what it suggests", async () => {
    const site = await Site.make({ "clusters.yaml": clusters("one") });
    const serving = xdsWith({ npm_lifecycle_event: "start" }, "serve", site.directory, ...flags);
    serving.child.stdout.destroy();
    await until("it is ready", () => READY.test(serving.output()));
    await servesOn(serving.child, READY.exec(serving.output())?.[1] ?? "", site);
    await site.remove();
  });

  test.runIf(existsSync("/dev/full"))("when the disk of its file is full", async () => {
    const site = await Site.make({ "clusters.yaml": clusters("one") });
    const full = openSync("/dev/full", "w");
    const child = spawn(process.execPath, [command, "serve", site.directory, ...flags], {
      env: { ...process.env, npm_lifecycle_event: "start" },
      stdio: ["ignore", "pipe", full],
    });
    closeSync(full);
    started.push(child);
    let suggested = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      suggested += chunk.toString();
    });
    await until("it is ready", () => SUGGESTED.test(suggested));
    await servesOn(child, SUGGESTED.exec(suggested)?.[0] ?? "", site);
    await site.remove();
  });
});
