import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Node } from "@xdskit/protocol";
import type { ClientConfig } from "../config/client-config.ts";
import { envoyBackOff } from "../config/config-defaults.ts";
import { XdsClientError } from "../error.ts";
import { checkTcp } from "../health/check-tcp.ts";
import type { HealthChecking, HealthCheckingOptions } from "../health/health-checking.ts";
import { HealthDriver } from "../health/health-driver.ts";
import type { LoadReporting, LoadReportingOptions } from "../load/load-reporting.ts";
import { LoadReports } from "../load/load-reports.ts";
import { tell } from "../observe/tell.ts";
import type { XdsResource } from "../resource/xds-resource.ts";
import type { NodeEncoder } from "../transport/encode-request.ts";
import type { Connections } from "../transport/grpc/connection.ts";
import { loadServerIn } from "./load-server.ts";
import { bestServerOf, mainSourceOf, type SideServer } from "./self.ts";

/** What side calls are made with. */
export interface SideCallsParts {
  readonly api: EnvoyApi;
  readonly config: ClientConfig;
  readonly connections: Connections;
  readonly encodeNode: NodeEncoder;
  /** The node as it is sent now. */
  readonly node: () => Node;
}

/** What a client does for servers beside asking them: it reports load, and checks health. Each on a stream of its own (C-LRS-07). */
export class SideCalls {
  readonly #parts: SideCallsParts;
  readonly #loads: LoadReports;
  readonly #health = new Set<HealthDriver>();

  constructor(parts: SideCallsParts) {
    this.#parts = parts;
    this.#loads = new LoadReports({ ...parts, backOff: this.#backOff });
  }

  reportLoad(options: LoadReportingOptions): LoadReporting {
    const { server, apiVersion } = this.#serverFor(options);
    return this.#loads.open(server, apiVersion, options.onReport);
  }

  loadServerOf(cluster: XdsResource): SideServer | undefined {
    return loadServerIn(cluster, this.#parts.config, this.#parts.api);
  }

  checkHealth(options: HealthCheckingOptions): HealthChecking {
    const { checkers = { TCP: checkTcp }, onEnd } = options;
    const ended: HealthCheckingOptions["onEnd"] = (status) => tell(onEnd, status);
    const server = this.#serverFor(options);
    const driver = new HealthDriver({ ...this.#parts, ...server, backOff: this.#backOff, checkers, ended });
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

  get #backOff(): typeof envoyBackOff {
    return mainSourceOf(this.#parts.config)?.backOff ?? envoyBackOff;
  }

  #serverFor(wanted: Partial<SideServer>): SideServer {
    const source = mainSourceOf(this.#parts.config);
    const main = source && bestServerOf(source);
    const server = wanted.server ?? main?.server;
    if (server === undefined) {
      throw new XdsClientError("TYPE_UNSUPPORTED", "the configuration has no server of gRPC, and none was given");
    }
    return { server, apiVersion: wanted.apiVersion ?? main?.apiVersion ?? "v3" };
  }
}
