import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { expect, test } from "vitest";
import type { DecodedResource } from "./decoded-resource.ts";
import { type FileChunk, SortedFiles } from "./file-chunks.ts";
import type { LayerFile } from "./file-content.ts";
import { LoadAssembly } from "./load-assembly.ts";
import type { Load } from "./loaded-state.ts";
import type { Problem } from "./problem.ts";
import { problemCounts } from "./problem-bound.ts";
import { noSettings } from "./settings/settings-file.ts";

const api = createEnvoyApi();
const type = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");

function resource(name: string, content: number): Resource {
  return createResource({ type, name, bytes: Uint8Array.of(content) }, contentDigest);
}

function assemblyOf(): LoadAssembly {
  return new LoadAssembly({
    api,
    allowEmpty: undefined,
    place: () => Promise.resolve([]),
    nothingFound: { code: "SOURCE_EMPTY", severity: "error", file: ".", message: "nothing" },
    fileOf: (layer) => layer,
    addToLayer: (layer) => layer,
  });
}

/** A file whose resources count how often they are looked at. */
function countingFile(name: string, resources: readonly Resource[], onLook: () => void): LayerFile {
  const decoded = resources.map((one): DecodedResource => {
    return {
      get resource(): Resource {
        onLook();
        return one;
      },
      place: undefined,
    };
  });
  return { file: name, layer: "base", content: { resources: decoded, problems: [], refused: [] } };
}

test("a change in one file looks at the resources of its neighbours, however many others there are", async () => {
  const looks: number[] = [];
  for (const count of [1_000, 2_000]) {
    let looked = 0;
    const fileOf = (index: number, content: number): LayerFile =>
      countingFile(
        `${String(index).padStart(4, "0")}.yaml`,
        [resource(`a${index}`, content), resource(`b${index}`, 0)],
        () => looked++,
      );
    const assembly = assemblyOf();
    const files = new SortedFiles();
    for (let index = 0; index < count; index++) files.set(fileOf(index, 0));
    const assemble = (content: number): Promise<Load> => {
      files.set(fileOf(1, content));
      return assembly.assemble({ chunks: files.chunks, settings: noSettings, problems: [] });
    };
    await assemble(2);
    const before = await assemble(0);
    looked = 0;
    const after = await assemble(1);
    looks.push(looked);
    const [layerBefore, layerAfter] = [before, after].map(({ state }) => state?.layers.get("base"));
    expect(layerAfter).toEqual(layerBefore?.with(2, resource("a1", 1)));
    expect([before.problems, after.problems]).toEqual([[], []]);
  }
  expect(looks[1]).toBe(looks[0]);
  expect(looks[0]).toBeLessThan(5 * 512);
});

test("of problems beyond the limit of a load none is looked at again when another file changes", async () => {
  const looks: number[] = [];
  for (const count of [40, 80]) {
    let looked = 0;
    const fileOf = (index: number): LayerFile => {
      const file = `${String(index).padStart(4, "0")}.yaml`;
      const problems = Array.from({ length: 1_000 }, (_, line): Problem => {
        return {
          ...{ code: "PGV_GTE", file, line, message: "too small" },
          get severity(): "warning" {
            looked++;
            return "warning";
          },
        };
      });
      return { file, layer: "base", content: { resources: [], problems, refused: [] } };
    };
    const assembly = assemblyOf();
    const chunks = Array.from({ length: count }, (_, index) => ({ files: [fileOf(index)] }));
    const changing = (content: number): FileChunk => {
      return { files: [countingFile("a.yaml", [resource("a", content)], () => undefined)] };
    };
    const assemble = (content: number): Promise<Load> =>
      assembly.assemble({ chunks: [...chunks, changing(content)], settings: noSettings, problems: [] });
    const before = await assemble(0);
    looked = 0;
    const after = await assemble(1);
    looks.push(looked);
    expect(problemCounts(after.problems)).toEqual({ errors: 0, warnings: count * 1_000 });
    expect(after.problems).toEqual(before.problems);
    expect(after.problems.length).toBe(10_001);
  }
  expect(looks[1]).toBe(looks[0]);
});
