import { expect, test } from "vitest";
import { readSettingsFile } from "./settings-file.ts";

const read = (text: string): ReturnType<typeof readSettingsFile> => readSettingsFile(new TextEncoder().encode(text));

test("access rules of xdskit.yaml are those of the API", () => {
  const { access, problems } = read(`
access:
  loopback: rules
  rules:
    - name: services
      identities: ["spiffe://prod/{service}"]
      nodes: ["{service}-*"]
      metadata: { zone: "z*" }
    - { identities: [anyone], types: [Secret], deny: true }
`);
  expect(problems).toEqual([]);
  expect(access).toEqual({
    loopback: "rules",
    rules: [
      {
        name: "services",
        identities: ["spiffe://prod/{service}"],
        nodes: ["{service}-*"],
        metadata: { zone: "z*" },
      },
      { identities: ["anyone"], types: ["Secret"], deny: true },
    ],
  });
});

test("S-ACC-05 mistakes in the form of access rules have a place", () => {
  const { problems } = read(`
access:
  loopback: yes
  rules:
    - { node: ["a"] }
    - { identities: anyone, deny: 1 }
`);
  expect(problems.map(({ line, path, code }) => [line, path, code])).toEqual([
    [3, "access.loopback", "SETTING_WRONG_TYPE"],
    [5, "access.rules[0].node", "SETTING_UNKNOWN"],
    [5, "access.rules[0].identities", "SETTING_WRONG_TYPE"],
    [6, "access.rules[1].deny", "SETTING_WRONG_TYPE"],
    [6, "access.rules[1].identities", "SETTING_WRONG_TYPE"],
  ]);
});

test("S-ACC-05 mistakes in what the rules say have a place", () => {
  const { problems } = read(`
access:
  rules:
    - identities: ["dns:{site}.example", edge]
    - identities: ["dns:{site}.example", anyone]
      nodes:
        - x
        - "{site}-*"
`);
  expect(problems.map(({ line, path, code }) => [line, path, code])).toEqual([
    [4, "access.rules[0].identities[1]", "SETTING_INVALID"],
    [8, "access.rules[1].nodes[1]", "SETTING_INVALID"],
  ]);
});

test("S-ACC-05 mistakes in the form of a rule do not hide those in what it says, and each is told once", () => {
  const { problems } = read(`
access:
  rules:
    - { identities: ["cn:ops"], node: ["a"], metadata: { zone: 1 } }
    - { identities: anyone, entryPoints: [grpc] }
    - { identities: [anyone] }
    - { identities: [anyone], types: [sds] }
`);
  expect(problems.map(({ line, path, code }) => [line, path, code])).toEqual([
    [4, "access.rules[0].node", "SETTING_UNKNOWN"],
    [4, "access.rules[0].metadata", "SETTING_WRONG_TYPE"],
    [5, "access.rules[1].identities", "SETTING_WRONG_TYPE"],
    [4, "access.rules[0].identities[0]", "SETTING_INVALID"],
    [5, "access.rules[1].entryPoints[0]", "SETTING_INVALID"],
    [7, "access.rules[3].types[0]", "SETTING_INVALID"],
  ]);
});
