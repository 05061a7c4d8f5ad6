import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, inject, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const release = inject("release");
const project = inject("project");

const packages = [
  "@xdskit/client",
  "@xdskit/disk",
  "@xdskit/envoy-api",
  "@xdskit/protocol",
  "@xdskit/server",
  "@xdskit/source",
  "@xdskit/store-etcd",
  "xdskit",
];

function read(...path: readonly string[]): string {
  return readFileSync(join(...path), "utf8");
}

describe.each(packages)("%s as it is installed", (name) => {
  const folder = join(project, "node_modules", name);
  const files = (): readonly string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

  it("has its license", () => {
    expect(read(folder, "LICENSE")).toBe(read(root, "LICENSE"));
  });

  it("has a README whose links lead nowhere outside of it", () => {
    const text = read(folder, "README.md");
    expect(text.split("\n")[0]).toBe(`# ${name}`);
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    expect(links.filter((target) => !/^(https:|#)/.test(target) && !existsSync(join(folder, target)))).toEqual([]);
  });

  it("has no tests, no maps without sources and nothing of the compiler's own", () => {
    expect(files().filter((file) => /\.test\.|\.map$|tsbuildinfo|(^|\/)\./.test(file))).toEqual([]);
    const modules = files().filter((file) => file.endsWith(".js"));
    expect(modules.filter((file) => read(folder, file).includes("sourceMappingURL"))).toEqual([]);
  });
});

it("make-descriptors.mjs is in @xdskit/envoy-api, and says what it needs", () => {
  const script = join(project, "node_modules", "@xdskit/envoy-api", "tools", "make-descriptors.mjs");
  expect(spawnSync(process.execPath, [script, "--help"], { encoding: "utf8" }).stdout).toMatch(/^usage: /);
  const { status, stderr } = spawnSync(process.execPath, [script, project, "-o", "x.binpb"], { encoding: "utf8" });
  expect([status, stderr]).toEqual([
    1,
    "make-descriptors: expected npm packages that are not installed: npm install --save-dev @bufbuild/buf @grpc/grpc-js-xds @enmeshed/node-control-plane\n",
  ]);
});

it("a release has the checksums of all its files", () => {
  const files = readdirSync(release).filter((file) => file !== "SHA256SUMS");
  expect(files.filter((file) => file.endsWith(".tgz"))).toHaveLength(packages.length);
  const sum = (file: string): string =>
    createHash("sha256")
      .update(readFileSync(join(release, file)))
      .digest("hex");
  expect(read(release, "SHA256SUMS")).toBe(files.map((file) => `${sum(file)}  ${file}\n`).join(""));
});

it("a release lists everything that it installs, with licenses", () => {
  interface Component {
    readonly name: string;
    readonly version: string;
    readonly licenses?: readonly unknown[];
  }
  const [file = ""] = readdirSync(release).filter((name) => name.endsWith(".cdx.json"));
  const list = JSON.parse(read(release, file)) as { bomFormat: string; components: readonly Component[] };
  const lock = JSON.parse(read(project, "package-lock.json")) as { packages: Record<string, { version: string }> };
  const installed = Object.entries(lock.packages)
    .filter(([path]) => path !== "")
    .map(
      ([path, { version }]) => `${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${version}`,
    );
  expect(list.bomFormat).toBe("CycloneDX");
  expect(list.components.map(({ name, version }) => `${name}@${version}`).toSorted()).toEqual(
    [...new Set(installed)].toSorted(),
  );
  expect(list.components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([]);
});

it("npx xds runs what is installed", () => {
  const xds = (...args: readonly string[]): string =>
    execFileSync("npx", ["--no-install", "xds", ...args], { cwd: project, encoding: "utf8" });
  expect(xds("--version")).toBe(`${(JSON.parse(read(root, "package.json")) as { version: string }).version}\n`);
  expect(JSON.parse(xds("bootstrap", "grpc"))).toHaveProperty("xds_servers");
});
