import { deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type CompressedMessage, Decompression } from "./decompression.ts";

const message = (account: string, text: string): CompressedMessage => ({
  account,
  compression: "gzip",
  bytes: gzipSync(text),
  maxBytes: 100,
  isWanted: () => true,
});

test("two at once, and clients take turns however many messages each has", async () => {
  const decompression = new Decompression();
  const done: string[] = [];
  const running: number[] = [];
  const one = async (host: string, text: string): Promise<void> => {
    const plain = await decompression.inflate(message(host, text));
    running.push(decompression.running);
    done.push(Buffer.from(plain ?? []).toString());
  };
  const flood = ["a1", "a2", "a3", "a4", "a5", "a6"].map((text) => one("a", text));
  await Promise.all([...flood, one("b", "b1"), one("c", "c1")]);
  expect(Math.max(...running)).toBeLessThanOrEqual(2);
  expect(done.indexOf("b1")).toBeLessThan(done.indexOf("a5"));
  expect(done.indexOf("c1")).toBeLessThan(done.indexOf("a6"));
  expect([...done].sort()).toEqual(["a1", "a2", "a3", "a4", "a5", "a6", "b1", "c1"]);
  expect(decompression.running).toBe(0);
});

test("nothing is done for a call that is over, and what fails gives its turn on", async () => {
  const decompression = new Decompression();
  const gone = decompression.inflate({ ...message("a", "x"), isWanted: () => false });
  const bad = decompression.inflate({ ...message("a", "x"), bytes: Buffer.from("no gzip") });
  const long = decompression.inflate(message("a", "x".repeat(101)));
  const whole = decompression.inflate({ ...message("a", ""), compression: "deflate", bytes: deflateSync("whole") });
  expect(await gone).toBeUndefined();
  await expect(bad).rejects.toMatchObject({ status: { code: 13 }, limit: undefined });
  await expect(long).rejects.toMatchObject({ status: { code: 8 }, limit: "maxRequestBytes" });
  expect(Buffer.from((await whole) ?? []).toString()).toBe("whole");
  expect(decompression.running).toBe(0);
});
