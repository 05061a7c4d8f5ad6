/** Frames of HTTP/2 as bytes, for clients that pack and break them as no library does. */

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const END_STREAM = 1;
export const ACK = 1;
export const END_HEADERS = 4;

export const PREFACE: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.byteLength, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A header block, each header as it is, without a table. */
export function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
}

function header(name: string, value: string): Buffer {
  const length = value.length < 127 ? [value.length] : [127, value.length - 127];
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from(length), Buffer.from(value)]);
}

/** The headers of a gRPC call. */
export function callHeaders(path: string, further: Readonly<Record<string, string>> = {}): Buffer {
  const request = { ":method": "POST", ":scheme": "http", ":path": path, ":authority": "x" };
  return headerBlock({ ...request, "content-type": "application/grpc", ...further });
}

/** A gRPC message with its prefix. */
export function framed(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0]), uint32(message.byteLength), message]);
}

/** The frames of a gRPC call with one message, which goes on. */
export function callFrames(stream: number, path: string, message: Uint8Array): Buffer {
  return Buffer.concat([
    frame(frameType.headers, END_HEADERS, stream, callHeaders(path)),
    frame(frameType.data, 0, stream, framed(message)),
  ]);
}
