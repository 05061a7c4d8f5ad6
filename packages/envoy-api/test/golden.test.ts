import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { api, hex } from "./support/api.ts";

// Each folder: in.json as a person writes it; resource.json what it becomes. `npm run golden:update` writes the latter anew.
const directory = fileURLToPath(new URL("golden/resource", import.meta.url));
const cases = readdirSync(directory);

/** All that enters, with the bytes as hex and as canonical JSON, and what is said about it. */
function read(value: unknown): unknown {
  const { input, problems } = api.readResource(value);
  if (input === undefined) return { problems };
  const { bytes, ...rest } = input;
  return {
    ...rest,
    bytes: hex(bytes),
    json: api.toJson(input.type, bytes),
    problems: [...problems, ...api.validate(input.type, bytes)],
  };
}

describe("golden resources", () => {
  it("are there", () => {
    expect(cases.length).toBeGreaterThan(5);
  });

  it.each(cases)("%s", (name) => {
    const path = `${directory}/${name}/resource.json`;
    const entered = read(JSON.parse(readFileSync(`${directory}/${name}/in.json`, "utf8")));
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(path, `${JSON.stringify(entered, null, 2)}\n`);
    const expected = JSON.parse(readFileSync(path, "utf8"));
    expect(entered, "if that is intended, `npm run golden:update` writes it, to be reviewed as a diff").toEqual(
      expected,
    );
  });
});
