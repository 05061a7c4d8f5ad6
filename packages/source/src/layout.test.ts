import { expect, test } from "vitest";
import { folderOfLayer, roleOf } from "./layout.ts";

test.each([
  ["a.yaml", "base", "yaml"],
  ["a.YML", "base", "yaml"],
  ["deep/er/a.json", "base", "json"],
  ["a.pb", "base", "proto"],
  ["a.pb_text", "base", "text"],
  ["a.txtpb", "base", "text"],
  ["groups/edge/a.yaml", "group/edge", "yaml"],
  ["groups/edge/more/a.yaml", "group/edge", "yaml"],
  ["nodes/edge-7/a.json", "node/edge-7", "json"],
  ["nodes/a%2Fb%25/a.yaml", "node/a/b%", "yaml"],
  ["elsewhere/nodes/edge-7/a.yaml", "base", "yaml"],
  ["deep/xdskit.yaml", "base", "yaml"],
])("%s is in %s", (path, layer, format) => {
  expect(roleOf(path)).toEqual({ kind: "resources", layer, format });
});

test.each([
  ".a.yaml",
  "a.yaml.swp",
  "a.yaml~",
  "#a.yaml#",
  ".#a.yaml",
  "a.yaml.tmp",
  "a.bak",
  "4913",
  "a",
  "a.md",
  "a.js",
  "a.txt",
])("%s is ignored", (path) => {
  expect(roleOf(path)).toEqual({ kind: "ignored" });
});

test.each([
  ["a.ymal", ".yaml"],
  ["a.jsno", ".json"],
  ["a.yamll", ".yaml"],
  ["a.textproto", ".txtpb"],
  ["a.pbtxt", ".txtpb"],
])("%s is ignored, and probably meant to be %s", (path, meant) => {
  expect(roleOf(path)).toEqual({ kind: "ignored", meant });
});

test.each(["groups/a.yaml", "nodes/a.yaml", "nodes/50%/a.yaml", "nodes/%zz/a.yaml", "xdskit.yml", "xdskit.json"])(
  "%s is in the wrong place",
  (path) => {
    expect(roleOf(path).kind).toBe("misplaced");
  },
);

test("the settings are at the root only", () => {
  expect(roleOf("xdskit.yaml")).toEqual({ kind: "settings" });
});

test.each(["base", "group/edge", "node/a/b%c", "node/x:y*z"])("the folder of %s leads back to it", (layer) => {
  const folder = folderOfLayer(layer);
  expect(roleOf(folder === "." ? "a.yaml" : `${folder}/a.yaml`)).toMatchObject({ layer });
});
