import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentDigest } from "@xdskit/envoy-api";
import { createResource, type Resource } from "@xdskit/protocol";
import { createFileExport, type FileExport } from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FileSource } from "../src/config/client-config.ts";
import { createFileTransport } from "../src/transport/file/file-transport.ts";
import type { Transport } from "../src/transport/transport.ts";
import { fakeListener, namesIn } from "./support/fake-listener.ts";
import { CLUSTER, fileSource, request, testApi } from "./support/sources.ts";

let directory: string;
let exporter: FileExport;
let transport: Transport<FileSource>;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-client-export-"));
});
afterEach(async () => {
  await transport.close();
  await exporter.close();
  rmSync(directory, { recursive: true });
});

const layouts = [false, true].flatMap((symlinks) =>
  (["yaml", "json", "pb", "pb_text"] as const).map((format) => ({ format, symlinks })),
);

test.each(layouts)("C-FS-03 C-FS-10 what our own server writes: %o", async ({ format, symlinks }) => {
  exporter = createFileExport({ api: testApi(), files: { directory, format, symlinks, settleMs: 1 } });
  await exporter.start();
  exporter.commit(put("a"));
  await exporter.whenInSync();
  const path = join(directory, readdirSync(directory).find((name) => name.startsWith("cds.")) ?? "none");
  transport = createFileTransport({ api: testApi() });
  const listener = fakeListener();
  const watchedDirectory = symlinks ? directory : undefined;
  const source = fileSource(path, { watchedDirectory, isMoveOnly: true });
  const stream = transport.open({ source, server: undefined, onlyType: CLUSTER }, listener);
  stream.send(request(CLUSTER), false);
  expect(namesIn((await listener.next("response")).bytes)).toEqual(["a"]);
  exporter.commit(put("b"));
  expect(namesIn((await listener.next("response")).bytes)).toEqual(["a", "b"]);
  expect(listener.kinds).toEqual(["opened", "response", "response"]);
});

function put(name: string): { changes: { layer: string; puts: readonly Resource[] }[] } {
  const { bytes } = testApi().readMessage("envoy.config.cluster.v3.Cluster", { name });
  if (bytes === undefined) throw new Error("expected a cluster");
  return { changes: [{ layer: "base", puts: [createResource({ type: CLUSTER, name, bytes }, contentDigest)] }] };
}
