import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { type FileChunk, SortedFiles } from "./file-chunks.ts";
import type { LayerFile } from "./file-content.ts";
import { recountedFiles } from "./recounted-files.ts";

const type = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");

function fileOf(file: string, count: number): LayerFile {
  const resources = Array.from({ length: count }, (_, index) => ({
    resource: createResource({ type, name: `${file}-${index}`, bytes: Uint8Array.of(0) }, contentDigest),
    place: undefined,
  }));
  return { file, layer: "base", content: { resources, problems: [], refused: [] } };
}

function chunksOf(counts: Readonly<Record<string, number>>): readonly FileChunk[] {
  const files = new SortedFiles();
  for (const [file, count] of Object.entries(counts)) files.set(fileOf(file, count));
  return files.chunks;
}

test("files with more or fewer resources are named, new ones and those that are gone too", () => {
  const before = chunksOf({ "a.yaml": 1, "b.yaml": 3, "c.yaml": 2, "d.yaml": 0 });
  const after = chunksOf({ "a.yaml": 1, "b.yaml": 1, "e.yaml": 2 });
  expect(recountedFiles(before, after)).toEqual([
    { file: "b.yaml", before: 3, after: 1 },
    { file: "e.yaml", before: 0, after: 2 },
    { file: "c.yaml", before: 2, after: 0 },
  ]);
  expect(recountedFiles(before, before)).toEqual([]);
});
