import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource, type Problem } from "@xdskit/source";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const api = createEnvoyApi();

function variant(constraints: string, stat: string): string {
  return `"@type": type.googleapis.com/envoy.service.discovery.v3.Resource
resource_name:
  name: web
  dynamic_parameter_constraints: ${constraints}
resource:
  "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: web
  response_headers_to_remove: [${stat}]
`;
}

function said(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ file, line, column, code, message }) => `${file}:${line}:${column} ${code} ${message}`);
}

describe("S-LOC-03 variants in files", () => {
  test("are resources of one name, with their constraints in the wrapper", async () => {
    const directory = temporaryDirectory({
      "a.yaml": [
        variant("{ constraint: { key: env, value: prod } }", "p"),
        variant("{ not_constraints: { constraint: { key: env, value: prod } } }", "n"),
      ].join("---\n"),
    });
    const { state, problems } = await createDirectorySource({ directory, api }).load();
    expect(said(problems)).toEqual([]);
    expect(state?.layers.get("base")?.map((one) => one.variant)).toEqual([
      { name: "web", constraints: { kind: "value", key: "env", value: "prod" }, onDemand: false },
      { name: "web", constraints: { kind: "not", of: { kind: "value", key: "env", value: "prod" } }, onDemand: false },
    ]);
  });

  test("S-LOC-08 are refused where a client could be meant to have two, with both places", async () => {
    const directory = temporaryDirectory({
      "a.yaml": variant("{ constraint: { key: env, value: prod } }", "p"),
      "b.yaml": variant("{ constraint: { key: env, exists: {} } }", "e"),
    });
    const { state, problems } = await createDirectorySource({ directory, api }).load();
    expect(state).toBeUndefined();
    expect(said(problems)).toEqual([
      'b.yaml:7:9 VARIANTS_AMBIGUOUS envoy.config.route.v3.RouteConfiguration "web" in layer base: expected constraints of which no client meets two, got env = "prod"; env exists',
    ]);
    expect(problems[0]?.related).toMatchObject({ file: "a.yaml", line: 7 });
  });

  test("a constraint that says nothing of its parameter is found where it stands", async () => {
    const directory = temporaryDirectory({ "a.yaml": variant("{ constraint: { key: env } }", "p") });
    const { problems } = await createDirectorySource({ directory, api }).load();
    expect(problems.map(({ line, code }) => [line, code])).toEqual([[4, "CONSTRAINT_INCOMPLETE"]]);
  });
});
