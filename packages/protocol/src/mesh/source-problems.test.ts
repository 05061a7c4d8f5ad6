import { expect, test } from "vitest";
import { formatTypeUrl } from "../resource/type-url.ts";
import type { Dependency, DependencySource } from "./dependency.ts";
import { sourceProblems } from "./source-problems.ts";

const ROUTE = formatTypeUrl("envoy.config.route.v3.RouteConfiguration");
const from = (source: DependencySource, handsDown?: DependencySource): Dependency => ({
  ...{ type: ROUTE, name: "r", source, timeoutMs: 0, warms: true, fetched: "at-once" },
  ...(handsDown !== undefined && { handsDown: { source: handsDown, timeoutMs: 0 } }),
});
const bytes = new Uint8Array();

test("C-ADS-06 sources that are neither ads nor self are refused, all of them told", () => {
  expect(
    sourceProblems({
      dependencies: [from({ kind: "api", bytes }), from({ kind: "ads" }, { kind: "path", bytes })],
      loadServer: { kind: "ads" },
    }),
  ).toEqual([
    `expected ads or self as the source of r (${ROUTE}), got api_config_source`,
    `expected ads or self as the source of r (${ROUTE}), got a file`,
    "expected self as lrs_server, got ads",
  ]);
});

test("C-ADS-06 ads, self, and what names no source are taken", () => {
  const dependencies = [
    from({ kind: "ads" }),
    from({ kind: "self" }),
    from({ kind: "roots" }),
    from({ kind: "parent" }),
  ];
  expect(sourceProblems({ dependencies, loadServer: { kind: "self" } })).toEqual([]);
  expect(sourceProblems({ dependencies: [], loadServer: undefined })).toEqual([]);
});
