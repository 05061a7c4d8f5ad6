import { Timers } from "@xdskit/disk";
import { decodeLoadRequest, encodeLoadReport, encodeNode, WireError } from "@xdskit/envoy-api/internal";
import { type ApiVersion, anonymousNode, type BackOff, type Node } from "@xdskit/protocol";
import {
  LoadReporter,
  type LoadReporterEffect,
  type LoadReporterEvent,
  type LoadReporterReport,
  type LoadTally,
  statusCode,
} from "@xdskit/protocol/internal";
import type { ServerConfig } from "../config/client-config.ts";
import type { NodeEncoder } from "../transport/encode-request.ts";
import type { Connections } from "../transport/grpc/connection.ts";
import { GrpcCall } from "../transport/grpc/grpc-call.ts";

/** Announces that the server may ask for the load of all clusters (S-LRS-03). */
const SEND_ALL_CLUSTERS = "envoy.lrs.supports_send_all_clusters";

/** What the load driver needs. */
export interface LoadDriverOptions {
  readonly server: ServerConfig;
  readonly apiVersion: ApiVersion;
  readonly backOff: BackOff;
  readonly connections: Connections;
  /** The node as it is currently sent. */
  readonly node: () => Node;
  readonly encodeNode: NodeEncoder;
  readonly report: (report: LoadReporterReport) => void;
}

/**
 * Runs the machine that reports load to one server: passes events, time and randomness to it and performs its effects.
 */
export class LoadDriver {
  readonly #options: LoadDriverOptions;
  readonly #machine: LoadReporter;
  readonly #timers = new Timers((timer) => this.#happened({ kind: "timer-fired", timer }));
  #isClosed = false;
  #call: { readonly id: number; readonly call: GrpcCall } | undefined;

  constructor(options: LoadDriverOptions) {
    this.#options = options;
    this.#machine = new LoadReporter({ node: options.node(), backOff: options.backOff });
    this.#happened({ kind: "reporting-started" });
  }

  get tally(): LoadTally {
    return this.#machine.tally;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#happened({ kind: "reporting-stopped" });
    this.#timers.cancelAll();
  }

  #happened(event: LoadReporterEvent): void {
    const moment = { nowMs: performance.now(), chance: Math.random() };
    for (const effect of this.#machine.on(event, moment)) this.#perform(effect);
  }

  #perform(effect: LoadReporterEffect): void {
    // A listener may close the driver; the remaining effects are then dropped.
    if (this.#isClosed && effect.kind !== "close-stream") return;
    switch (effect.kind) {
      case "open-stream":
        this.#open(effect.stream);
        break;
      case "send-report":
        this.#send(effect);
        break;
      case "close-stream":
        this.#call?.call.close();
        break;
      case "start-timer":
        this.#timers.start(effect.timer, effect.ms);
        break;
      case "cancel-timer":
        this.#timers.cancel(effect.timer);
        break;
      case "report":
        this.#options.report(effect.report);
        break;
      default:
        effect satisfies never;
    }
  }

  #open(stream: number): void {
    const { apiVersion, server, connections } = this.#options;
    const call: GrpcCall = new GrpcCall({
      path: `/envoy.service.load_stats.${apiVersion}.LoadReportingService/StreamLoadStats`,
      server,
      connections,
      listener: {
        opened: () => this.#happened({ kind: "stream-opened", stream }),
        message: async (bytes) => this.#received(stream, call, bytes),
        ended: (status) => this.#happened({ kind: "stream-closed", stream, status }),
      },
    });
    this.#call = { id: stream, call };
  }

  #send({ stream, report }: Extract<LoadReporterEffect, { kind: "send-report" }>): void {
    const { apiVersion } = this.#options;
    const node = report.node === undefined ? undefined : this.#nodeBytes();
    const bytes = encodeLoadReport(apiVersion, { node, clusters: report.clusters });
    // The next effect must not run before the rest of the current ones.
    const left = (): void => queueMicrotask(() => this.#happened({ kind: "report-sent", stream }));
    if (this.#call?.id === stream) this.#call.call.send(bytes, left);
  }

  #nodeBytes(): Uint8Array {
    const node = this.#options.node();
    const bytes = this.#options.encodeNode(node);
    if (node.clientFeatures.includes(SEND_ALL_CLUSTERS)) return bytes;
    // Protobuf merges concatenated messages.
    return Buffer.concat([bytes, encodeNode({ ...anonymousNode, clientFeatures: [SEND_ALL_CLUSTERS] })]);
  }

  #received(stream: number, call: GrpcCall, bytes: Uint8Array): void {
    try {
      this.#happened({ kind: "request-received", stream, request: decodeLoadRequest(bytes) });
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      call.close();
      const message = `an answer to load reports that cannot be read: ${error.message}`;
      this.#happened({ kind: "stream-closed", stream, status: { code: statusCode.INTERNAL, message } });
    }
  }
}
