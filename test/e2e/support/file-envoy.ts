import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccessLog, lossesIn } from "./access-log.ts";
import { type Envoy, startEnvoy } from "./envoy.ts";
import { type Backend, startHttpBackend } from "./http-backend.ts";
import { type HttpLoad, httpGet, startHttpLoad } from "./http-load.ts";
import type { Losses } from "./loaded-envoy.ts";
import { adsDelta } from "./mode.ts";
import { freePort } from "./port.ts";
import { type StartedProcess, startProcess } from "./process.ts";
import { cluster, endpoints, listener, routes } from "./resource.ts";
import { xdsCommand } from "./server.ts";
import { createSite, type FileContent, type Site } from "./site.ts";
import type { Stack } from "./stack.ts";
import { until } from "./wait.ts";

/** How an Envoy is configured by files. */
export interface FileWay {
  readonly name: string;
  readonly format: "yaml" | "json" | "pb" | "pb_text";
  /** Whole generations behind a link, instead of files that are replaced one by one. */
  readonly symlinks?: boolean;
}

/** A line that `xds export --watch` prints. */
export interface ExportLine {
  readonly event: string;
  readonly written?: readonly string[];
  readonly removed?: readonly string[];
}

/** `xds export --watch` in its own process. */
export interface Export extends AsyncDisposable {
  lines(): readonly ExportLine[];
  process(): StartedProcess;
  /** Waits until all files are written. */
  start(flags?: readonly string[]): Promise<void>;
}

/** An Envoy without a management server, under steady load, with the operator's directory and the exported files. */
export interface FileEnvoy {
  readonly blue: Backend;
  readonly green: Backend;
  readonly site: Site;
  /** The directory of the exported files. */
  readonly out: string;
  readonly writing: Export;
  readonly envoy: Envoy;
  readonly port: number;
  readonly load: HttpLoad;
  /** The listener of the load under any name, with a route table. */
  listener(name: string, table: string): object;
  losses(): Promise<Losses>;
  /** The path of a file that Envoy watches. */
  pathOf(name: string): string;
}

/** Creates an export of a site to a directory. */
export function createExport(stack: Stack, site: Site, out: string, way: FileWay): Export {
  let process: StartedProcess | undefined;
  const writing: Export = {
    lines: () =>
      (process?.log() ?? "").split("\n").flatMap((line) => (line.startsWith('{"event":') ? [JSON.parse(line)] : [])),
    process() {
      if (process === undefined) throw new Error("nothing was started");
      return process;
    },
    async start(flags = []) {
      const command = [...xdsCommand(), "export", site.directory, out, "--watch", "--rewrite-sources"];
      const symlinks = way.symlinks === true ? ["--symlinks"] : [];
      const started = await startProcess([...command, "--format", way.format, ...symlinks, ...flags]);
      process = started;
      await until({ says: "the files are the whole directory", withinMs: 30_000 }, () => {
        if (started.ended() !== undefined) throw new Error(started.log());
        return writing.lines().some(({ event }) => event === "in-sync");
      });
    },
    async [Symbol.asyncDispose]() {
      await process?.stop();
    },
  };
  return stack.use(writing);
}

/** Starts everything and waits until requests are answered. */
export async function startFileEnvoy(
  stack: Stack,
  way: FileWay,
  files: Readonly<Record<string, FileContent>> = {},
  flags: readonly string[] = [],
): Promise<FileEnvoy> {
  const blue = stack.use(await startHttpBackend("blue"));
  const green = stack.use(await startHttpBackend("green"));
  const port = await freePort();
  const log = stack.use(createAccessLog());
  const loggedListener = (name: string, table: string): object =>
    listener({ name, port, routes: table, statPrefix: "http", accessLog: log.field });
  const site = stack.use(
    createSite({
      ...swapTo("first", blue.port),
      "listeners.json": [loggedListener("http", "routes")],
      ...files,
    }),
  );
  const out = mkdtempSync(join(tmpdir(), "xds-e2e-out-"));
  stack.use({ [Symbol.dispose]: () => rmSync(out, { recursive: true, force: true }) });
  const writing = createExport(stack, site, out, way);
  await writing.start(flags);
  const pathOf = (name: string): string => join(out, `${name}.${way.format}`);
  const source = (name: string): object => ({
    resource_api_version: "V3",
    path_config_source: {
      path: pathOf(name),
      ...(way.symlinks === true && { watched_directory: { path: out } }),
    },
  });
  const bootstrap = { dynamic_resources: { lds_config: source("lds"), cds_config: source("cds") } };
  // There is no server, so every subscription to one fails.
  const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: await freePort(), bootstrap }));
  await envoy.ready(5_000);
  const load = stack.use(startHttpLoad({ port, keptPerSecond: 200, newPerSecond: 100 }));
  await load.answeredBy(blue.name, 5_000);
  let marks = 0;
  const linesSince = async (): ReturnType<typeof log.upTo> => {
    const path = `/mark-${marks++}`;
    await httpGet({ port, path });
    return log.upTo(path, 5_000);
  };
  await linesSince();
  load.take();
  return {
    ...{ blue, green, site, out, writing, envoy, port, load, pathOf, listener: loggedListener },
    async losses() {
      const { total, failed, slowestMs } = load.take();
      const isStatus = ([text]: readonly [string, number]): boolean => /^\d{3} /.test(text);
      const failures = Object.entries(failed);
      return {
        ...{ total, slowestMs },
        wronglyAnswered: Object.fromEntries(failures.filter(isStatus)),
        connectErrors: Object.fromEntries(failures.filter((failure) => !isStatus(failure))),
        ...lossesIn(await linesSince()),
      };
    },
  };
}

/** Files that replace a cluster and switch the route to it. */
export function swapTo(name: string, port: number): Record<string, readonly object[]> {
  return {
    "swap.json": [cluster({ name }), endpoints(name, [port])],
    "routes.json": [routes("routes", [{ cluster: name }])],
  };
}
