import type { Node } from "@xdskit/protocol";
import { checkTcp } from "../health/check-tcp.ts";
import type { HealthChecking, HealthCheckingOptions } from "../health/health-checking.ts";
import { HealthDriver } from "../health/health-driver.ts";
import { type LoadReporting, type LoadReportingOptions, unreportedLoad } from "../load/load-reporting.ts";
import { LoadReports } from "../load/load-reports.ts";
import { tell } from "../observe/tell.ts";
import type { NodeEncoder } from "../transport/encode-request.ts";
import type { Connections } from "../transport/grpc/connection.ts";
import { loadServerOf, type SideServerParts, sideServerFor } from "./side-server.ts";

/** What side calls need. */
export interface SideCallsParts extends SideServerParts {
  readonly connections: Connections;
  readonly encodeNode: NodeEncoder;
  /** The node as it is currently sent. */
  readonly node: () => Node;
}

/** Calls of a client beside discovery, load reporting and health checking, each on its own stream (C-LRS-07). */
export class SideCalls {
  readonly #parts: SideCallsParts;
  readonly #loads: LoadReports;
  readonly #health = new Set<HealthDriver>();

  constructor(parts: SideCallsParts) {
    this.#parts = parts;
    this.#loads = new LoadReports(parts);
  }

  reportLoad({ cluster, onReport, ...wanted }: LoadReportingOptions): LoadReporting {
    const side =
      cluster === undefined
        ? sideServerFor("loadReports", wanted, this.#parts.config)
        : loadServerOf(cluster, this.#parts);
    return side === undefined ? unreportedLoad : this.#loads.open(side, onReport);
  }

  checkHealth({ checkers = { TCP: checkTcp }, onEnd, ...wanted }: HealthCheckingOptions): HealthChecking {
    const side = sideServerFor("healthChecks", wanted, this.#parts.config);
    const ended: HealthCheckingOptions["onEnd"] = (status) => tell(onEnd, status);
    const driver = new HealthDriver({ ...this.#parts, ...side, checkers, ended });
    this.#health.add(driver);
    return {
      close: () => {
        this.#health.delete(driver);
        driver.close();
      },
    };
  }

  close(): void {
    this.#loads.close();
    for (const driver of this.#health) driver.close();
  }
}
