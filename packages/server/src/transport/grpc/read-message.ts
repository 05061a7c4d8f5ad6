import { NodeSizeError, WireError } from "@xdskit/envoy-api/internal";
import type { Status } from "@xdskit/protocol";
import { type Steps, statusCode } from "@xdskit/protocol/internal";
import { Slices } from "../../slices.ts";
import { refuseNode } from "../node-limit.ts";
import type { MethodPorts } from "./method.ts";

/** Messages from this many bytes are decoded in slices of the event loop, and processed in the turn after. */
const LARGE_BYTES = 256 * 1024;

interface MessageReader<T> {
  read(bytes: Uint8Array): T;
  readInSteps(bytes: Uint8Array): Steps<T>;
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
  receive: (message: T | Status, byteLength: number) => Promise<void> | void,
): Promise<void> | void {
  const { byteLength } = bytes;
  if (byteLength < LARGE_BYTES) return receive(readMessage(reader, bytes, options), byteLength);
  return inSlices(reader.readInSteps(bytes))
    .catch((error: unknown) => statusOf(error, options))
    .then((message) => receive(message, byteLength));
}

async function inSlices<T>(steps: Steps<T>): Promise<T> {
  const slices = new Slices();
  const message = await slices.finish(steps);
  await slices.next();
  return message;
}

function statusOf(error: unknown, { says, ports }: ReadingOptions): Status {
  if (error instanceof NodeSizeError) return refuseNode(ports.hub, ports.address, error);
  if (!(error instanceof WireError)) throw error;
  return { code: statusCode.INVALID_ARGUMENT, message: `not ${says}: ${error.message}` };
}
