import { NodeSizeError, WireError } from "@xdskit/envoy-api/internal";
import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { nextTurn } from "../../next-turn.ts";
import { refuseNode } from "../node-limit.ts";
import type { MethodPorts } from "./method.ts";

/** Messages from this many bytes are decoded in slices of the event loop, and processed in the turn after. */
const LARGE_BYTES = 256 * 1024;
/** How long such a slice takes, in milliseconds. */
const SLICE_MS = 5;

interface MessageReader<T> {
  read(bytes: Uint8Array): T;
  readInParts(bytes: Uint8Array): Generator<void, T, void>;
}

/** What is read, and from whom. `says`: "a load report". */
export interface ReadingOptions {
  readonly says: string;
  readonly ports: MethodPorts;
}

/** Decodes a message, or returns the status that ends the call: malformed bytes or a node above the limit. */
export function readMessage<T>(reader: MessageReader<T>, bytes: Uint8Array, options: ReadingOptions): T | Status {
  try {
    return reader.read(bytes);
  } catch (error) {
    return statusOf(error, options);
  }
}

/** As `readMessage`, then calls `receive`: at once, or for a large message once it was decoded in slices. */
export function receiveMessage<T>(
  reader: MessageReader<T>,
  bytes: Uint8Array,
  options: ReadingOptions,
  receive: (message: T | Status) => Promise<void> | void,
): Promise<void> | void {
  if (bytes.byteLength < LARGE_BYTES) return receive(readMessage(reader, bytes, options));
  return inSlices(reader.readInParts(bytes))
    .catch((error: unknown) => statusOf(error, options))
    .then(receive);
}

async function inSlices<T>(parts: Generator<void, T, void>): Promise<T> {
  for (let endAt = performance.now() + SLICE_MS; ; ) {
    const { done, value } = parts.next();
    if (done !== true && performance.now() < endAt) continue;
    await nextTurn();
    if (done === true) return value;
    endAt = performance.now() + SLICE_MS;
  }
}

function statusOf(error: unknown, { says, ports }: ReadingOptions): Status {
  if (error instanceof NodeSizeError) return refuseNode(ports.hub, ports.address, error);
  if (!(error instanceof WireError)) throw error;
  return { code: statusCode.INVALID_ARGUMENT, message: `not ${says}: ${error.message}` };
}
