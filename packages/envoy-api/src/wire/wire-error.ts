/**
 * Bytes of a peer that are not the message they should be: cut off, a length that leads outside, nested too deep, too many
 * names. The stream they came on ends with INVALID_ARGUMENT; nobody else is concerned.
 */
export class WireError extends Error {
  override readonly name: string = "WireError";
}

/** A node of more bytes than the reader takes. What is passed over in it, its extensions, does not count. */
export class NodeSizeError extends WireError {
  override readonly name = "NodeSizeError";
  readonly maxBytes: number;

  constructor(bytes: number, maxBytes: number) {
    super(`a node of ${bytes} bytes beside its extensions, at most ${maxBytes} are taken`);
    this.maxBytes = maxBytes;
  }
}
