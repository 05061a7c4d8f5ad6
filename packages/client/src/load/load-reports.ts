import type { LoadReporterReport } from "@xdskit/protocol/internal";
import { tell } from "../observe/tell.ts";
import { LoadDriver, type LoadDriverOptions } from "./load-driver.ts";
import { type LoadReporting, openLoadReporting } from "./load-reporting.ts";

interface SharedDriver {
  readonly driver: LoadDriver;
  readonly listeners: Set<(report: LoadReporterReport) => void>;
  users: number;
}

/** The server of load reports, and its method and back-off. */
type LoadServer = Pick<LoadDriverOptions, "server" | "apiVersion" | "backOff">;

/** Shares one load reporting stream per server. */
export class LoadReports {
  readonly #options: Omit<LoadDriverOptions, keyof LoadServer | "report">;
  readonly #drivers = new Map<string, SharedDriver>();

  constructor({ connections, node, encodeNode }: Omit<LoadDriverOptions, keyof LoadServer | "report">) {
    this.#options = { connections, node, encodeNode };
  }

  /** The first caller for a server decides its back-off. */
  open(side: LoadServer, listener: ((report: LoadReporterReport) => void) | undefined): LoadReporting {
    const key = JSON.stringify([side.apiVersion, side.server]);
    const shared = this.#drivers.get(key) ?? this.#start(key, side);
    shared.users++;
    const listening = listener && ((report: LoadReporterReport) => listener(report));
    if (listening !== undefined) shared.listeners.add(listening);
    return openLoadReporting(shared.driver.tally, side.server, () => {
      if (listening !== undefined) shared.listeners.delete(listening);
      if (--shared.users === 0) this.#stop(key, shared);
    });
  }

  close(): void {
    for (const [key, shared] of this.#drivers) this.#stop(key, shared);
  }

  #start(key: string, side: LoadServer): SharedDriver {
    const listeners: SharedDriver["listeners"] = new Set();
    const report = (what: LoadReporterReport): void => {
      for (const listener of listeners) tell(listener, what);
    };
    const shared = { driver: new LoadDriver({ ...this.#options, ...side, report }), listeners, users: 0 };
    this.#drivers.set(key, shared);
    return shared;
  }

  #stop(key: string, shared: SharedDriver): void {
    if (this.#drivers.get(key) === shared) this.#drivers.delete(key);
    shared.driver.close();
  }
}
