import { fileURLToPath } from "node:url";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource } from "@xdskit/source";
import { expect, test } from "vitest";

const directory: string = fileURLToPath(new URL("../../../examples/01-serve-a-directory/config", import.meta.url));

test("the first example has no problems, and its canary group sees endpoints of its own", async () => {
  const source = createDirectorySource({ directory, api: createEnvoyApi(), validation: "reject" });
  const { state, problems } = await source.load();
  expect(problems).toEqual([]);
  expect([...(state?.layers ?? [])].map(([layer, resources]) => [layer, resources.map(({ name }) => name)])).toEqual([
    ["base", ["hello", "hello", "http", "hello.example", "main", "runtime"]],
    ["group/canary", ["hello"]],
  ]);
  expect(state?.groups).toEqual([{ name: "canary", match: { id: ["canary-*"] } }]);
});
