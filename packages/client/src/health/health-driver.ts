import { startTimer, type Timer } from "@xdskit/disk";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { encodeHealthFindings, encodeHealthOffer } from "@xdskit/envoy-api/internal";
import { type ApiVersion, type BackOff, formatTypeUrl, type Node, type Status } from "@xdskit/protocol";
import { pauseMs, statusCode } from "@xdskit/protocol/internal";
import type { ServerConfig } from "../config/client-config.ts";
import type { NodeEncoder } from "../transport/encode-request.ts";
import type { Connections } from "../transport/grpc/connection.ts";
import { GrpcCall } from "../transport/grpc/grpc-call.ts";
import type { HealthCheckers } from "./health-check.ts";
import { HealthRounds } from "./health-rounds.ts";
import { findingsJson, type Specifier, specifierOf } from "./specifier.ts";

const SPECIFIER = formatTypeUrl("envoy.service.health.v3.HealthCheckSpecifier");
const RESPONSE = "envoy.service.health.v3.EndpointHealthResponse";
const services: Readonly<Record<ApiVersion, string>> = {
  v2: "envoy.service.discovery.v2.HealthDiscoveryService",
  v3: "envoy.service.health.v3.HealthDiscoveryService",
};

/** The least multiple of the time that a report took to make, by which the next one waits. */
const LEAST_PAUSE = 9;

/**
 * The pause before the next report: the interval, but of very many endpoints so long that reports take at most a tenth
 * of the time.
 */
export function reportPauseMs(intervalMs: number, tookMs: number): number {
  return Math.max(intervalMs, LEAST_PAUSE * tookMs);
}

/** What the health driver needs. */
export interface HealthDriverOptions {
  readonly api: Pick<EnvoyApi, "toJson" | "readMessage">;
  readonly server: ServerConfig;
  readonly apiVersion: ApiVersion;
  readonly backOff: BackOff;
  readonly connections: Connections;
  /** The node as it is currently sent. */
  readonly node: () => Node;
  readonly encodeNode: NodeEncoder;
  readonly checkers: HealthCheckers;
  readonly ended: (status: Status) => void;
}

/**
 * Offers health checking to a server, runs the checks that it specifies, and reports the results at its interval, until
 * closed (B-HDS-01).
 */
export class HealthDriver {
  readonly #options: HealthDriverOptions;
  readonly #rounds: HealthRounds;
  #call: GrpcCall | undefined;
  #failures = 0;
  #retryTimer: Timer | undefined;
  #reportTimer: Timer | undefined;
  #intervalMs = 0;
  /** How long the last report took to make, in milliseconds. */
  #tookMs = 0;
  #isClosed = false;

  constructor(options: HealthDriverOptions) {
    this.#options = options;
    this.#rounds = new HealthRounds(options.checkers);
    this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#retryTimer?.cancel();
    this.#stopChecking();
    this.#call?.close();
  }

  #open(): void {
    const { server, connections, apiVersion, encodeNode, node, checkers } = this.#options;
    const protocols = (["HTTP", "TCP", "REDIS"] as const).filter((protocol) => checkers[protocol] !== undefined);
    const call: GrpcCall = new GrpcCall({
      path: `/${services[apiVersion]}/StreamHealthCheck`,
      server,
      connections,
      listener: {
        opened: () => call.send(encodeHealthOffer(encodeNode(node()), protocols)),
        message: async (bytes) => this.#specified(call, bytes),
        ended: (status) => this.#ended(status),
      },
    });
    this.#call = call;
  }

  #specified(call: GrpcCall, bytes: Uint8Array): void {
    const specifier = this.#read(bytes);
    if (specifier === undefined) {
      call.close();
      this.#ended({ code: statusCode.INTERNAL, message: "a specifier of health checks that cannot be read" });
      return;
    }
    this.#failures = 0;
    this.#intervalMs = specifier.intervalMs;
    this.#rounds.check(specifier);
    this.#tellLater(call);
  }

  #read(bytes: Uint8Array): Specifier | undefined {
    try {
      return specifierOf(this.#options.api.toJson(SPECIFIER, bytes));
    } catch {
      // A specifier that cannot be read cannot be carried out.
      return undefined;
    }
  }

  #ended(status: Status): void {
    this.#stopChecking();
    this.#failures++;
    this.#options.ended(status);
    // The callback may have closed it.
    if (this.#isClosed) return;
    const retryMs = pauseMs(this.#options.backOff, this.#failures, Math.random());
    this.#retryTimer = startTimer(retryMs, () => this.#open());
  }

  #stopChecking(): void {
    this.#reportTimer?.cancel();
    this.#rounds.stop();
  }

  #tellLater(call: GrpcCall): void {
    this.#reportTimer?.cancel();
    this.#reportTimer = startTimer(reportPauseMs(this.#intervalMs, this.#tookMs), () => this.#tell(call));
  }

  /** The next report waits until this one is sent, so that reports do not pile up for a server that does not read. */
  #tell(call: GrpcCall): void {
    const beganMs = performance.now();
    const json = findingsJson(this.#options.apiVersion, this.#rounds.findings());
    const { bytes } = this.#options.api.readMessage(RESPONSE, json);
    this.#tookMs = performance.now() - beganMs;
    if (bytes === undefined) this.#tellLater(call);
    else
      call.send(encodeHealthFindings(bytes), () => {
        if (call === this.#call && !this.#isClosed) this.#tellLater(call);
      });
  }
}
