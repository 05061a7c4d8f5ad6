import { LONGEST_TIMER_MS, startTimer, type Timer } from "@xdskit/disk";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Status, TypeUrl } from "@xdskit/protocol";
import { type DiscoveryRequest, type SotwRequest, statusCode } from "@xdskit/protocol/internal";
import type { RestSource } from "../../config/client-config.ts";
import { readJsonResponse } from "../json-response.ts";
import type { ClientStream, StreamListener } from "../transport.ts";
import type { PollAnswer } from "./http-answer.ts";
import type { HttpCaller } from "./http-caller.ts";
import { formatPollBody } from "./poll-body.ts";

/** What a REST stream needs. */
export interface RestStreamParts {
  readonly api: EnvoyApi;
  /** The encoded `Node`. */
  readonly node: () => Uint8Array;
  readonly random: () => number;
  readonly source: RestSource;
  readonly type: TypeUrl;
  readonly path: string;
  readonly caller: HttpCaller;
  readonly listener: StreamListener;
  /** Called once, whichever side ends the stream. */
  readonly onEnd: () => void;
}

/**
 * `idle`: the next request is sent at once. `polling`: a poll is in progress. `judging`: its response is being
 * validated. `waiting`: the delay after a response.
 */
type Phase = "idle" | "polling" | "judging" | "waiting" | "ended";

/** Polls for one type, never two at once (C-RST-06). The first failure ends the stream. */
export class RestStream implements ClientStream {
  readonly #parts: RestStreamParts;
  #phase: Phase = "idle";
  /** The next request. */
  #next: SotwRequest | undefined;
  /** Whether the next request skips the delay. */
  #isNextUrgent = false;
  #poll: AbortController | undefined;
  #delay: Timer | undefined;

  constructor(parts: RestStreamParts) {
    this.#parts = parts;
  }

  send(request: DiscoveryRequest, isUrgent: boolean): void {
    if (this.#phase === "ended") return;
    if (request.kind === "delta") {
      this.#end({ code: statusCode.UNIMPLEMENTED, message: "there is no delta over REST; use gRPC" });
      return;
    }
    this.#next = request;
    this.#isNextUrgent ||= isUrgent;
    const mayGo = this.#phase === "idle" || (isUrgent && this.#phase !== "judging");
    if (mayGo) this.#pollNow(request);
  }

  close(): void {
    this.#stop();
  }

  /** Replaces a poll in progress (C-RST-20). */
  #pollNow(request: SotwRequest): void {
    this.#poll?.abort();
    this.#delay?.cancel();
    this.#next = undefined;
    this.#isNextUrgent = false;
    this.#phase = "polling";
    const { api, node, source, type, path, caller } = this.#parts;
    let body: Uint8Array;
    try {
      body = formatPollBody({ request, node: node(), apiVersion: source.apiVersion, type }, api);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#end({ code: statusCode.INVALID_ARGUMENT, message: `the request cannot be written as JSON: ${reason}` });
      return;
    }
    const poll = new AbortController();
    this.#poll = poll;
    const answered = caller.call({
      path,
      body,
      timeoutMs: Math.min(source.requestTimeoutMs, LONGEST_TIMER_MS),
      signal: poll.signal,
    });
    answered
      .then((answer) => (poll.signal.aborted ? undefined : this.#take(answer)))
      .catch((error: unknown) => this.#end({ code: statusCode.INTERNAL, message: String(error) }));
  }

  async #take(answer: PollAnswer): Promise<void> {
    this.#poll = undefined;
    this.#phase = "judging";
    switch (answer.kind) {
      case "failed":
        this.#end(answer.status);
        return;
      case "unchanged":
        this.#parts.listener.unchanged();
        break;
      case "body":
        await this.#read(answer.bytes);
        break;
      default:
        answer satisfies never;
    }
    if (this.#phase === "judging") this.#wait();
  }

  async #read(bytes: Uint8Array): Promise<void> {
    const { api, listener } = this.#parts;
    const response = readJsonResponse(bytes, api);
    if ("problem" in response) listener.unreadable(response.problem);
    else await listener.response(response.bytes);
  }

  #wait(): void {
    if (this.#isNextUrgent && this.#next !== undefined) {
      this.#pollNow(this.#next);
      return;
    }
    const { source, random } = this.#parts;
    this.#phase = "waiting";
    // Waiting callers keep the process alive; the delay does not.
    this.#delay = startTimer(pollDelayMs(source.refreshDelayMs, random()), () => this.#due());
  }

  #due(): void {
    this.#phase = "idle";
    if (this.#next === undefined) this.#parts.listener.due();
    else this.#pollNow(this.#next);
  }

  #end(status: Status): void {
    if (this.#stop()) this.#parts.listener.ended(status);
  }

  /** False if it had already ended. */
  #stop(): boolean {
    if (this.#phase === "ended") return false;
    this.#phase = "ended";
    this.#poll?.abort();
    this.#delay?.cancel();
    this.#parts.onEnd();
    return true;
  }
}

/**
 * The pause after a response: the delay plus a random part of up to the same length; `chance` is from 0 up to, not
 * including, 1 (C-RST-15).
 */
export function pollDelayMs(refreshDelayMs: number, chance: number): number {
  return Math.min(refreshDelayMs * (1 + chance), LONGEST_TIMER_MS);
}
