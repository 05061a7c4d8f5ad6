import { lengthTag, varintTag, WireReader } from "../wire/reader.ts";
import { WireError } from "../wire/wire-error.ts";

/** The fields of a Listener, and of the messages in it, that hold addresses. */
const ADDRESS = lengthTag(2);
const ADDITIONAL_ADDRESSES = lengthTag(33);
const API_LISTENER = lengthTag(19);
const ADDRESS_OF_ADDITIONAL = lengthTag(1);
const SOCKET_ADDRESS = lengthTag(1);
const PIPE = lengthTag(2);
const PIPE_PATH = lengthTag(1);
const PROTOCOL = varintTag(1);
const HOST = lengthTag(2);
const PORT_VALUE = varintTag(3);
const NETWORK_NAMESPACE = lengthTag(7);

const none: readonly string[] = [];

/**
 * Returns the addresses that an encoded Listener binds, such as `0 127.0.0.1:10000` (0: TCP, 1: UDP) and `pipe /tmp/s`, as
 * it writes them. None for ports that the system chooses, API listeners, internal listeners, and bytes that are no message.
 */
export function addressesIn(bytes: Uint8Array): readonly string[] {
  const addresses: string[] = [];
  const reader = new WireReader(bytes);
  try {
    while (reader.hasMore) {
      const tag = reader.tag();
      if (tag === API_LISTENER) return none;
      const address =
        tag === ADDRESS
          ? readAddress(reader.message())
          : tag === ADDITIONAL_ADDRESSES
            ? readAdditional(reader.message())
            : skip(reader, tag);
      if (address !== undefined) addresses.push(address);
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return none;
  }
  return addresses.length === 0 ? none : addresses;
}

function skip(reader: WireReader, tag: number): undefined {
  reader.skip(tag);
}

function readAdditional(reader: WireReader): string | undefined {
  let address: string | undefined;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === ADDRESS_OF_ADDITIONAL) address = readAddress(reader.message());
    else reader.skip(tag);
  }
  return address;
}

function readAddress(reader: WireReader): string | undefined {
  let address: string | undefined;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === SOCKET_ADDRESS) address = readSocketAddress(reader.message());
    else if (tag === PIPE) address = readPipe(reader.message());
    else reader.skip(tag);
  }
  return address;
}

/** Undefined for a port that the system chooses, or that has a name. */
function readSocketAddress(reader: WireReader): string | undefined {
  let [protocol, host, port, namespace] = [0, "", 0, ""];
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === PROTOCOL) protocol = reader.int32();
    else if (tag === HOST) host = reader.string();
    else if (tag === PORT_VALUE) port = reader.uint32();
    else if (tag === NETWORK_NAMESPACE) namespace = reader.string();
    else reader.skip(tag);
  }
  return port === 0 ? undefined : `${protocol} ${host}:${port}${namespace && ` in ${namespace}`}`;
}

function readPipe(reader: WireReader): string | undefined {
  let path = "";
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === PIPE_PATH) path = reader.string();
    else reader.skip(tag);
  }
  return path === "" ? undefined : `pipe ${path}`;
}
