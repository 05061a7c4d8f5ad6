import { createAccessLog, lossesIn } from "./access-log.ts";
import { type Envoy, type EnvoySettings, startEnvoy } from "./envoy.ts";
import { type Backend, startHttpBackend } from "./http-backend.ts";
import { type HttpLoad, httpGet, startHttpLoad } from "./http-load.ts";
import { LONG_PATH, type LongResponse, openLongResponse } from "./long-response.ts";
import { note, times } from "./measure.ts";
import { configSource, type Mode } from "./mode.ts";
import { freePort } from "./port.ts";
import { cluster, endpoints, type ListenerSettings, listener, routes } from "./resource.ts";
import { startXdsServer, type XdsServer } from "./server.ts";
import { createSite, type Site } from "./site.ts";
import type { Stack } from "./stack.ts";
import { until } from "./wait.ts";

/** An Envoy under steady load, with one endless response, its server and its files. */
export interface LoadedEnvoy {
  readonly mode: Mode;
  readonly blue: Backend;
  readonly green: Backend;
  readonly site: Site;
  readonly server: XdsServer;
  readonly envoy: Envoy;
  /** The initial port of the listener `http`. */
  readonly port: number;
  readonly load: HttpLoad;
  /** Uses the same route as the load, from before the first change. */
  readonly long: LongResponse;
  /** A listener whose access log is read here; by default with the routes `routes`. */
  listener(settings: Pick<ListenerSettings, "name" | "port"> & Partial<ListenerSettings>): object;
  /** The outcome of all requests since the last call, of the given load. `port` is that of a working listener. */
  losses(load?: HttpLoad, port?: number): Promise<Losses>;
}

/** The outcome of the requests of a period. Counts are by the message of the client or Envoy. */
export interface Losses {
  readonly total: number;
  readonly slowestMs: number;
  /** Client: responses other than 200. */
  readonly wronglyAnswered: Readonly<Record<string, number>>;
  /** Client: connections that failed or were closed during a request. */
  readonly connectErrors: Readonly<Record<string, number>>;
  /** Envoy's access log: no route, no cluster or no endpoint (NR, NC, UH). */
  readonly lostToConfiguration: Readonly<Record<string, number>>;
  /** Envoy's access log: everything else that is not a complete 200. */
  readonly otherErrors: Readonly<Record<string, number>>;
}

/** Starts everything and waits until requests are answered. */
export async function startLoadedEnvoy(
  stack: Stack,
  mode: Mode,
  flags: readonly string[] = [],
  files: Readonly<Record<string, readonly object[]>> = {},
  settings: Pick<EnvoySettings, "drainSeconds"> = {},
): Promise<LoadedEnvoy> {
  const blue = stack.use(await startHttpBackend("blue"));
  const green = stack.use(await startHttpBackend("green"));
  const port = await freePort();
  const source = configSource(mode);
  const log = stack.use(createAccessLog());
  const loggedListener: LoadedEnvoy["listener"] = (settings) =>
    listener({ routes: "routes", source, ...settings, accessLog: log.field });
  const site = stack.use(
    createSite({
      ...swapTo(mode, "first", blue.port),
      "listeners.json": [loggedListener({ name: "http", port })],
      ...files,
    }),
  );
  const server = stack.use(await startXdsServer({ site, flags }));
  const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port, ...settings }));
  await envoy.ready(5_000);
  const load = stack.use(startHttpLoad({ port, newPerSecond: times(50, 100) }));
  await load.answeredBy(blue.name, 5_000);
  const long = stack.use(await openLongResponse(port));
  let marks = 0;
  const linesSince = async (at: number): ReturnType<typeof log.upTo> => {
    const path = `/mark-${marks++}`;
    await httpGet({ port: at, path });
    return log.upTo(path, 5_000);
  };
  await linesSince(port);
  load.take();
  return {
    ...{ mode, blue, green, site, server, envoy, port, load, long },
    listener: loggedListener,
    async losses(from = load, at = port) {
      const { total, failed, slowestMs } = from.take();
      const isStatus = ([text]: readonly [string, number]): boolean => /^\d{3} /.test(text);
      const failures = Object.entries(failed);
      return {
        ...{ total, slowestMs },
        wronglyAnswered: Object.fromEntries(failures.filter(isStatus)),
        connectErrors: Object.fromEntries(failures.filter((failure) => !isStatus(failure))),
        ...lossesIn(await linesSince(at)),
      };
    },
  };
}

/** The losses when nothing failed. */
export const NO_LOSS: Omit<Losses, "total" | "slowestMs"> = {
  wronglyAnswered: {},
  connectErrors: {},
  lostToConfiguration: {},
  otherErrors: {},
};

/** Records a row of the results table: rounds, requests, losses, other failures. Returns the losses alone. */
export function noteLosses(
  scenario: string,
  { mode }: Pick<LoadedEnvoy, "mode">,
  rounds: number,
  { total, slowestMs, ...losses }: Losses,
): Omit<Losses, "total" | "slowestMs"> {
  const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);
  const lost = Math.max(sum(losses.wronglyAnswered), sum(losses.lostToConfiguration));
  const other = [losses.connectErrors, losses.otherErrors].filter((counts) => sum(counts) > 0);
  note(
    scenario,
    mode.name,
    "rounds: requests, lost, slowest ms, other errors",
    `${rounds}: ${total}, ${lost}, ${slowestMs}, ${other.length === 0 ? "none" : other.map((one) => JSON.stringify(one)).join(" ")}`,
  );
  return losses;
}

/** Files that replace a cluster and switch the route to it. */
export function swapTo(mode: Mode, name: string, port: number): Record<string, readonly object[]> {
  return {
    "swap.json": [clusterOf(mode, name), endpoints(name, [port])],
    "routes.json": [routeTo(name)],
  };
}

/** A Cluster with EDS, over the mode's config source. */
export function clusterOf(mode: Mode, name: string): object {
  return cluster({ name, source: configSource(mode) });
}

/** Routes all requests to one cluster; the long response has no timeout. */
export function routeTo(name: string, table = "routes"): object {
  const withoutLimit = { route: { cluster: name, timeout: "0s" } };
  return routes(table, [{ prefix: LONG_PATH, cluster: name, more: withoutLimit }, { cluster: name }]);
}

/** The names of Envoy's active clusters. */
export async function clusterNames(envoy: Envoy): Promise<readonly string[]> {
  return dumpedNames(envoy, "dynamic_active_clusters", "cluster");
}

/** The names in a section of Envoy's configuration dump, sorted. */
export async function dumpedNames(envoy: Envoy, section: string, field: string): Promise<readonly string[]> {
  const dumped = await envoy.dumped(section);
  return dumped.map((each) => String((each[field] as { name?: unknown } | undefined)?.name)).sort();
}

/** Waits until this is Envoy's only cluster. */
export async function onlyCluster(
  { envoy }: Pick<LoadedEnvoy, "envoy">,
  name: string,
  withinMs = 5_000,
): Promise<void> {
  await until({ says: `${name} is the only cluster`, withinMs }, async () => {
    return (await clusterNames(envoy)).join() === name;
  });
}
