import type { ApiVersion, LoadReporterReport } from "@xdskit/protocol";
import type { ServerConfig } from "../config/client-config.ts";
import { tell } from "../observe/tell.ts";
import { LoadDriver, type LoadDriverOptions } from "./load-driver.ts";
import { type LoadReporting, openLoadReporting } from "./load-reporting.ts";

interface SharedDriver {
  readonly driver: LoadDriver;
  readonly listeners: Set<(report: LoadReporterReport) => void>;
  users: number;
}

/** One stream of load reports for each server, however many count for it. */
export class LoadReports {
  readonly #options: Pick<LoadDriverOptions, "backOff" | "connections" | "node" | "encodeNode">;
  readonly #drivers = new Map<string, SharedDriver>();

  constructor(options: Pick<LoadDriverOptions, "backOff" | "connections" | "node" | "encodeNode">) {
    this.#options = options;
  }

  open(
    server: ServerConfig,
    apiVersion: ApiVersion,
    listener: ((report: LoadReporterReport) => void) | undefined,
  ): LoadReporting {
    const key = JSON.stringify([apiVersion, server]);
    const shared = this.#drivers.get(key) ?? this.#start(key, server, apiVersion);
    shared.users++;
    const listening = listener && ((report: LoadReporterReport) => listener(report));
    if (listening !== undefined) shared.listeners.add(listening);
    return openLoadReporting(shared.driver.tally, () => {
      if (listening !== undefined) shared.listeners.delete(listening);
      if (--shared.users === 0) this.#stop(key, shared);
    });
  }

  close(): void {
    for (const [key, shared] of this.#drivers) this.#stop(key, shared);
  }

  #start(key: string, server: ServerConfig, apiVersion: ApiVersion): SharedDriver {
    const listeners: SharedDriver["listeners"] = new Set();
    const report = (what: LoadReporterReport): void => {
      for (const listener of listeners) tell(listener, what);
    };
    const shared = { driver: new LoadDriver({ ...this.#options, server, apiVersion, report }), listeners, users: 0 };
    this.#drivers.set(key, shared);
    return shared;
  }

  #stop(key: string, shared: SharedDriver): void {
    if (this.#drivers.get(key) === shared) this.#drivers.delete(key);
    shared.driver.close();
  }
}
