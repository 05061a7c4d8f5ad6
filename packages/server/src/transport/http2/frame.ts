/** The frames of HTTP/2 (RFC 9113 section 6). */

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** The error codes of RST_STREAM and GOAWAY (RFC 9113 section 7). */
export const errorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

export type ErrorCode = (typeof errorCode)[keyof typeof errorCode];

export const PREFACE: Uint8Array = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
export const FRAME_HEAD_BYTES = 9;
/** The largest payload without a setting, and the largest that this server takes. */
export const DEFAULT_MAX_FRAME_BYTES = 16_384;
export const LARGEST_MAX_FRAME_BYTES: number = 2 ** 24 - 1;
export const DEFAULT_WINDOW_BYTES = 65_535;
export const LARGEST_WINDOW_BYTES: number = 2 ** 31 - 1;
export const SETTING_BYTES = 6;
export const PING_BYTES = 8;

/** A frame up to its payload of `payloadBytes`, which has `roomBytes` in the returned memory. */
export function frameHead(type: number, flags: number, stream: number, payloadBytes: number, roomBytes = 0): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + roomBytes);
  bytes[0] = payloadBytes >>> 16;
  bytes[1] = payloadBytes >>> 8;
  bytes[2] = payloadBytes;
  bytes[3] = type;
  bytes[4] = flags;
  writeUint32(bytes, 5, stream);
  return bytes;
}

/** A frame whose payload is one number. */
export function numberFrame(type: number, stream: number, value: number): Buffer {
  const bytes = frameHead(type, 0, stream, 4, 4);
  writeUint32(bytes, FRAME_HEAD_BYTES, value);
  return bytes;
}

/** A frame with a copy of its payload. */
export function wholeFrame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = frameHead(type, flags, stream, payload.byteLength, payload.byteLength);
  bytes.set(payload, FRAME_HEAD_BYTES);
  return bytes;
}

export function settingsFrame(settings: readonly (readonly [number, number])[]): Buffer {
  const byteLength = settings.length * SETTING_BYTES;
  const bytes = frameHead(frameType.settings, 0, 0, byteLength, byteLength);
  settings.forEach(([id, value], index) => {
    const at = FRAME_HEAD_BYTES + index * SETTING_BYTES;
    bytes[at] = id >>> 8;
    bytes[at + 1] = id;
    writeUint32(bytes, at + 2, value);
  });
  return bytes;
}

export function goAwayFrame(lastStream: number, code: ErrorCode): Buffer {
  const bytes = frameHead(frameType.goAway, 0, 0, 8, 8);
  writeUint32(bytes, FRAME_HEAD_BYTES, lastStream);
  writeUint32(bytes, FRAME_HEAD_BYTES + 4, code);
  return bytes;
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) * 2 ** 24 + (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0))
  );
}

/** Reads a number of 31 bits; the first bit is reserved. */
export function readUint31(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at) % 2 ** 31;
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}
