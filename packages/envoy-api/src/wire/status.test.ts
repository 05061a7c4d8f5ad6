import { describe, expect, test } from "vitest";
import { WireReader } from "./reader.ts";
import { readPrintableStatus, readStatus, writeStatus } from "./status.ts";
import { WireWriter } from "./writer.ts";

function printed(message: string | Uint8Array): string {
  const writer = new WireWriter().integer(1, 13).bytes(2, Buffer.from(message));
  return readPrintableStatus(new WireReader(writer.finish())).message;
}

describe("the text of a refusal (client-behaviours A14)", () => {
  test("is given as it is if it can be printed", () => {
    expect(printed('Error adding cluster(s) a:\n\tmissing "ä" 😀')).toBe(
      'Error adding cluster(s) a:\n\tmissing "ä" 😀',
    );
  });

  test("loses what steers a terminal or turns the direction of text", () => {
    expect(printed("a\u001b[31mb\u0000c\rd\u007fe\u0085f\u202eg\u2028h")).toBe(
      "a\ufffd[31mb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg\ufffdh",
    );
  });

  test("has U+FFFD where it is not UTF-8", () => {
    expect(printed(Uint8Array.of(0x61, 0xff, 0x62))).toBe("a\ufffdb");
  });

  test("is cut at 4 KB", () => {
    const text = printed("x".repeat(1_000_000));
    expect({ bytes: Buffer.byteLength(text), end: text.slice(-8) }).toEqual({ bytes: 4096, end: "xx [cut]" });
    expect(printed("x".repeat(4096))).toBe("x".repeat(4096));
  });

  test.each([0, 1, 2, 3])("is not cut within a character (%i bytes before)", (before) => {
    const text = printed("x".repeat(before) + "😀".repeat(2000));
    expect(text).toMatch(/^x*(😀)+ \[cut\]$/u);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
    expect(Buffer.byteLength(text)).toBeGreaterThan(4096 - 4);
  });

  test("that is a megabyte of continuation bytes is cut all the same", () => {
    expect(printed(new Uint8Array(1_000_000).fill(0x80)).length).toBeLessThanOrEqual(4096);
  });
});

describe("a status", () => {
  test("keeps its details where they are asked for, and nothing is cut", () => {
    const status = {
      code: -5,
      message: "\u001b".repeat(5000),
      details: [{ typeUrl: "t", value: Uint8Array.of(1, 2) }],
    };
    const writer = new WireWriter();
    writeStatus(writer, status);
    expect(readStatus(new WireReader(writer.finish()))).toEqual(status);
  });
});
