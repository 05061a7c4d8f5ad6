import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { expect, test } from "vitest";
import type { DecodedResource, LayerFile } from "./file-content.ts";
import { LoadAssembly } from "./load-assembly.ts";
import type { Load } from "./loaded-state.ts";
import { noSettings } from "./settings/settings-file.ts";

const api = createEnvoyApi();
const type = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");

function resource(name: string, content: number): Resource {
  return createResource({ type, name, bytes: Uint8Array.of(content) }, contentDigest);
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

test("a change in one file looks at no resource of the others, however many there are", async () => {
  const looks: number[] = [];
  for (const count of [3, 6]) {
    let looked = 0;
    const fileOf = (index: number, content: number): LayerFile =>
      countingFile(`${index}.yaml`, [resource(`a${index}`, content), resource(`b${index}`, 0)], () => looked++);
    const assembly = new LoadAssembly({
      api,
      allowEmpty: undefined,
      place: () => Promise.resolve([]),
      nothingFound: { code: "SOURCE_EMPTY", severity: "error", file: ".", message: "nothing" },
      fileOf: (layer) => layer,
      addToLayer: (layer) => layer,
    });
    const files = Array.from({ length: count }, (_, index) => fileOf(index, 0));
    const assemble = (content: number): Promise<Load> =>
      assembly.assemble({ files: files.with(1, fileOf(1, content)), settings: noSettings, problems: [] });
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
});
