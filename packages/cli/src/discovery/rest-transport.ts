import { setTimeout as sleep } from "node:timers/promises";
import type { PeerTls } from "@xdskit/conformance";
import { type EnvoyApi, restPaths } from "@xdskit/envoy-api";
import type { ApiVersion, Node } from "@xdskit/protocol";
import { CommandError, exitCode } from "../exit-code.ts";
import { connectionHint } from "./connection-hint.ts";
import type { Answer } from "./held.ts";
import { createHttpPoster, type HttpAnswer, type HttpPoster } from "./http-post.ts";
import { readJsonResponse, strangerIn, UnreadableResponse } from "./response.ts";
import type { Connection, Ending, Interest, Subscription, Transport } from "./transport.ts";

/** How a server is polled. */
export interface RestTransportOptions {
  readonly api: EnvoyApi;
  /** `host:port`. */
  readonly server: string;
  readonly tls: PeerTls | undefined;
  readonly node: Node;
  readonly apiVersion: ApiVersion;
  /** From one answer to the next poll. */
  readonly refreshDelayMs: number;
}

/** A server that holds a poll until something changes lets go of it before this. */
const REQUEST_TIMEOUT_MS = 30_000;
const SHOWN_BODY_CHARACTERS = 4_000;

/** Polls over HTTP/1.1, one after the other (B-RST-01, C-RST-06). */
export function restTransport(options: RestTransportOptions): Transport {
  return {
    answersWhole: () => true,
    // There is nothing to connect before the first poll.
    connect: async () => connectionOver(createHttpPoster(options.server, options.tls), options),
  };
}

function connectionOver(poster: HttpPoster, options: RestTransportOptions): Connection {
  const closing = new AbortController();
  return {
    subscribe(interest): Subscription {
      const { apiVersion } = options;
      const { path } =
        restPaths.find(
          ({ type, twin, apiVersion: version }) =>
            version === apiVersion && (type === interest.type || twin === interest.type),
        ) ?? {};
      if (path === undefined) {
        throw new CommandError(
          exitCode.usage,
          `${interest.type} has no REST path in ${apiVersion}`,
          "leave --rest off",
        );
      }
      const polls = new Polls(poster, path, interest, options);
      closing.signal.addEventListener("abort", () => polls.cancel(), { once: true });
      return { answers: polls.answers(), ending: polls.ending, cancel: () => polls.cancel() };
    },
    close: async () => {
      closing.abort();
      poster.close();
    },
  };
}

/** The polls of one type. */
class Polls {
  readonly ending: Promise<Ending>;
  readonly #poster: HttpPoster;
  readonly #path: string;
  readonly #interest: Interest;
  readonly #options: RestTransportOptions;
  readonly #cancelled = new AbortController();
  #nonce = "";
  #end: (ending: Ending) => void = () => undefined;

  constructor(poster: HttpPoster, path: string, interest: Interest, options: RestTransportOptions) {
    this.#poster = poster;
    this.#path = path;
    this.#interest = interest;
    this.#options = options;
    this.ending = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  cancel(): void {
    this.#cancelled.abort();
  }

  async *answers(): AsyncIterable<Answer> {
    const { signal } = this.#cancelled;
    try {
      for (;;) {
        const answer = this.#read(await this.#poll());
        if (answer !== undefined) yield answer;
        await sleep(this.#options.refreshDelayMs, undefined, { signal });
      }
    } catch (cause) {
      this.#end(this.#endingOf(cause));
    }
  }

  #poll(): Promise<HttpAnswer> {
    const { type, names, held } = this.#interest;
    const { id, cluster, userAgentName, userAgentVersion } = this.#options.node;
    const request = {
      ...(held.version !== "" && { versionInfo: held.version }),
      node: { id, ...(cluster !== "" && { cluster }), userAgentName, userAgentVersion },
      ...(names.length > 0 && { resourceNames: names }),
      typeUrl: type,
      ...(this.#nonce !== "" && { responseNonce: this.#nonce }),
    };
    const { signal } = this.#cancelled;
    return this.#poster.post(this.#path, request, { signal, timeoutMs: REQUEST_TIMEOUT_MS });
  }

  /** Undefined if nothing has changed, be it that the server does not know of 304 (S-RST-03). */
  #read(answer: HttpAnswer): Answer | undefined {
    if (answer.status === 304) return undefined;
    if (answer.status !== 200) throw new RefusedPoll(answer);
    const { held, type } = this.#interest;
    const content = readJsonResponse(parseJson(answer.body), this.#options.api);
    const stranger = strangerIn(content, type);
    if (stranger !== undefined) throw new UnreadableResponse(stranger);
    this.#nonce = content.nonce;
    if (content.version !== "" && content.version === held.version) return undefined;
    return held.take(content);
  }

  #endingOf(cause: unknown): Ending {
    const { server, tls } = this.#options;
    if (cause instanceof RefusedPoll) return refusalOf(cause.answer, server, this.#path);
    if (cause instanceof UnreadableResponse) {
      return { reason: `${server} answered with something else: ${cause.message}`, isUnreachable: false };
    }
    const error = cause instanceof Error ? cause : new Error(String(cause));
    return { reason: `${server}: ${error.message}`, isUnreachable: true, hint: connectionHint(error, server, tls) };
  }
}

/** An answer that is neither a response nor 304. */
class RefusedPoll extends Error {
  override readonly name = "RefusedPoll";
  readonly answer: HttpAnswer;

  constructor(answer: HttpAnswer) {
    super(answer.statusText);
    this.answer = answer;
  }
}

function refusalOf({ status, statusText, body }: HttpAnswer, server: string, path: string): Ending {
  const says = printable(body.slice(0, SHOWN_BODY_CHARACTERS)).trim();
  const reason = `${server} answered ${status} ${statusText} to POST ${path}${says === "" ? "" : `:\n${says}`}`;
  const isUnreachable = status === 502 || status === 503 || status === 504;
  // Nothing of the kind there, nothing that is posted to, or no HTTP/1.1 at all.
  const isElsewhere = status === 404 || status === 405 || status === 505;
  const hint = "is REST switched off there, or is this its admin port?";
  return { reason, isUnreachable, ...(isElsewhere && { hint }) };
}

/** A server elsewhere does not write to this terminal whatever it likes. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableResponse(`expected JSON, got ${JSON.stringify(text.slice(0, 200))}`);
  }
}
