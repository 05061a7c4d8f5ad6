import { getOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { createSchema } from "./schema.ts";

test("twins are those that the annotations of the linked messages name", () => {
  const { registry, twins } = createSchema();
  const versioning = registry.getExtension("udpa.annotations.versioning");
  if (versioning === undefined) throw new Error("no annotation of versions");
  const named = [...registry].flatMap((type) => {
    if (type.kind !== "message" || type.typeName.startsWith("envoy.admin.")) return [];
    const { previousMessageType } = getOption(type, versioning) as unknown as { readonly previousMessageType: string };
    const isOfV2 = previousMessageType !== "" && !/\.v3(alpha)?\./.test(previousMessageType);
    return isOfV2 ? [[type.typeName, previousMessageType] as const] : [];
  });
  expect(named.length).toBeGreaterThan(400);
  expect(new Map(twins.pairs)).toEqual(new Map(named));
});
