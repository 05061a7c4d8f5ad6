import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, inject, it } from "vitest";

const workshop = inject("workshop");
const program = fileURLToPath(new URL("program/main.ts", import.meta.url));
const printed = "hello 1s\n";

/** Creates a folder of the workshop with the program. */
function folderFor(name: string): string {
  const folder = join(workshop, name);
  mkdirSync(folder);
  copyFileSync(program, join(folder, "main.ts"));
  return folder;
}

async function run(cwd: string, program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd }).catch((error: Error & { stdout?: string }) => {
    throw new Error(`${error.message}\n${error.stdout ?? ""}`); // compilers print errors on stdout
  });
  return stdout;
}

function node(cwd: string, ...args: readonly string[]): Promise<string> {
  return run(cwd, process.execPath, args);
}

/** Runs a command that is installed in the workshop. */
function tool(cwd: string, name: string, ...args: readonly string[]): Promise<string> {
  return run(cwd, join(workshop, "node_modules/.bin", name), args);
}

it.each([
  ["NodeNext", "NodeNext"],
  ["ESNext", "Bundler"],
])(
  "strict TypeScript compiles a program with module %s and resolution %s, and checks all our declarations",
  async (module, moduleResolution) => {
    const folder = folderFor(`typescript-${moduleResolution}`);
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
      ...{ target: "ES2022", lib: ["ES2023"], types: ["node"], module, moduleResolution, outDir: "built" },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    expect(await tool(folder, "tsc", "--project", ".")).toBe("");
    expect(await node(folder, "built/main.js")).toBe(printed);
  },
);

it("every entry can be imported", async () => {
  const names = ["client", "disk", "envoy-api", "protocol", "server", "source", "source/settings"];
  const entries = [...names.map((name) => `@xdskit/${name}`), "xdskit"];
  const script = `for (const name of ${JSON.stringify(entries)}) console.log(name, Object.keys(await import(name)).length > 0);`;
  const lines = entries.map((name) => `${name} true\n`).join("");
  expect(await node(inject("project"), "--input-type=module", "--eval", script)).toBe(lines);
});

it("esbuild makes a bundle that runs elsewhere", async () => {
  const folder = folderFor("esbuild");
  await tool(folder, "esbuild", "main.ts", "--bundle", "--platform=node", "--outfile=../../esbuild/main.cjs");
  expect(await node(join(workshop, "../esbuild"), "main.cjs")).toBe(printed);
});

it("rolldown makes a bundle that runs elsewhere", async () => {
  const folder = folderFor("rolldown");
  await tool(
    folder,
    "rolldown",
    "main.ts",
    "--platform",
    "node",
    "--format",
    "esm",
    "--file",
    "../../rolldown/main.mjs",
  );
  expect(await node(join(workshop, "../rolldown"), "main.mjs")).toBe(printed);
});

it("Vite makes a bundle for a server that runs elsewhere", async () => {
  const folder = folderFor("vite");
  const config = {
    ssr: { noExternal: true },
    logLevel: "error",
    build: { ssr: "main.ts", outDir: "../../vite", emptyOutDir: true },
  };
  writeFileSync(join(folder, "vite.config.js"), `export default ${JSON.stringify(config)};`);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await tool(folder, "vite", "build");
  writeFileSync(join(workshop, "../vite/package.json"), JSON.stringify({ type: "module" }));
  expect(await node(join(workshop, "../vite"), "main.js")).toBe(printed);
});
