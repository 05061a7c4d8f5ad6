import { expect, test } from "vitest";
import { SourceText } from "./source-text.ts";

const conflict = (ours: string, theirs: string): string =>
  `<<<<<<< HEAD\n${ours}\n=======\n${theirs}\n>>>>>>> other branch\n`;

function read(format: "json" | "yaml", text: string): unknown {
  const source = new SourceText(text, format);
  return source.parsed.troubles.map(({ code, message, offset }) => [code, message, source.showOffset(offset).line]);
}

const message = "expected one version of these lines, got both sides of a conflict that git left";

test("both sides of a conflict that git left are one mistake, at the line where it begins", () => {
  const yaml = `name: a\n${conflict("connect_timeout: 1s", "connect_timeout: 2s")}type: STATIC\n`;
  expect(read("yaml", yaml + yaml)).toEqual([
    ["YAML_SYNTAX", message, 2],
    ["YAML_SYNTAX", message, 9],
  ]);
  expect(read("json", `{\n${conflict('"name": "a"', '"name": "b"')}}\n`)).toEqual([["JSON_SYNTAX", message, 2]]);
});

test("a text that shows a conflict is no conflict, and other mistakes are told as they are", () => {
  expect(read("yaml", "text: |\n  x\n  <<<<<<< HEAD\n")).toEqual([]);
  expect(read("json", '{\n "a" 1 }')).toEqual([["JSON_SYNTAX", expect.stringContaining('":"'), 2]]);
});
