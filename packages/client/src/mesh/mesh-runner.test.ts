import { TypedExtensionConfig } from "@xdskit/envoy-api/resources";
import { expect, test } from "vitest";
import { Work } from "../../../protocol/test/support/work.ts";
import { grpcSource, server, testApi } from "../../test/support/sources.ts";
import { type MeshGround, MeshRunner } from "./mesh-runner.ts";
import { StaticResources } from "./static-source.ts";

const type = TypedExtensionConfig.typeUrl;

/** The steps to look up whether each of so many extension configs fits where a mesh uses it. */
function lookUp(count: number): number {
  const names = Array.from({ length: count }, (_, i) => `x${i}`);
  const source = grpcSource([server(1)]);
  const ground = {
    api: testApi(),
    config: { ads: source, authorities: new Map(), nodeContextParams: new Map() },
    statics: new StaticResources(undefined, testApi()),
    driver: { watch: () => () => {} },
    report: () => {},
  } as unknown as MeshGround;
  const listener = { changed: () => {}, started: () => {}, demandEnded: () => {} };
  const runner = new MeshRunner(ground, { followsClusters: false }, listener);
  const id = runner.sources.add(source);
  for (const [root, term] of names.entries())
    runner.on({ kind: "root-added", root: { root, source: id, type, term, timeoutMs: 0 } });
  const steps = new Work().of(() => {
    for (const name of names) expect(runner.problemWith(type, name, undefined)).toBe(undefined);
  });
  runner.close();
  return steps;
}

test("whether an extension config fits is found without a look at the others of the mesh", () => {
  expect(lookUp(200)).toBeLessThan(2.1 * lookUp(100));
});
