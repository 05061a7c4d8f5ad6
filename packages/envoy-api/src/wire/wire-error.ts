/**
 * Thrown for a peer's malformed bytes: truncated, a length out of bounds, too deep nesting, too many names. Ends the
 * peer's stream with INVALID_ARGUMENT; other streams are not affected.
 */
export class WireError extends Error {
  override readonly name: string = "WireError";
}

/** Thrown for a node that is too large, not counting its extensions. */
export class NodeSizeError extends WireError {
  override readonly name = "NodeSizeError";
  readonly maxBytes: number;

  /** `bytes`: its size, or what was read of it. */
  constructor(bytes: number, maxBytes: number) {
    super(`a node of at least ${bytes} bytes beside its extensions, at most ${maxBytes} are taken`);
    this.maxBytes = maxBytes;
  }
}
