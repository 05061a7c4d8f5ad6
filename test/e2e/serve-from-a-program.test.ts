import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEnvoy } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { httpGet } from "./support/http-load.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePorts } from "./support/port.ts";
import { type StartedProcess, startProcess } from "./support/process.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const example = join(root, "examples/07-serve-from-a-program");

/** The example's programs, type-checked and compiled as its page describes, serve an Envoy. */
describeWith("envoy", "examples/07-serve-from-a-program", () => {
  let stack: Stack;
  beforeAll(() => {
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", example], {
      stdio: "inherit",
    });
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  async function start(name: string, listenerPort: number, env: object, ...args: string[]): Promise<StartedProcess> {
    const program = await startProcess([process.execPath, join(example, "dist", name), ...args], {
      env: { PORT: "0", LISTENER_PORT: String(listenerPort), ...env },
    });
    stack.use({ [Symbol.asyncDispose]: () => program.stop() });
    await until({ says: "it listens", withinMs: 20_000 }, () => program.log().includes("xDS at "));
    return program;
  }

  const portOf = (program: StartedProcess): number => Number(/xDS at 127\.0\.0\.1:(\d+)/.exec(program.log())?.[1]);

  test("serve: a request goes through Envoy, and the program tells what Envoy ACKed", async () => {
    stack = createStack();
    const backend = stack.use(await startHttpBackend("hello"));
    const [port = 0] = await freePorts(1);
    const program = await start("serve.js", port, { BACKEND_PORT: String(backend.port) });
    const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: portOf(program) }));
    await envoy.ready(20_000);
    expect(await httpGet({ port })).toEqual({ status: 200, body: "hello" });
    await until({ says: "both types are ACKed", withinMs: 10_000 }, () =>
      /^e2e-1 cds:acked lds:acked$/m.test(program.log()),
    );
    expect(program.log().split("\n").slice(0, 2)).toEqual([
      "revision 1: put hello, put http",
      `xDS at 127.0.0.1:${portOf(program)}`,
    ]);
    await stack[Symbol.asyncDispose]();
  });

  test("inventory: a change of the file reaches Envoy, a mistake in it changes nothing", async () => {
    stack = createStack();
    const [blue, green] = [stack.use(await startHttpBackend("blue")), stack.use(await startHttpBackend("green"))];
    const directory = mkdtempSync(join(tmpdir(), "xds-e2e-inventory-"));
    stack.use({ [Symbol.dispose]: () => rmSync(directory, { recursive: true }) });
    const file = join(directory, "inventory.json");
    const write = (ports: readonly unknown[]): void =>
      writeFileSync(file, JSON.stringify([{ name: "hello", domains: ["*"], ports }]));
    write([blue.port]);
    const [port = 0] = await freePorts(1);
    const program = await start("inventory.js", port, {}, file);
    const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: portOf(program) }));
    await envoy.ready(20_000);
    expect(await httpGet({ port })).toEqual({ status: 200, body: "blue" });

    write([green.port]);
    await until(
      { says: "the change arrives", withinMs: 20_000 },
      async () => (await httpGet({ port })).body === "green",
    );
    expect(program.log()).toContain("revision 2: put hello\n");

    write(["80 80"]);
    const place = "resources[3].endpoints[0].lbEndpoints[0].endpoint.address.socketAddress.portValue";
    await until({ says: "the mistake is told", withinMs: 20_000 }, () =>
      program.log().includes(`${place}: expected an integer, got "80 80"\n`),
    );
    expect(await httpGet({ port })).toEqual({ status: 200, body: "green" });
    await stack[Symbol.asyncDispose]();
  });
});
