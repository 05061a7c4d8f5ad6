import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { decodeSotwResponse, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { afterEach, expect, test } from "vitest";
import { RawPeer, until, within } from "../support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, node } from "../support/test-server.ts";

const script = fileURLToPath(new URL("../../../../examples/02-embed-the-server/server.mjs", import.meta.url));

let child: ChildProcess | undefined;
afterEach(() => {
  child?.kill("SIGKILL");
});

test("the example that embeds the server does what its page says", async () => {
  let printed = "";
  const running = spawn(process.execPath, [script], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = running;
  const exited = new Promise((resolve) => running.once("exit", resolve));
  running.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await until("it listens", () => printed.includes("xDS at "), 15_000);
  const port = Number(/xDS at 127\.0\.0\.1:(\d+)/.exec(printed)?.[1]);
  const peer = await RawPeer.connect({ host: "127.0.0.1", port });
  const calls = ["canary", "other"].map((name) => {
    const call = peer.open(ADS_SOTW);
    const about = { ...node(name), cluster: name };
    const send = (rest: { responseNonce?: string; versionInfo?: string } = {}): void =>
      call.send(encodeSotwRequest({ typeUrl: CLUSTER, node: about, ...rest }));
    send();
    return { call, send };
  });
  for (const { call, send } of calls) {
    const { nonce, versionInfo, resources } = decodeSotwResponse(await call.next());
    expect(resources).toHaveLength(1);
    send({ responseNonce: nonce, versionInfo });
  }
  await until("both ACKs are told", () => /canary took/.test(printed) && /other took/.test(printed));
  running.kill("SIGUSR2");
  const [canary, other] = calls;
  const moved = decodeSotwResponse((await canary?.call.next()) ?? new Uint8Array());
  expect(Buffer.from(moved.resources[0]?.value ?? []).includes(Buffer.from([0x18, 0x82, 0x47]))).toBe(true); // port 9090
  running.kill("SIGTERM");
  for (const { call } of calls) expect(await within("the status", call.status)).toMatchObject({ code: 14 });
  expect(other?.call.waiting).toBe(0);
  expect(await within("the exit", exited)).toBe(0);
});
