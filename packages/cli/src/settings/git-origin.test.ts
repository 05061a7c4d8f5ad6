import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createOriginReader } from "./git-origin.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;
const root = mkdtempSync(join(tmpdir(), "xds-origin-"));
const mesh = join(root, "mesh");
afterAll(() => rmSync(root, { recursive: true, force: true }));

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}

function commit(file: string, author: string, message: string): string {
  writeFileSync(join(root, file), message);
  git("add", "-A");
  const committer = ["-c", "user.name=committer", "-c", "user.email=c@example.com", "-c", "commit.gpgsign=false"];
  git(...committer, "commit", "-q", "-m", message, `--author=${author} <a@example.com>`);
  return git("rev-parse", "HEAD");
}

describe.skipIf(!hasGit)("the origin of a directory in git", () => {
  test("is the last commit that touched the directory, or the local user if it differs from that", async () => {
    const local = { author: userInfo().username, message: undefined };
    mkdirSync(mesh);
    expect(await createOriginReader(mesh)()).toEqual(local);
    git("init", "-q");
    const own = commit("mesh/clusters.yaml", "ada", "mesh: a cluster");
    commit("other.txt", "bob", "something else");
    expect(await createOriginReader(mesh)()).toEqual({
      author: "ada",
      message: "mesh: a cluster",
      git: { commit: own, isDirty: false },
    });
    writeFileSync(join(mesh, "more.yaml"), "");
    expect(await createOriginReader(mesh)()).toEqual({ ...local, git: { commit: own, isDirty: true } });
  });
});
