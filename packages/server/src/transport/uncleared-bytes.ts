/**
 * Memory of its own that holds anything: to clear it costs as much as to copy something there. Whoever asks for it gives
 * out only what it wrote.
 */
export function unclearedBytes(byteLength: number): Uint8Array {
  return new Uint8Array(Buffer.allocUnsafeSlow(byteLength).buffer);
}
