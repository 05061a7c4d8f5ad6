import { describe, expect, test } from "vitest";
import { WireReader } from "./reader.ts";
import { readResource, writeResource } from "./resource-message.ts";
import { WireWriter } from "./writer.ts";

function throughTheWire(ttlMs: number): { ttlMs: number | undefined; hex: string } {
  const writer = new WireWriter();
  writeResource(writer, { ttlMs });
  const bytes = writer.finish();
  return { ttlMs: readResource(new WireReader(bytes)).ttlMs, hex: Buffer.from(bytes).toString("hex") };
}

describe("a ttl", () => {
  test.each([
    [0, "3200"],
    [1000, "32020801"],
    [1, "320410c0843d"],
    [0.000_001, "32021001"],
    [-1500, "321608ffffffffffffffffff011080b6ca91feffffffff01"],
  ])("of %d ms is a Duration", (ttlMs, hex) => {
    expect(throughTheWire(ttlMs)).toEqual({ ttlMs, hex });
  });

  test("is never 0 s and 1,000,000,000 ns", () => {
    expect(throughTheWire(1999.999_999_9)).toEqual({ ttlMs: 2000, hex: "32020802" });
  });
});
