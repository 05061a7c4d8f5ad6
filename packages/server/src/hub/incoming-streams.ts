import type { Status } from "@xdskit/protocol";
import { bytesOfRequest, type DiscoveryRequest, type StreamId, statusCode } from "@xdskit/protocol/internal";
import { type Admission, notReady } from "./admission.ts";
import type { Connections } from "./connections.ts";
import type { Driver } from "./driver.ts";
import type { BodyHandle, NewStream, StreamEnd, StreamHandle } from "./port.ts";
import type { ReadinessTracker } from "./readiness.ts";
import type { Reports } from "./reports.ts";
import type { OpenStream, StreamRegistry } from "./stream-registry.ts";
import type { WaitingRequests } from "./waiting-requests.ts";
import type { WaitingType } from "./withheld-requests.ts";

export interface IncomingStreamsParts {
  readonly connections: Connections;
  readonly admission: Admission;
  readonly readiness: ReadinessTracker;
  readonly streams: StreamRegistry;
  readonly waiting: WaitingRequests;
  readonly driver: Driver;
  readonly reports: Reports;
  /** The number of the next stream. */
  readonly nextId: () => StreamId;
}

/** Takes streams and their requests in, and passes on what happens to them until they end. */
export class IncomingStreams {
  readonly #parts: IncomingStreamsParts;

  constructor(parts: IncomingStreamsParts) {
    this.#parts = parts;
  }

  /** Returns the number of the stream, or the status that rejects it. */
  open(opened: NewStream, handle: StreamHandle | BodyHandle): StreamId | Status {
    const { connections, admission, streams, driver, reports, nextId } = this.#parts;
    const { peer, listener } = connections.get(opened.connection) ?? {};
    if (peer === undefined) return { code: statusCode.UNAVAILABLE, message: "the connection is closed" };
    const refusal = admission.refuseStream(peer, opened);
    if (refusal !== undefined) return refusal;
    const id = nextId();
    // Not spreads, which would give each of these a shape of its own.
    streams.open(Object.assign({}, opened, { id, peer, openedAtMs: performance.now() }), handle);
    driver.take(Object.assign({}, opened, { kind: "stream-opened", stream: id, peer, listener } as const), id);
    reports.report(Object.assign({}, opened, { kind: "stream-opened", stream: id, peer } as const));
    return id;
  }

  /** A request came, which may have to wait. */
  receive(id: StreamId, request: DiscoveryRequest, bytes: number): void {
    const { readiness, streams, waiting, driver, reports } = this.#parts;
    const stream = streams.get(id);
    if (stream === undefined || driver.flushes.isFinishing(id)) return;
    if (readiness.state === "starting") {
      this.end(id, notReady, "not-ready");
      return;
    }
    const type = request.type ?? stream.onlyType;
    reports.report({ kind: "request-received", stream: id, type, bytes });
    waiting.take(id, type, request, bytesOfRequest(request, bytes));
  }

  /** A request waits for nothing any more. */
  process(id: StreamId, request: DiscoveryRequest): void {
    const { streams, driver } = this.#parts;
    if (streams.get(id) !== undefined) driver.take({ kind: "request-received", stream: id, request }, id);
  }

  /** A request waits for content. */
  withhold(waiting: WaitingType): void {
    const { streams, driver } = this.#parts;
    const { stream } = waiting;
    if (streams.get(stream) !== undefined) driver.take({ kind: "request-withheld", ...waiting }, stream);
  }

  /** The client half-closed: the stream ends after what it asked for. */
  finish(id: StreamId): void {
    const { streams, waiting, driver } = this.#parts;
    waiting.finish(id, () => {
      if (streams.get(id) === undefined || driver.flushes.isFinishing(id)) return;
      // Under constant change some stream is always due, so one flush per open stream is enough.
      driver.flushes.finish(id, streams.size);
    });
  }

  end(id: StreamId, status: Status, reason: StreamEnd): void {
    const { streams, driver } = this.#parts;
    driver.sends.flush(id);
    streams.end(id, status, reason);
  }

  /** The client stopped reading, or reads again. */
  paced({ id: stream }: OpenStream, kind: "stream-stalled" | "stream-drained", pendingBytes: number): void {
    const { driver, reports } = this.#parts;
    driver.take({ kind, stream }, stream);
    reports.report(kind === "stream-stalled" ? { kind, stream, pendingBytes } : { kind, stream });
  }

  /** The stream has ended. */
  closed({ id: stream, peer, variant, onlyType, openedAtMs }: OpenStream, status: Status, reason: StreamEnd): void {
    const { waiting, driver, reports } = this.#parts;
    driver.flushes.forget(stream);
    driver.sends.forget(stream);
    waiting.forget(stream);
    driver.take({ kind: "stream-closed", stream }, stream);
    const ageMs = performance.now() - openedAtMs;
    reports.report({ kind: "stream-closed", stream, peer, variant, onlyType, reason, status, ageMs });
  }
}
