import type { Status } from "@xdskit/protocol";
import { type PollEffect, type PollId, type ServerEffect, type StreamId, statusCode } from "@xdskit/protocol/internal";
import type { Performer } from "./driver.ts";
import type { PollRegistry } from "./poll-registry.ts";
import type { StreamEnd } from "./port.ts";
import type { Reports } from "./reports.ts";
import type { StreamRegistry, Written } from "./stream-registry.ts";

export interface HubEffectsParts {
  readonly streams: StreamRegistry;
  readonly polls: PollRegistry;
  readonly reports: Reports;
  readonly endStream: (stream: StreamId, status: Status, reason: StreamEnd) => void;
  readonly turnAway: (id: StreamId | PollId, status: Status, reason: StreamEnd) => void;
  readonly advanced: () => void;
}

/** Applies the effects of the `ServerMachine` to streams and polls. */
export class HubEffects implements Performer {
  readonly #parts: HubEffectsParts;

  constructor(parts: HubEffectsParts) {
    this.#parts = parts;
  }

  send(effect: Extract<ServerEffect, { readonly kind: "send" }>): void {
    const { streams, reports } = this.#parts;
    const { stream, body } = effect;
    try {
      const bytes = streams.send(effect);
      if (bytes === undefined) return;
      const { variant, type } = body;
      reports.report({ kind: "response-queued", stream, type, variant, bytes });
    } catch (cause) {
      this.failed(stream, "send", cause);
      return;
    }
    streams.endOverfull(stream);
  }

  encodeSome({ stream, body }: Extract<ServerEffect, { readonly kind: "send" }>): boolean {
    try {
      return this.#parts.streams.encodeSome(stream, body);
    } catch {
      // It is met again, and told, when the response is sent.
      return false;
    }
  }

  closeStream({ stream: id, status, limit }: Extract<ServerEffect, { readonly kind: "close-stream" }>): void {
    const { streams, reports, endStream } = this.#parts;
    const peer = streams.get(id)?.peer;
    if (peer === undefined) return;
    if (limit !== undefined) reports.limitHit(limit, peer.address, status.message, id);
    endStream(id, status, limit === undefined ? "refused" : "limit");
  }

  settlePoll(effect: PollEffect): void {
    const { polls, reports } = this.#parts;
    const peer = polls.peerOf(effect.poll);
    if (peer !== undefined && effect.kind === "refuse-poll" && effect.limit !== undefined)
      reports.limitHit(effect.limit, peer.address, effect.status.message);
    polls.perform(effect);
  }

  report(report: Parameters<Performer["report"]>[0]): void {
    const { reports } = this.#parts;
    const evicted = report.kind === "poller-forgotten" ? report.evicted : undefined;
    if (evicted !== undefined) reports.limitHit(evicted.limit, evicted.address, evicted.message);
    reports.report(report);
  }

  write(): Written {
    return this.#parts.streams.flush();
  }

  finished(stream: StreamId): void {
    this.#parts.endStream(stream, { code: statusCode.OK, message: "" }, "finished");
  }

  advanced(): void {
    this.#parts.advanced();
  }

  /** Internal error: ends only the affected stream or poll. */
  failed(id: StreamId | PollId | undefined, during: string, cause: unknown): void {
    const { reports, turnAway } = this.#parts;
    reports.report({ kind: "invariant-broken", stream: id, during, error: cause });
    if (id !== undefined) turnAway(id, ourMistake, "failed");
  }
}

const ourMistake: Status = { code: statusCode.INTERNAL, message: "internal server error; see the log" };
