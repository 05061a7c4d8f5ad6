import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";

/** One poll, as it came in. */
export interface ReceivedPoll {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** Answers it; an answer without a body is as empty as one of 304. */
  answer(status: number, body?: unknown): void;
}

/** A server that answers polls as a test says, one after the other. */
export class RestServer {
  readonly address: string;
  /** How many polls came in. */
  readonly received: ReceivedPoll[] = [];
  readonly #close: () => Promise<void>;
  #taken = 0;
  #wake: () => void = () => undefined;

  private constructor(address: string, close: () => Promise<void>) {
    this.address = address;
    this.#close = close;
  }

  static async start(): Promise<RestServer> {
    const held: { rest?: RestServer } = {};
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { method = "", url: path = "", headers } = request;
        const body = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedPoll["body"];
        held.rest?.take({ method, path, headers, body, answer: (status, value) => answer(response, status, value) });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const bound = server.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : 0;
    held.rest = new RestServer(`127.0.0.1:${port}`, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return held.rest;
  }

  take(poll: ReceivedPoll): void {
    this.received.push(poll);
    this.#wake();
  }

  /** The next poll, as soon as there is one. */
  async next(): Promise<ReceivedPoll> {
    for (;;) {
      const poll = this.received[this.#taken];
      if (poll !== undefined) {
        this.#taken++;
        return poll;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): Promise<void> {
    return this.#close();
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  if (typeof body === "string") response.setHeader("content-type", "text/plain").end(body);
  else if (body === undefined) response.end();
  else response.setHeader("content-type", "application/json").end(JSON.stringify(body));
}
