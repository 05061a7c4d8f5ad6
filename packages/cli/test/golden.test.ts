import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";

/**
 * `golden/<command>/<case>.txt`: a command line, and everything that comes of it. `UPDATE_GOLDEN=1` writes what comes
 * instead of comparing it; review the difference. Commands run in `golden/<command>`; `ADMIN` stands for the address of
 * an admin API that answers with the JSON files of all commands, as if `revisions-3.json` were `/api/v1/revisions/3`.
 */
const root = fileURLToPath(new URL("golden", import.meta.url));
const isUpdate = process.env["UPDATE_GOLDEN"] === "1";
const remedy = "if that is intended, `npm run golden:update` writes it, to be reviewed as a diff";

const answers = readdirSync(root, { recursive: true, encoding: "utf8" });

let admin: Server;
let address = "";

beforeAll(async () => {
  admin = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://admin");
    const name = `${pathname.replace("/api/v1/", "").replaceAll("/", "-")}.json`;
    const path = answers.find((each) => basename(each) === name);
    response.setHeader("content-type", "application/json");
    response.writeHead(path === undefined ? 404 : 200).end(path === undefined ? "{}" : readFileSync(join(root, path)));
  });
  await new Promise<void>((resolve) => admin.listen(0, "127.0.0.1", resolve));
  const bound = admin.address();
  address = typeof bound === "object" && bound !== null ? `127.0.0.1:${bound.port}` : "";
});

afterAll(() => new Promise((resolve) => admin.close(resolve)));

for (const command of readdirSync(root)) {
  describe(command, () => {
    const cases = readdirSync(join(root, command)).filter((file) => file.endsWith(".txt"));
    test("has cases", () => expect(cases).not.toEqual([]));
    test.each(cases)("%s", async (file) => {
      const path = join(root, command, file);
      const expected = readFileSync(path, "utf8");
      const line = expected.split("\n")[0] ?? "";
      const actual = await transcript(line, join(root, command));
      if (isUpdate) writeFileSync(path, actual);
      else expect(actual, `${file} differs; ${remedy}`).toBe(expected);
    });
  });
}

async function transcript(line: string, cwd: string): Promise<string> {
  const [prompt, xds, ...words] = line.split(" ");
  expect([prompt, xds]).toEqual(["$", "xds"]);
  const columns = words[0]?.startsWith("COLUMNS=") ? Number(words.shift()?.slice(8)) : undefined;
  const io = new CapturedIo({ cwd, ...(columns !== undefined && { terminalColumns: columns }) });
  const argv = words.map((word) => word.replace("ADMIN", address));
  const code = await run(argv, io);
  const parts = [line, io.stdout.text];
  if (io.stderr.text !== "") parts.push("--- stderr", io.stderr.text);
  return [...parts, `--- exit ${code}`, ""].join("\n").replaceAll(address, "ADMIN").replaceAll(cwd, "CWD");
}
