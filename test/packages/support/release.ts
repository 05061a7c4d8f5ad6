import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The output directory of `tools/release.mjs`. */
    readonly release: string;
    /** A project with only the tarballs installed. */
    readonly project: string;
    /** A project with the tarballs, compilers and bundlers installed. */
    readonly workshop: string;
  }
}

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The tools of users' projects; those that we use too, in our version. */
const TOOLS = { typescript: ownVersion("typescript"), rolldown: ownVersion("rolldown"), vite: ownVersion("vite") };
const ESBUILD = "0.27.2";

function ownVersion(name: string): string {
  const { version } = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")) as {
    version: string;
  };
  return version;
}

/** Builds a release, and installs it into two folders outside the repository. */
export function setup({ provide }: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-packages-"));
  const release = join(folder, "release");
  execFileSync(process.execPath, ["tools/release.mjs", "--output", release], { cwd: root, stdio: "pipe" });
  const tarballs = readdirSync(release).filter((file) => file.endsWith(".tgz"));
  const install = (name: string, more: readonly string[]): string => {
    const project = join(folder, name);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
    const packages = [...tarballs.map((file) => join(release, file)), ...more];
    execFileSync("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...packages], {
      cwd: project,
      stdio: "pipe",
    });
    return project;
  };
  provide("release", release);
  provide("project", install("project", []));
  const tools = { ...TOOLS, esbuild: ESBUILD, "@types/node": ownVersion("@types/node") };
  provide(
    "workshop",
    install(
      "workshop",
      Object.entries(tools).map(([tool, version]) => `${tool}@${version}`),
    ),
  );
  return () => rm(folder, { recursive: true, force: true });
}
