import type { StreamId } from "./event.ts";

/** A bug of the server on one stream: that stream ends with INTERNAL, the others go on. */
export class InvariantError extends Error {
  readonly stream: StreamId;

  constructor(stream: StreamId, cause: unknown) {
    super(`a bug in the turn of stream ${stream}`, { cause });
    this.name = "InvariantError";
    this.stream = stream;
  }
}
