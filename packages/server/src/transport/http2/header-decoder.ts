import { decodeHuffman } from "./huffman.ts";
import { staticTable } from "./static-table.ts";

/** A header block that breaks HPACK; no block after it can be read. */
export class CompressionError extends Error {
  override readonly name = "CompressionError";
}

/** Bytes that HPACK adds to the size of each field (RFC 7541 section 4.1). */
const FIELD_OVERHEAD_BYTES = 32;
/** The size of the dynamic table without a setting, and the largest that this server keeps. */
const MAX_TABLE_BYTES = 4_096;
/** More bytes than a number of 28 bits takes. */
const MAX_NUMBER_BYTES = 5;

interface HeaderField {
  readonly name: string;
  readonly value: string;
}

const staticFields: readonly HeaderField[] = staticTable.map(([name, value]) => ({ name, value }));

/** Decodes the header blocks of a connection (HPACK, RFC 7541), in their order. */
export class HeaderDecoder {
  /** The dynamic table, the newest field last. */
  readonly #fields: HeaderField[] = [];
  #tableBytes = 0;
  #maxTableBytes = MAX_TABLE_BYTES;
  #bytes: Uint8Array = Buffer.alloc(0);
  #at = 0;

  /**
   * Calls `take` for each field, and returns the size of the list as RFC 9113 counts it. From the field on that exceeds
   * `maxListBytes`, only the size is counted. Throws a `CompressionError`.
   */
  decode(block: Uint8Array, maxListBytes: number, take: (name: string, value: string) => void): number {
    this.#bytes = block;
    this.#at = 0;
    let listBytes = 0;
    while (this.#at < block.byteLength) {
      const first = block[this.#at] ?? 0;
      if ((first & 0xe0) === 0x20) {
        if (listBytes > 0) throw new CompressionError("a table size after a field");
        this.#resize(this.#readNumber(5));
        continue;
      }
      const field = this.#readField(first);
      listBytes += sizeOf(field);
      if (listBytes <= maxListBytes) take(field.name, field.value);
    }
    this.#bytes = Buffer.alloc(0);
    return listBytes;
  }

  #readField(first: number): HeaderField {
    if ((first & 0x80) !== 0) return this.#fieldAt(this.#readNumber(7));
    const isIndexed = (first & 0x40) !== 0;
    const nameIndex = this.#readNumber(isIndexed ? 6 : 4);
    const name = nameIndex === 0 ? this.#readString() : this.#fieldAt(nameIndex).name;
    const field = { name, value: this.#readString() };
    if (isIndexed) this.#add(field);
    return field;
  }

  #fieldAt(index: number): HeaderField {
    const field =
      index <= staticFields.length
        ? staticFields[index - 1]
        : this.#fields[this.#fields.length - (index - staticFields.length)];
    if (field === undefined) throw new CompressionError(`no field has the index ${index}`);
    return field;
  }

  #add(field: HeaderField): void {
    this.#tableBytes += sizeOf(field);
    this.#fields.push(field);
    this.#evict();
  }

  #resize(maxBytes: number): void {
    if (maxBytes > MAX_TABLE_BYTES) throw new CompressionError(`a table of ${maxBytes} bytes`);
    this.#maxTableBytes = maxBytes;
    this.#evict();
  }

  #evict(): void {
    while (this.#tableBytes > this.#maxTableBytes) {
      const oldest = this.#fields.shift();
      if (oldest === undefined) break;
      this.#tableBytes -= sizeOf(oldest);
    }
  }

  /** A number whose first bits are the last of a byte. */
  #readNumber(prefixBits: number): number {
    const mask = 2 ** prefixBits - 1;
    let value = this.#readByte() & mask;
    if (value < mask) return value;
    for (let read = 0; read < MAX_NUMBER_BYTES; read++) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * 2 ** (7 * read);
      if (byte < 0x80) return value;
    }
    throw new CompressionError("a number that is too long");
  }

  #readString(): string {
    const isHuffman = ((this.#bytes[this.#at] ?? 0) & 0x80) !== 0;
    const byteLength = this.#readNumber(7);
    const start = this.#at;
    const end = start + byteLength;
    if (end > this.#bytes.byteLength) throw new CompressionError("a string that is cut off");
    this.#at = end;
    if (!isHuffman)
      return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, byteLength).toString("latin1");
    const text = decodeHuffman(this.#bytes, start, end);
    if (text === undefined) throw new CompressionError("an invalid Huffman code");
    return text;
  }

  #readByte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new CompressionError("a field that is cut off");
    return byte;
  }
}

function sizeOf({ name, value }: HeaderField): number {
  return name.length + value.length + FIELD_OVERHEAD_BYTES;
}
