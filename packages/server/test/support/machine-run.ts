import type { Http2Stream } from "../../src/transport/http2/http2.ts";
import { Http2Machine } from "../../src/transport/http2/machine.ts";

/** A frame of the server's, readable: `headers 1 [END_STREAM]`. */
export interface SentFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

const names = [
  "DATA",
  "HEADERS",
  "PRIORITY",
  "RST_STREAM",
  "SETTINGS",
  "PUSH_PROMISE",
  "PING",
  "GOAWAY",
  "WINDOW_UPDATE",
  "CONTINUATION",
];

/** A machine with a record of what happened, in order. */
export class MachineRun {
  readonly events: string[] = [];
  readonly streams = new Map<number, Http2Stream>();
  readonly machine: Http2Machine;
  nowMs = 0;
  #opened = 0;

  constructor(options: { readonly maxStreams?: number; readonly onStream?: (stream: Http2Stream) => void } = {}) {
    this.machine = new Http2Machine({
      maxStreams: options.maxStreams ?? 100,
      now: () => this.nowMs,
      onStream: (stream, headers) => {
        const number = 2 * this.#opened + 1;
        this.#opened++;
        this.streams.set(number, stream);
        this.events.push(`request ${number}: ${headers[":method"]} ${headers[":path"]}`);
        stream.onClose(() => this.events.push(`closed ${number}`));
        options.onStream?.(stream);
      },
      onOutput: () => undefined,
      onBroken: (reason) => this.events.push(`broken: ${reason}`),
    });
  }

  /** The stream that was opened with this number, if those before were opened too. */
  stream(number: number): Http2Stream {
    const stream = this.streams.get(number);
    if (stream === undefined) throw new Error(`stream ${number} was not opened`);
    return stream;
  }

  /** Reads the body of a stream into the events. */
  read(number: number): void {
    this.stream(number).read({
      onData: (chunk) => this.events.push(`data ${number}: ${Buffer.from(chunk).toString()}`),
      onEnd: () => this.events.push(`end ${number}`),
    });
  }

  receive(...frames: readonly Uint8Array[]): void {
    this.machine.receive(Buffer.concat(frames));
  }

  /** The frames that are to be written, and tells the streams that have closed. */
  sent(maxDataBytes: number = Number.POSITIVE_INFINITY): readonly SentFrame[] {
    const output = this.machine.takeOutput(maxDataBytes);
    const frames = readFrames(Buffer.concat(output.chunks));
    this.machine.onWritten(output);
    this.machine.tellClosed();
    return frames;
  }

  /** As `sent`, as text: `DATA 1 5 bytes END_STREAM`. */
  told(maxDataBytes?: number): readonly string[] {
    return this.sent(maxDataBytes).map(describeFrame);
  }
}

export function readFrames(bytes: Buffer): readonly SentFrame[] {
  const frames: SentFrame[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    frames.push({
      type: bytes[at + 3] ?? 0,
      flags: bytes[at + 4] ?? 0,
      stream: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, end),
    });
    at = end;
  }
  return frames;
}

export function describeFrame({ type, flags, stream, payload }: SentFrame): string {
  const last = (type === 0 || type === 1) && (flags & 1) !== 0 ? " END_STREAM" : "";
  const ack = (type === 4 || type === 6) && (flags & 1) !== 0 ? " ACK" : "";
  const isNumber = type === 3 || type === 8;
  const isGoAway = type === 7;
  const said = isNumber
    ? ` ${payload.readUInt32BE(0)}`
    : isGoAway
      ? ` last ${payload.readUInt32BE(0)} code ${payload.readUInt32BE(4)}`
      : ` ${payload.byteLength} bytes`;
  return `${names[type]} ${stream}${said}${ack}${last}`;
}
