import { describe, expect, test } from "vitest";
import { type FramedMessage, type FramingError, MessageParser, messagePrefix } from "./framing.ts";

const frame = (text: string): Uint8Array => Buffer.concat([messagePrefix(text.length), Buffer.from(text)]);

function readAll(chunks: readonly Uint8Array[]): readonly string[] {
  const parser = new MessageParser({ maxBytes: 1_000, maxSmallFragments: 1_000 });
  const messages: FramedMessage[] = [];
  for (const chunk of chunks) {
    parser.push(chunk);
    for (let message = parser.next(); message !== undefined; message = parser.next()) messages.push(message);
  }
  parser.end();
  return messages.map(({ bytes }) => Buffer.from(bytes).toString());
}

const bytes = Buffer.concat(["one", "", "three and more", "4"].map(frame));
const said = ["one", "", "three and more", "4"];

test.each(Array.from({ length: bytes.byteLength }, (_, i) => i))("reads messages cut at %i", (cut) => {
  expect(readAll([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(said);
});

test.each([1, 2, 3, 7])("reads messages in chunks of %i", (size) => {
  const chunks = Array.from({ length: Math.ceil(bytes.byteLength / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
  expect(readAll(chunks)).toEqual(said);
});

test("says whether a message is compressed", () => {
  const parser = new MessageParser({ maxBytes: 10, maxSmallFragments: 1_000 });
  parser.push(Buffer.from([1, 0, 0, 0, 1, 65]));
  expect(parser.next()).toEqual({ isCompressed: true, bytes: Buffer.from("A") });
});

describe("refuses", () => {
  test.each([
    ["a message that is too long, by its prefix alone", Buffer.from([0, 0, 0, 4, 0]), 8],
    ["a flag that is none", Buffer.from([2, 0, 0, 0, 0]), 13],
  ])("%s", (_, chunk, code) => {
    const parser = new MessageParser({ maxBytes: 1_000, maxSmallFragments: 1_000 });
    parser.push(chunk);
    expect(() => parser.next()).toThrow(expect.objectContaining({ status: expect.objectContaining({ code }) }));
  });

  test.each([
    [[100], undefined],
    [Array<number>(9).fill(31), undefined],
    [[350, ...Array<number>(9).fill(1)], undefined],
    [Array<number>(10).fill(31), "maxSmallFragments"],
    [Array<number>(10).fill(35), undefined],
  ])("a message in more than 10 fragments if they are small: %j bytes", (sizes, limit) => {
    const parser = new MessageParser({ maxBytes: 1_000, maxSmallFragments: 10 });
    const passed = (): unknown => {
      try {
        for (const size of sizes) {
          parser.push(new Uint8Array(size));
          parser.next();
        }
        return undefined;
      } catch (error) {
        return (error as FramingError).limit;
      }
    };
    parser.push(messagePrefix(1_000));
    expect(passed()).toBe(limit);
  });

  test("fragments of one message only", () => {
    const parser = new MessageParser({ maxBytes: 1_000, maxSmallFragments: 10 });
    for (let message = 0; message < 20; message++) {
      for (const byte of frame("1")) parser.push(Buffer.of(byte));
      expect(parser.next()).toMatchObject({ isCompressed: false });
    }
  });

  test.each([1, 5, 7])("a stream that ends %i bytes into a message", (length) => {
    const parser = new MessageParser({ maxBytes: 1_000, maxSmallFragments: 1_000 });
    parser.push(frame("four").subarray(0, length));
    expect(parser.next()).toBeUndefined();
    expect(() => parser.end()).toThrow(/within a message/);
  });
});
