import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ResponseFormat } from "@xdskit/envoy-api";
import { expect, test } from "vitest";
import {
  cluster,
  endpoints,
  filesBelow,
  listener,
  put,
  routes,
  secret,
  startExport,
  temporaryDirectory,
  tlsFrom,
} from "./file-world.ts";

const formats: readonly ResponseFormat[] = ["yaml", "json", "pb", "pb_text"];

test.each(formats)("S-FS-15 files as %s, byte by byte", async (format) => {
  using out = temporaryDirectory();
  const { writing } = await startExport({ directory: out.path, format });
  await using _ = writing;
  writing.commit(
    put(
      cluster("web", { connect_timeout: "0.25s", metadata: { filter_metadata: { "a:b": { n: 1e21, no: "no" } } } }),
      endpoints("web", 8080),
      routes("table", "web"),
      listener("http", "table", tlsFrom("key")),
      secret("key", "KEY\nof two lines"),
    ),
  );
  await writing.whenInSync();
  const encoding = format === "pb" ? "hex" : "utf8";
  const written = filesBelow(out.path).map((path) => `== ${path}\n${readFileSync(join(out.path, path), encoding)}\n`);
  await expect(written.join("")).toMatchFileSnapshot(`../golden/files-${format}.txt`);
});
