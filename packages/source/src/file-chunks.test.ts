import fc from "fast-check";
import { expect, test } from "vitest";
import type { DecodedResource } from "./decoded-resource.ts";
import { type FileChunk, SortedFiles } from "./file-chunks.ts";
import type { LayerFile } from "./file-content.ts";

function fileOf(file: string, resources: number): LayerFile {
  const content = { resources: Array.from<DecodedResource>({ length: resources }), problems: [], refused: [] };
  return { file, layer: "base", content };
}

const filesOf = (chunks: readonly FileChunk[]): readonly LayerFile[] => chunks.flatMap(({ files }) => files);

/** Files are set (with so many resources) and deleted (undefined). */
const histories = fc.array(
  fc.tuple(
    fc.integer({ min: 0, max: 60 }).map((n) => `${n}.yaml`),
    fc.option(fc.constantFrom(0, 1, 100, 600), { freq: 3, nil: undefined }),
  ),
  { maxLength: 120 },
);

test("files are those that were set last, by path, whatever came before", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const sorted = new SortedFiles();
      const expected = new Map<string, LayerFile>();
      for (const [path, resources] of history) {
        if (resources === undefined) {
          sorted.delete(path);
          expected.delete(path);
        } else {
          const file = fileOf(path, resources);
          sorted.set(file);
          expected.set(path, file);
        }
        const wanted = [...expected].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file);
        expect(filesOf(sorted.chunks)).toEqual(wanted);
      }
    }),
    { numRuns: 50 },
  );
});

test("a change makes one chunk anew, however many files there are, and nothing else makes any", () => {
  const changed = [5_000, 10_000].map((count) => {
    const sorted = new SortedFiles();
    for (let index = 0; index < count; index++) sorted.set(fileOf(`${index}.yaml`, 2));
    const before = sorted.chunks;
    expect(sorted.chunks).toBe(before);
    sorted.set(fileOf("77.yaml", 2));
    const fresh = sorted.chunks.filter((chunk) => !before.includes(chunk));
    expect(before.length).toBeGreaterThan(count / 200);
    return { fresh: fresh.length, isSmall: filesOf(fresh).length <= 512 / 3 };
  });
  expect(changed).toEqual([
    { fresh: 1, isSmall: true },
    { fresh: 1, isSmall: true },
  ]);
});
