import { createEnvoyApi } from "@xdskit/envoy-api";
import { expect, test } from "vitest";
import { typeWords } from "./type-named.ts";

test("help and completion name every type that has a short name", () => {
  const known = createEnvoyApi().types.flatMap(({ shortName }) => (shortName === "" ? [] : [shortName]));
  expect([...typeWords].sort()).toEqual([...new Set(known)].sort());
});
