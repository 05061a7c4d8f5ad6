/** Just enough of the protobuf wire format to write the messages of the cases; fields in the order of their numbers. */
export type Field = readonly [number: number, value: string | number | Uint8Array];

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** A message of these fields. Strings are UTF-8, numbers are varints, bytes are bytes or messages inside. */
export function encodeFields(...fields: readonly Field[]): Uint8Array {
  return Buffer.concat(fields.flatMap(([number, value]) => encodeField(number, value)));
}

function encodeField(number: number, value: string | number | Uint8Array): Uint8Array[] {
  if (typeof value === "number") return [varint((number << 3) | VARINT), varint(value)];
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return [varint((number << 3) | LENGTH_DELIMITED), varint(bytes.byteLength), bytes];
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.from([...bytes, rest]);
}
