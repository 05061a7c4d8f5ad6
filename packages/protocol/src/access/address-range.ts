/** A range of IP addresses. */
export interface AddressRange {
  readonly bits: 32 | 128;
  readonly prefix: bigint;
  readonly length: number;
}

/** Parses `10.0.0.0/8`, `2001:db8::/32` or a single address; undefined if it is neither. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = "", length, ...rest] = text.split("/");
  const parsed = parseAddress(address);
  if (parsed === undefined || rest.length > 0) return undefined;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined;
  const ones = length === undefined ? parsed.bits : Number(length);
  if (ones > parsed.bits) return undefined;
  return { bits: parsed.bits, prefix: parsed.value >> BigInt(parsed.bits - ones), length: ones };
}

export function isInRange(address: string, { bits, prefix, length }: AddressRange): boolean {
  const parsed = parseAddress(address);
  return parsed?.bits === bits && parsed.value >> BigInt(bits - length) === prefix;
}

/** Whether every address of a range is in another one. */
export function isRangeWithin(inner: AddressRange, { bits, prefix, length }: AddressRange): boolean {
  return inner.bits === bits && inner.length >= length && inner.prefix >> BigInt(inner.length - length) === prefix;
}

function parseAddress(text: string): { readonly bits: 32 | 128; readonly value: bigint } | undefined {
  const plain = text.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const v4 = parseV4(plain);
  if (v4 !== undefined) return { bits: 32, value: v4 };
  const groups = groupsOf(plain);
  if (groups === undefined) return undefined;
  return { bits: 128, value: groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n) };
}

function parseV4(text: string): bigint | undefined {
  const bytes = text.split(".");
  if (bytes.length !== 4 || !bytes.every((byte) => /^\d{1,3}$/.test(byte) && Number(byte) < 256)) return undefined;
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

/** The eight groups of an IPv6 address. */
function groupsOf(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return groups.map((group) => Number.parseInt(group, 16));
}
