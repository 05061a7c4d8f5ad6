/** `google.protobuf.Any`: an encoded message with its type, inside another message. */
import { lengthTag, type WireReader } from "./reader.ts";
import type { WireWriter } from "./writer.ts";

/** An encoded message with its type URL, as on the wire. */
export interface AnyMessage {
  /** As the peer sent it; "" if it sent none. */
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

const TYPE_URL = lengthTag(1);
const VALUE = lengthTag(2);
const noBytes: Uint8Array = new Uint8Array();

/** Reads an `Any` to the end of the reader. The value is a view of the bytes. */
export function readAny(reader: WireReader): AnyMessage {
  let typeUrl = "";
  let value: Uint8Array = noBytes;
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case TYPE_URL:
        typeUrl = reader.string();
        break;
      case VALUE:
        value = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return { typeUrl, value };
}

/** Writes what `readAny` reads. */
export function writeAny(writer: WireWriter, any: AnyMessage): void {
  writer.optionalString(1, any.typeUrl);
  if (any.value.length > 0) writer.bytes(2, any.value);
}
