import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ProgressAnswer, ServerAnswer, StragglerAnswer } from "@xdskit/server";
import pc from "picocolors";
import { afterEach, describe, expect, test } from "vitest";
import { noSample, renderTop, takeSample } from "../src/commands/top/render.ts";
import { run } from "../src/run.ts";
import type { Screen } from "../src/screen.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const colors = pc.createColors(false);
const at = new Date("2026-01-01T12:00:00Z");
const CDS = { type: "type.googleapis.com/envoy.config.cluster.v3.Cluster", shortName: "cds" };

function serverAnswer(more: Partial<ServerAnswer> = {}): ServerAnswer {
  return {
    version: "0.1.0",
    controlPlane: "xdskit",
    address: "127.0.0.1:18000",
    startedAt: "2026-01-01T11:00:00Z",
    uptimeSeconds: 3600,
    revision: 14,
    ready: true,
    draining: false,
    reasons: [],
    connections: 20,
    streams: 22,
    source: { state: "good", since: "2026-01-01T11:59:58Z", errors: 0, warnings: 0 },
    limits: [{ name: "maxStreams", value: 100, used: 22, hits: 0 }],
    writes: { stalledStreams: 0, bufferedBytes: 0 },
    encoder: { segmentsEncoded: 0, framesEncoded: 0, bodiesEncoded: 0, bytesEncoded: 0 },
    process: { pid: 1, node: "v20.0.0", residentBytes: 120 * 1024 ** 2 },
    ...more,
  };
}

function straggler(id: string, type: Partial<StragglerAnswer["types"][number]> = {}): StragglerAnswer {
  return { id, cluster: "", userAgent: "", types: [{ ...CDS, state: "pending", ...type }] };
}

function progressAnswer(pending: readonly StragglerAnswer[], nacked: readonly StragglerAnswer[] = []): ProgressAnswer {
  return {
    revision: 14,
    head: 14,
    state: "pending",
    nodes: 20,
    deployed: 20 - pending.length - nacked.length,
    pending: { total: pending.length, nodes: pending },
    nacked: { total: nacked.length, nodes: nacked },
    disconnected: { total: 2, nodes: [] },
  };
}

const later = (seconds: number): Date => new Date(at.getTime() + seconds * 1000);

describe("the screen of xds top", () => {
  test("of a fleet that has everything is a few lines", () => {
    const progress = { ...progressAnswer([]), disconnected: { total: 0, nodes: [] } };
    const state = takeSample(noSample, { server: serverAnswer(), progress, at });
    expect(renderTop(state, { colors, size: { columns: 80, rows: 24 } })).toEqual([
      "server    0.1.0 at 127.0.0.1:18000, up 60m, ready",
      "source    good for 2s",
      "revision  14 [####################] 20 of 20 nodes have it",
      "streams   22 on 20 connections, 0 MiB buffered",
      "memory    120 MiB",
      "",
      "12:00:00 UTC   q: quit",
    ]);
  });

  test("names who NACKed it first, then the slowest, for how long and why", () => {
    const nacked = [straggler("edge-9", { state: "nacked", reason: "no such filter", names: ["a"] })];
    const before = takeSample(noSample, { server: serverAnswer(), progress: progressAnswer([straggler("slow")]), at });
    const progress = progressAnswer([straggler("new", { state: "not-sent" }), straggler("slow")], nacked);
    const server = serverAnswer({
      source: { state: "failed", since: "2026-01-01T11:59:00Z", errors: 2, warnings: 1 },
      limits: [{ name: "maxStreams", value: 100, used: 80, hits: 0 }],
      writes: { stalledStreams: 1, bufferedBytes: 3 * 1024 ** 2 },
    });
    const state = takeSample(before, { server, progress, at: later(7) });
    expect(renderTop(state, { colors, size: { columns: 80, rows: 24 } })).toEqual([
      "server    0.1.0 at 127.0.0.1:18000, up 60m, ready",
      "source    failed for 67s, 3 problems",
      "revision  14 [#################!..] 17 of 20 nodes have it, 2 pending, 1 NACKed, 2 left without it",
      "streams   22 on 20 connections, 1 stalled, 3 MiB buffered",
      "memory    120 MiB",
      "limit     maxStreams: 80 of 100",
      "",
      "NODE    TYPE  STATE     FOR  WHY",
      "edge-9  cds   nacked    0s   no such filter; in it: a",
      "slow    cds   pending   7s",
      "new     cds   not-sent  0s",
      "",
      "12:00:07 UTC   q: quit",
    ]);
  });

  test("fits a small terminal, and says what it leaves out", () => {
    const nodes = Array.from({ length: 9 }, (_, index) => straggler(`n${index}`));
    const state = takeSample(noSample, { server: serverAnswer(), progress: progressAnswer(nodes), at });
    const lines = renderTop(state, { colors, size: { columns: 40, rows: 12 } });
    expect(lines.slice(5)).toEqual([
      "",
      "NODE  TYPE  STATE    FOR  WHY",
      "n0    cds   pending  0s",
      "n1    cds   pending  0s",
      "and more: xds status names all",
      "",
      "12:00:00 UTC   q: quit",
    ]);
    expect(renderTop(state, { colors, size: { columns: 40, rows: 8 } })).toHaveLength(7);
  });

  test("shows what was, and why nothing newer is known", () => {
    const state = takeSample(noSample, { server: serverAnswer(), progress: progressAnswer([]), at });
    const lines = renderTop(
      { ...state, failure: "cannot reach\u001b[2J it" },
      { colors, size: { columns: 80, rows: 24 } },
    );
    expect(lines[5]).toBe("cannot reach [2J it");
  });
});

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(): Promise<{ site: Site; serving: Serving }> {
  const site = await Site.make({ "clusters.yaml": clusters("one") });
  cleanups.push(() => site.remove());
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  return { site, serving };
}

/** A screen that keeps what was drawn. */
class FakeScreen implements Screen {
  columns = 80;
  rows = 24;
  drawn: (readonly string[])[] = [];
  isClosed = false;
  press: (key: string | undefined) => void = () => undefined;

  draw(lines: readonly string[]): void {
    this.drawn.push(lines);
  }

  onEvent(listener: (key: string | undefined) => void): void {
    this.press = listener;
  }

  close(): void {
    this.isClosed = true;
  }
}

describe("xds top", () => {
  test("in a pipe prints once, as text or as JSON", async () => {
    const { serving } = await serve();
    const { code, stdout, stderr } = await serving.xds("top");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "server",
      "source",
      "revision",
      "streams",
      "memory",
      "",
    ]);
    const asJson = JSON.parse((await serving.xds("top", "-o", "json")).stdout);
    expect(asJson).toMatchObject({ server: { ready: true, revision: 1 }, progress: { revision: 1, nodes: 0 } });
  });

  test("keeps its screen up to date, draws anew when the size changes, and gives it back on q", async () => {
    const { site, serving } = await serve();
    const io = new CapturedIo({ env: { XDS_ADMIN_SERVER: serving.admin } });
    const screen = new FakeScreen();
    io.screen = screen;
    const running = run(["--no-color", "top", "--interval", "10ms"], io);
    const last = (): string => screen.drawn.at(-1)?.join("\n") ?? "";
    await until("it shows the revision", () => last().includes("revision  1 "));
    await site.write("clusters.yaml", clusters("one", "two"));
    await until("it shows the next", () => last().includes("revision  2 "));
    const before = screen.drawn.length;
    screen.press(undefined);
    expect(screen.drawn.length).toBe(before + 1);
    screen.press("x");
    screen.press("q");
    expect([await running, screen.isClosed]).toEqual([0, true]);
  });

  test("shows that the server is away, and gives the screen back on Ctrl-C, signals and errors", async () => {
    const { serving } = await serve();
    const start = (): { io: CapturedIo; screen: FakeScreen; running: Promise<number> } => {
      const io = new CapturedIo({ env: { XDS_ADMIN_SERVER: serving.admin } });
      const screen = new FakeScreen();
      io.screen = screen;
      return { io, screen, running: run(["--no-color", "top", "--interval", "10ms"], io) };
    };
    const byKey = start();
    const bySignal = start();
    const byHangup = start();
    for (const { screen } of [byKey, bySignal, byHangup]) await until("it draws", () => screen.drawn.length > 0);
    byKey.screen.press("\u0003");
    expect([await byKey.running, byKey.screen.isClosed]).toEqual([130, true]);
    byHangup.io.hangUp();
    expect([await byHangup.running, byHangup.screen.isClosed]).toEqual([0, true]);
    await serving.stop();
    await until("it says so", () => bySignal.screen.drawn.at(-1)?.join("\n").includes("cannot reach") === true);
    bySignal.io.interrupt("SIGTERM");
    expect([await bySignal.running, bySignal.screen.isClosed]).toEqual([130, true]);
    const late = new CapturedIo({ env: { XDS_ADMIN_SERVER: serving.admin } });
    late.screen = new FakeScreen();
    expect([await run(["top"], late), late.stderr.text]).toEqual([69, expect.stringContaining("cannot reach")]);
  });

  const hasPty = spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") === true;
  const xds = fileURLToPath(new URL("../bin/xds.js", import.meta.url));

  test.skipIf(!hasPty).each([
    ["q", "q", 0],
    ["Ctrl-C", "\u0003", 130],
  ])(
    "in a real terminal takes and gives back the screen: %s",
    async (_, key, code) => {
      const { serving } = await serve();
      const line = `stty cols 60 rows 12; "${process.execPath}" "${xds}" top --admin ${serving.admin} --interval 50ms`;
      const child = spawn("script", ["-qefc", line, "/dev/null"], { env: { ...process.env, TERM: "xterm" } });
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      await until("it draws", () => text.includes("q: quit"));
      child.stdin.write(key);
      expect(await once(child, "exit")).toEqual([code, null]);
      const sequences = ["?1049h", "?25l", "?7l", "?7h", "?25h", "?1049l"].map((sequence) => `\u001b[${sequence}`);
      expect(sequences.map((sequence) => text.split(sequence).length - 1)).toEqual([1, 1, 1, 1, 1, 1]);
      expect(text.lastIndexOf("\u001b[?1049l")).toBeGreaterThan(text.lastIndexOf("q: quit"));
    },
    30_000,
  );

  test.skipIf(!hasPty)(
    "in a dumb terminal prints once, without escape sequences",
    async () => {
      const { serving } = await serve();
      const line = `"${process.execPath}" "${xds}" top --admin ${serving.admin}`;
      const child = spawn("script", ["-qefc", line, "/dev/null"], { env: { ...process.env, TERM: "dumb" } });
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      expect(await once(child, "exit")).toEqual([0, null]);
      expect([text.split("\n").length > 2, text.includes("\u001b")]).toEqual([true, false]);
    },
    30_000,
  );
});
