import fc from "fast-check";
import { expect, test } from "vitest";
import { LineBlock } from "./line-block.ts";
import { formatLine } from "./segment-format.ts";

const digest = "0123456789abcdef0123456789abcdef";
const body = fc.uint8Array({ maxLength: 600 }).map((bytes) => ({ kind: "body", bytes }) as const);
const text = fc.string({ unit: "binary" }).map((content) => ({ kind: "text", content }) as const);

test("the lines of bodies are those that their texts make", () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.oneof(body, text))), (blocks) => {
      const block = new LineBlock();
      for (const lines of blocks) {
        block.clear();
        const texts = lines.map((line) =>
          line.kind === "text"
            ? formatLine("record", line.content)
            : formatLine("body", `${digest} ${Buffer.from(line.bytes).toString("base64")}`),
        );
        const lengths = lines.map((line, index) =>
          line.kind === "text" ? block.addText(texts[index] ?? "") : block.addBody(digest, line.bytes),
        );
        expect(lengths).toEqual(texts.map((one) => Buffer.byteLength(one)));
        expect(Buffer.from(block.bytes)).toEqual(Buffer.from(texts.join("")));
      }
    }),
  );
});

test("a line that is longer than the memory is as whole as any", () => {
  const block = new LineBlock();
  for (const length of [3, 2_000_000, 5]) {
    const bytes = new Uint8Array(length).fill(length % 251);
    block.clear();
    block.addText("first\n");
    block.addBody(digest, bytes);
    const line = formatLine("body", `${digest} ${Buffer.from(bytes).toString("base64")}`);
    expect(Buffer.from(block.bytes).toString("latin1") === `first\n${line}`).toBe(true);
  }
});
