/**
 * Bytes of a peer that are not the message they should be: cut off, a length that leads outside, nested too deep, too many
 * names. The stream they came on ends with INVALID_ARGUMENT; nobody else is concerned.
 */
export class WireError extends Error {
  override readonly name = "WireError";
}
