import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { createModuleSource, type Load, type ModuleSourceOptions, type ResourceSource } from "@xdskit/source";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryDirectory, write } from "./support/temporary-directory.ts";

const api = createEnvoyApi();

/** Polling is off: what is seen was told by the system. */
const never = 3_600_000;

const makeCluster = `export const cluster = (name, more = {}) => ({
  "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  name, connectTimeout: "1s", type: "STATIC", loadAssignment: { clusterName: name }, ...more,
});
`;

function sourceOf(directory: string, module: string, options: Partial<ModuleSourceOptions> = {}): ResourceSource {
  return createModuleSource({ module: join(directory, module), api, pollMs: never, timeoutMs: 60_000, ...options });
}

/** One load of the last of these files. */
async function loadOf(
  files: Readonly<Record<string, string>>,
  options: Partial<ModuleSourceOptions> = {},
): Promise<Load> {
  const directory = temporaryDirectory({ "make.js": makeCluster, "package.json": '{ "type": "module" }', ...files });
  return await sourceOf(directory, Object.keys(files).at(-1) ?? "", options).load();
}

function namesIn({ state }: Load): Readonly<Record<string, readonly string[]>> | undefined {
  return state && Object.fromEntries([...state.layers].map(([layer, all]) => [layer, all.map(({ name }) => name)]));
}

describe("the default export is", () => {
  test.each<readonly [string, string, Readonly<Record<string, readonly string[]>>]>([
    ["a list, the layer base", "[cluster('a'), cluster('b')]", { base: ["a", "b"] }],
    ["a list of lists", "[[cluster('a')], [cluster('b')]].flat()", { base: ["a", "b"] }],
    ["a function", "() => [cluster('a')]", { base: ["a"] }],
    ["an async function", "async () => ({ layers: { base: [cluster('a')] } })", { base: ["a"] }],
    [
      "layers",
      "{ layers: { base: [cluster('a')], 'node/edge-7': [cluster('a', { connectTimeout: '2s' })] } }",
      { base: ["a"], "node/edge-7": ["a"] },
    ],
  ])("%s", async (_, text, expected) => {
    const load = await loadOf({ "mesh.js": `import { cluster } from "./make.js";\nexport default ${text};\n` });
    expect([load.problems, namesIn(load)]).toEqual([[], expected]);
  });

  test("typed, where it is TypeScript, with JSON beside it", async () => {
    const load = await loadOf({
      "names.json": '["a", "b"]',
      "make.ts": `export interface Named { readonly name: string }
export function cluster<T extends Named>({ name }: T): object {
  return { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name, type: "STATIC", loadAssignment: { clusterName: name } };
}
`,
      "mesh.ts": `import { cluster, type Named } from "./make.ts";
import names from "./names.json" with { type: "json" };
const all: readonly Named[] = names.map((name: string) => ({ name }));
export default all.map(cluster);
`,
    });
    expect([load.problems, namesIn(load)]).toEqual([[], { base: ["a", "b"] }]);
  });

  test("placed by the groups of xdskit.yaml beside it", async () => {
    const load = await loadOf({
      "xdskit.yaml": "groups:\n- name: canary\n  match: { metadata: { track: canary } }\n",
      "mesh.js": `import { cluster } from "./make.js";
export default { layers: { base: [cluster("a")], "group/canary": [cluster("a")] } };
`,
    });
    expect(load.problems).toEqual([]);
    expect(load.state?.groups).toEqual([{ name: "canary", match: { metadata: { track: ["canary"] } } }]);
  });
});

describe("a problem says", () => {
  test("where in the data it is", async () => {
    const { state, problems } = await loadOf({
      "mesh.js": `import { cluster } from "./make.js";
export default { layers: {
  base: [cluster("a"), cluster("b", { connectTimeout: "soon" }), cluster("c", { nmae: 1 })],
  "node/x": [cluster("a"), cluster("a")],
} };
`,
    });
    expect(state).toBeUndefined();
    expect(problems.map(({ code, file, path, line }) => [code, file, path, line])).toEqual([
      ["RESOURCE_DUPLICATE", "mesh.js", '["node/x"][1]', undefined],
      ["DURATION_INVALID", "mesh.js", "base[1].connectTimeout", undefined],
      ["FIELD_UNKNOWN", "mesh.js", "base[2].nmae", undefined],
    ]);
  });

  test.each<readonly [string, string, string]>([
    ["a syntax error of JavaScript", "lib.mjs", "export const x = 1;\nconst y = {\n  a: 1,,\n};\n"],
    ["a syntax error of TypeScript", "lib.ts", "export const x: number = 1;\nconst y = {\n  a: 1,,\n};\n"],
    ["what is thrown", "lib.mjs", "export const x = 1;\n\nthrow new Error('no inventory');\n"],
    [
      "what is thrown by TypeScript",
      "lib.ts",
      "interface X {}\n\nthrow new Error('no inventory' as string);\nexport {};\n",
    ],
  ])("in which file and line %s is", async (what, file, text) => {
    const { state, problems } = await loadOf({ [file]: text, "mesh.mjs": `import "./${file}";\nexport default [];\n` });
    expect(state).toBeUndefined();
    expect(problems).toEqual([
      expect.objectContaining({ code: "MODULE_FAILED", severity: "error", file, line: 3, column: expect.any(Number) }),
    ]);
    if (what.includes("thrown")) expect(problems[0]?.message).toBe("no inventory");
  });

  test.each<readonly [string, string, string, string]>([
    ["no default export", "export const a = [];", "MODULE_INVALID", "expected a default export, got none"],
    ["another kind of export", "export default 5;", "MODULE_INVALID", "got a number"],
    ["a layer that is none", "export default { layers: { bsae: [] } };", "MODULE_INVALID", 'got "bsae"'],
    ["a function in the data", "export default [{ a: { b: () => 1 } }];", "MODULE_INVALID", "[0].a.b, got a function"],
    [
      "a circle in the data",
      "const a = {}; a.a = a; export default [a];",
      "MODULE_INVALID",
      "[0].a, got one inside itself",
    ],
    ["an import that is not there", 'import "./none.js"; export default [];', "MODULE_FAILED", "none.js"],
    ["an end of the process", "process.exit(3);", "MODULE_FAILED", "ended its thread with code 3"],
    [
      "a rejection that nobody handles",
      "Promise.reject(new Error('lost')); await new Promise(() => setInterval(() => {}, 1000)); export default [];",
      "MODULE_FAILED",
      "lost",
    ],
    ["nothing at all", "export default [];", "SOURCE_EMPTY", "expected resources"],
  ])("what is wrong with %s", async (_, text, code, words) => {
    const { state, problems } = await loadOf({ "mesh.mjs": text });
    expect([state, problems.map((one) => one.code)]).toEqual([undefined, [code]]);
    expect(problems[0]?.message).toContain(words);
  });

  test("that an endless loop was stopped, and when it runs again", async () => {
    const { problems } = await loadOf({ "mesh.mjs": "for (;;);" }, { timeoutMs: 300 });
    expect(problems).toEqual([
      {
        ...{ code: "MODULE_TIMEOUT", severity: "error", file: "mesh.mjs" },
        message: "expected the module to return its resources within 300 ms of its start, it was stopped",
        hint: "its imports count too: look for an endless loop or a slow import, or raise limits.module-timeout; it runs again when one of its files changes, or on SIGHUP",
      },
    ]);
  });
});

test.skipIf("typescript" in process.features && process.features.typescript !== false)(
  "a compiler that cannot strip types is named, with what can",
  async () => {
    const load = await loadOf({
      "node_modules/typescript/package.json": '{ "name": "typescript", "main": "index.cjs" }',
      "node_modules/typescript/index.cjs": 'module.exports = { version: "7.0.2" };',
      "mesh.ts": "export default [];\n",
    });
    expect(load.problems).toEqual([
      {
        ...{ code: "MODULE_FAILED", severity: "error", file: "mesh.ts", line: 1, column: 1 },
        message: "typescript 7.0.2 has no function that strips types",
        hint: "install typescript@6, or use Node 22.18 or later",
      },
    ]);
  },
);

test("the limit is in bytes of UTF-8", async () => {
  const umlauts = "ä".repeat(100);
  const module = `import { cluster } from "./make.js"; export default [cluster("${umlauts}")];`;
  const loadWithin = (maxBytes: number): Promise<Load> => loadOf({ "mesh.js": module }, { maxBytes });
  const { problems } = await loadWithin(450);
  expect(problems.map(({ code, message }) => [code, message])).toEqual([
    ["FILE_TOO_LARGE", expect.stringMatching(/^expected at most 450 bytes of resources, got 5\d\d$/)],
  ]);
  expect((await loadWithin(600)).problems).toEqual([]);
});

test("what the module prints is handed on", async () => {
  let printed = "";
  const onOutput = (text: string): void => {
    printed += text;
  };
  await loadOf({ "mesh.mjs": 'console.log("hello"); console.error("there"); export default [];' }, { onOutput });
  expect(printed).toBe("hello\nthere\n");
});

describe("a watch", () => {
  /** Loads one after the other, as a server would take them. */
  function watch(directory: string): AsyncIterator<Load> {
    const abort = new AbortController();
    const loads = sourceOf(directory, "mesh.mjs").watch(abort.signal)[Symbol.asyncIterator]();
    onTestFinished(() => abort.abort());
    return loads;
  }

  const nextOf = async (loads: AsyncIterator<Load>): Promise<Load> => (await loads.next()).value as Load;

  /** As editors do: the file is never seen half written. */
  function replace(directory: string, path: string, text: string): void {
    write(directory, `${path}~`, text);
    renameSync(join(directory, `${path}~`), join(directory, path));
  }

  const mesh = `import { cluster } from "./make.mjs";
import { names } from "./lib/names.mjs";
export default names.map((name) => cluster(name));
`;

  test("follows every imported file, keeps what did not change, and sees mistakes and their end", async () => {
    const directory = temporaryDirectory({
      "make.mjs": makeCluster,
      "lib/names.mjs": 'export const names = ["a"];\n',
      "mesh.mjs": mesh,
    });
    const loads = watch(directory);
    expect(namesIn(await nextOf(loads))).toEqual({ base: ["a"] });
    replace(directory, "lib/names.mjs", 'export const names = ["a", "b"];\n');
    const second = await nextOf(loads);
    expect(namesIn(second)).toEqual({ base: ["a", "b"] });
    replace(directory, "lib/names.mjs", 'export const names = ["a",, "b"\n');
    expect(await nextOf(loads)).toMatchObject({ state: undefined, problems: [{ file: "lib/names.mjs", line: 2 }] });
    rmSync(join(directory, "lib/names.mjs"));
    expect(await nextOf(loads)).toMatchObject({
      state: undefined,
      problems: [{ code: "MODULE_FAILED", file: "mesh.mjs" }],
    });
    // It is watched although nobody could read it.
    replace(directory, "lib/names.mjs", 'export const names = ["a", "b"];\n');
    const last = await nextOf(loads);
    expect(namesIn(last)).toEqual({ base: ["a", "b"] });
    expect(last.state?.layers.get("base")?.[0]).toBe(second.state?.layers.get("base")?.[0]);
  });

  test("ends with a return while it waits for a change", async () => {
    const directory = temporaryDirectory({ "mesh.mjs": "export default [];\n" });
    const loads = watch(directory);
    await nextOf(loads);
    const waiting = loads.next();
    expect(await loads.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  test("tells nothing of a change that changes no resource", async () => {
    const directory = temporaryDirectory({
      "make.mjs": makeCluster,
      "lib/names.mjs": 'export const names = ["a"];\n',
      "mesh.mjs": mesh,
    });
    const loads = watch(directory);
    await nextOf(loads);
    const next = nextOf(loads);
    replace(directory, "mesh.mjs", `// a comment\n${mesh}`);
    replace(directory, "lib/names.mjs", 'export const names = ["a"];\n\n');
    replace(directory, "lib/names.mjs", 'export const names = ["b"];\n');
    expect(namesIn(await next)).toEqual({ base: ["b"] });
  });

  test("a module that was stopped runs again when it is loaded, as on SIGHUP, and when one of its imports changes", async () => {
    const directory = temporaryDirectory({
      "make.mjs": makeCluster,
      "lib/names.mjs": `import { existsSync } from "node:fs";
while (!existsSync(new URL("../may-end", import.meta.url)));
export const names = ["a"];
`,
      "mesh.mjs": mesh,
    });
    const source = sourceOf(directory, "mesh.mjs", { timeoutMs: 5_000 });
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const loads = source.watch(ending.signal)[Symbol.asyncIterator]();
    expect((await nextOf(loads)).problems).toMatchObject([{ code: "MODULE_TIMEOUT" }]);
    write(directory, "may-end", "");
    expect(namesIn(await source.load())).toEqual({ base: ["a"] });
    const next = nextOf(loads);
    replace(directory, "lib/names.mjs", 'export const names = ["b"];\n');
    expect(namesIn(await next)).toEqual({ base: ["b"] });
  }, 60_000);

  test("a source is watched again after its watch ended, even in the middle of a run", async () => {
    const directory = temporaryDirectory({
      "make.mjs": makeCluster,
      "lib/names.mjs": 'export const names = ["a"];\n',
      "mesh.mjs": mesh,
    });
    const source = sourceOf(directory, "mesh.mjs");
    const first = new AbortController();
    const loads = source.watch(first.signal)[Symbol.asyncIterator]();
    expect(namesIn(await nextOf(loads))).toEqual({ base: ["a"] });
    const end = loads.next();
    const endless = `import { writeFileSync } from "node:fs";
writeFileSync(new URL("../begun", import.meta.url), "");
await new Promise(() => setInterval(() => {}, 1000));
export const names = [];
`;
    replace(directory, "lib/names.mjs", endless);
    await vi.waitUntil(() => existsSync(join(directory, "begun")), { timeout: 15_000 });
    first.abort();
    expect((await end).done).toBe(true);

    replace(directory, "lib/names.mjs", 'export const names = ["a", "b"];\n');
    const second = new AbortController();
    onTestFinished(() => second.abort());
    const again = source.watch(second.signal)[Symbol.asyncIterator]();
    expect(namesIn(await nextOf(again))).toEqual({ base: ["a", "b"] });
    replace(directory, "lib/names.mjs", 'export const names = ["c"];\n');
    expect(namesIn(await nextOf(again))).toEqual({ base: ["c"] });
  });
});
