import fc from "fast-check";
import { expect, test } from "vitest";
import { CompressionError, HeaderDecoder } from "./header-decoder.ts";
import { encodeHeaders } from "./header-encoder.ts";

const MAX_LIST_BYTES = 65_536;

function decode(decoder: HeaderDecoder, hex: string): readonly string[] {
  return decodeBytes(decoder, Buffer.from(hex.replaceAll(" ", ""), "hex"));
}

function decodeBytes(decoder: HeaderDecoder, block: Uint8Array, maxListBytes = MAX_LIST_BYTES): readonly string[] {
  const fields: string[] = [];
  decoder.decode(block, maxListBytes, (name, value) => fields.push(`${name}: ${value}`));
  return fields;
}

const first = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
const second = [...first, "cache-control: no-cache"];
const third = [
  ":method: GET",
  ":scheme: https",
  ":path: /index.html",
  ":authority: www.example.com",
  "custom-key: custom-value",
];

test.each([
  {
    what: "without Huffman (RFC 7541 C.3)",
    blocks: [
      "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
      "8286 84be 5808 6e6f 2d63 6163 6865",
      "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ],
  },
  {
    what: "with Huffman (RFC 7541 C.4)",
    blocks: [
      "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
      "8286 84be 5886 a8eb 1064 9cbf",
      "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ],
  },
])("requests of one connection $what", ({ blocks }) => {
  const decoder = new HeaderDecoder();
  expect(blocks.map((block) => decode(decoder, block))).toEqual([first, second, third]);
});

test("responses evict what no longer fits into the table (RFC 7541 C.6)", () => {
  const decoder = new HeaderDecoder();
  const url = "location: https://www.example.com";
  // A table of 256 bytes.
  expect(
    decode(
      decoder,
      "3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
    ),
  ).toEqual([":status: 302", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", url]);
  expect(decode(decoder, "4883 640e ffc1 c0bf")).toEqual([
    ":status: 307",
    "cache-control: private",
    "date: Mon, 21 Oct 2013 20:13:21 GMT",
    url,
  ]);
  expect(
    decode(
      decoder,
      "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ),
  ).toEqual([
    ":status: 200",
    "cache-control: private",
    "date: Mon, 21 Oct 2013 20:13:22 GMT",
    url,
    "content-encoding: gzip",
    "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
  ]);
});

test.each([
  ["index 0", "80"],
  ["an index beyond the tables", "be"],
  ["a name with an index beyond the tables", "7f00 00"],
  ["a number that is cut off", "ff"],
  ["a number that does not end", "ff80 8080 8080 8080 01"],
  ["a string that is cut off", "4003 6162"],
  ["padding of more than a byte", "0082 1fff 0161"],
  ["padding of zeros", "0081 1801 61"],
  ["the end of a string within it", "0084 ffff ffff 0161"],
  ["a table size after a field", "8220"],
  ["a table of more than 4096 bytes", "3fe2 1f"],
])("is an error: %s", (_, hex) => {
  expect(() => decode(new HeaderDecoder(), hex)).toThrow(CompressionError);
});

test("a field of more bytes than the table empties it", () => {
  const decoder = new HeaderDecoder();
  decodeBytes(decoder, Buffer.from("400161 0162".replaceAll(" ", ""), "hex"));
  expect(decode(decoder, "be")).toEqual(["a: b"]);
  const large = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0x81, 0x1f]), Buffer.alloc(4_096, "x")]);
  decodeBytes(decoder, large);
  expect(() => decode(decoder, "be")).toThrow(CompressionError);
});

test("of a list that is too large the rest is counted, and still enters the table", () => {
  const decoder = new HeaderDecoder();
  const sizes: number[] = [];
  const names: string[] = [];
  const block = Buffer.concat([
    Buffer.from("400161016240016301 64".replaceAll(" ", ""), "hex"),
    Buffer.alloc(10, 0xbe),
  ]);
  sizes.push(decoder.decode(block, 40, (name) => names.push(name)));
  expect([sizes, names]).toEqual([[12 * 34], ["a"]]);
  expect(decode(decoder, "bebf")).toEqual(["c: d", "a: b"]);
});

/** Fields as this server sends them: lower-case names, values of one byte a character. */
const fields = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9-]{0,40}$/), fc.stringMatching(/^[\x20-\x7e]{0,300}$/), {
  maxKeys: 12,
});

test("what the encoder makes the decoder reads, in any order on one connection", () => {
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 5 }), (lists) => {
      const decoder = new HeaderDecoder();
      for (const list of lists) {
        const expected = Object.entries(list).map(([name, value]) => `${name}: ${value}`);
        expect(decodeBytes(decoder, encodeHeaders(list))).toEqual(expected);
      }
    }),
  );
});

test("any bytes are fields or an error", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }), (blocks) => {
      const decoder = new HeaderDecoder();
      for (const block of blocks) {
        try {
          decodeBytes(decoder, block, 200);
        } catch (error) {
          expect(error).toBeInstanceOf(CompressionError);
          return;
        }
      }
    }),
    { numRuns: 2_000 },
  );
});
