import { type EnvoyApi, encodeHealthFindings, encodeHealthOffer, type HealthCheckProtocol } from "@xdskit/envoy-api";
import {
  type ApiVersion,
  type BackOff,
  formatTypeUrl,
  type Node,
  pauseMs,
  type Status,
  statusCode,
} from "@xdskit/protocol";
import type { ServerConfig } from "../config/client-config.ts";
import type { NodeEncoder } from "../transport/encode-request.ts";
import type { Connections } from "../transport/grpc/connection.ts";
import { GrpcCall } from "../transport/grpc/grpc-call.ts";
import { checkWithin, type HealthChecker, type HealthStatus, type HealthTarget } from "./health-check.ts";
import {
  type Finding,
  findingsJson,
  type SpecifiedEndpoint,
  type Specifier,
  specifierOf,
  worstOf,
} from "./specifier.ts";

const SPECIFIER = formatTypeUrl("envoy.service.health.v3.HealthCheckSpecifier");
const RESPONSE = "envoy.service.health.v3.EndpointHealthResponse";
const services: Readonly<Record<ApiVersion, string>> = {
  v2: "envoy.service.discovery.v2.HealthDiscoveryService",
  v3: "envoy.service.health.v3.HealthDiscoveryService",
};
/** So many endpoints are checked at a time. */
const MOST_CHECKS = 100;

/** How an endpoint is checked, by protocol. */
export type HealthCheckers = { readonly [Protocol in HealthCheckProtocol]?: HealthChecker };

/** What health is checked with. */
export interface HealthDriverOptions {
  readonly api: Pick<EnvoyApi, "toJson" | "readMessage">;
  readonly server: ServerConfig;
  readonly apiVersion: ApiVersion;
  readonly backOff: BackOff;
  readonly connections: Connections;
  /** The node as it is sent now. */
  readonly node: () => Node;
  readonly encodeNode: NodeEncoder;
  readonly checkers: HealthCheckers;
  readonly ended: (status: Status) => void;
}

/** Offers to check endpoints for a server, checks what it asks for, and tells what is found, until it is closed (B-HDS-01). */
export class HealthDriver {
  readonly #options: HealthDriverOptions;
  #call: GrpcCall | undefined;
  #failures = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  /** Ends the checks that the last specifier asked for. */
  #checking = new AbortController();

  constructor(options: HealthDriverOptions) {
    this.#options = options;
    this.#open();
  }

  close(): void {
    clearTimeout(this.#retryTimer);
    this.#checking.abort();
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
    this.#checking.abort();
    this.#checking = new AbortController();
    void this.#check(call, specifier, this.#checking.signal);
  }

  #read(bytes: Uint8Array): Specifier | undefined {
    try {
      return specifierOf(this.#options.api.toJson(SPECIFIER, bytes));
    } catch {
      // Whatever is wrong with it, it cannot be done.
      return undefined;
    }
  }

  #ended(status: Status): void {
    this.#checking.abort();
    this.#failures++;
    this.#options.ended(status);
    const retryMs = pauseMs(this.#options.backOff, this.#failures, Math.random());
    this.#retryTimer = setTimeout(() => this.#open(), retryMs);
    this.#retryTimer.unref();
  }

  /** Round by round, until it is stopped. Does not reject. */
  async #check(call: GrpcCall, { endpoints, intervalMs }: Specifier, stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const startedAt = performance.now();
      const findings = await this.#findAll(endpoints, stopping);
      if (stopping.aborted) return;
      await this.#tell(call, findings, stopping);
      await pause(startedAt + intervalMs - performance.now(), stopping);
    }
  }

  async #findAll(endpoints: readonly SpecifiedEndpoint[], stopping: AbortSignal): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    const waiting = endpoints.entries();
    const work = async (): Promise<void> => {
      for (const [place, endpoint] of waiting) {
        if (stopping.aborted) return;
        findings[place] = await this.#find(endpoint, stopping);
      }
    };
    await Promise.all(Array.from({ length: Math.min(MOST_CHECKS, endpoints.length) }, work));
    return findings;
  }

  async #find(endpoint: SpecifiedEndpoint, stopping: AbortSignal): Promise<Finding> {
    const find = async (target: HealthTarget): Promise<HealthStatus> => {
      const checker = this.#options.checkers[target.protocol];
      return checker === undefined ? "UNKNOWN" : await checkWithin(checker, target, stopping);
    };
    const found = await Promise.all(endpoint.targets.map(find));
    return { ...endpoint, status: worstOf(endpoint.hasUnknownCheck ? [...found, "UNKNOWN"] : found) };
  }

  /** Resolves when it left: what was found does not pile up before a server that does not read. */
  #tell(call: GrpcCall, findings: readonly Finding[], stopping: AbortSignal): Promise<void> {
    const { bytes } = this.#options.api.readMessage(RESPONSE, findingsJson(this.#options.apiVersion, findings));
    return new Promise((resolve) => {
      const done = (): void => {
        stopping.removeEventListener("abort", done);
        resolve();
      };
      stopping.addEventListener("abort", done, { once: true });
      if (bytes === undefined) done();
      else call.send(encodeHealthFindings(bytes), done);
    });
  }
}

/** Resolves after a time, at once where there is none, or when it is stopped. Does not keep a process alive. */
function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timeout = setTimeout(done, Math.max(0, ms));
    timeout.unref();
    stopping.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timeout);
      stopping.removeEventListener("abort", done);
      resolve();
    }
  });
}
