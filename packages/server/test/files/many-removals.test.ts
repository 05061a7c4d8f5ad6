import { expect, test } from "vitest";
import { checkFileOutput } from "../../src/file-output.ts";
import { FileExporter } from "../../src/transport/files/exporter.ts";
import { api, startHub } from "../support/test-hub.ts";
import { CDS, temporaryDirectory } from "./file-world.ts";

test("a response may remove any number of resources", async () => {
  using out = temporaryDirectory();
  const { hub } = startHub();
  const output = checkFileOutput({ directory: out.path, node: { id: "a" } });
  const exporter = new FileExporter({ api, hub, output, inspect: () => undefined });
  const removed = Array.from({ length: 200_000 }, (_, index) => `c${index}`);
  const segments = [{ puts: [], removed, missing: [] }];
  exporter.take([{ nonce: "1", body: { variant: "delta", type: CDS, version: "1", segments } }]);
  expect(exporter.resources).toBe(0);
  await exporter.close();
  hub.close();
});
