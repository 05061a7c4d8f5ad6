import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWith, peerCommand, root } from "./support/peers.ts";

const xds = join(root, "packages/cli/bin/xds.js");
const offerInZsh = fileURLToPath(new URL("support/offer.zsh", import.meta.url));

/** What is offered after Tab at the end of each line, in any order. */
const offers: readonly (readonly [string, readonly string[]])[] = [
  ["xds va", ["validate"]],
  ["xds completion f", ["fish"]],
  ["xds get c", ["cds", "clusters"]],
  ["xds get cds c", []],
  ["xds get --so", ["--sotw"]],
  ["xds get --output j", ["json"]],
  ["xds get --output json cd", ["cds"]],
  ["xds validate --format ", ["github", "json", "text"]],
  ["xds serve --validation r", ["reject"]],
  ["xds bootstrap --transport ads", ["ads", "ads-delta"]],
  ["xds bootstrap ", ["envoy", "grpc"]],
  ["xds deliveries --state na", ["nacked"]],
  ["xds check b", ["b.json"]],
  ["xds serve me", ["mesh.ts"]],
  ["xds serve co", ["conf"]],
  ["xds diff he", ["head", "held"]],
  ["xds diff me", ["mesh.ts"]],
];

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "xds-completion-"));
  for (const shell of ["zsh", "fish"])
    writeFileSync(join(directory, `xds.${shell}`), execFileSync(process.execPath, [xds, "completion", shell]));
  const files = join(directory, "files");
  mkdirSync(join(files, "conf"), { recursive: true });
  for (const name of ["b.json", "mesh.ts"]) writeFileSync(join(files, name), "");
});
afterAll(() => rmSync(directory, { recursive: true }));

function commandOf(shell: "zsh" | "fish"): string {
  return peerCommand(shell)?.[0] ?? shell;
}

/** Words, sorted; the `/` after a directory is left out, which not all shells write. */
function wordsOf(text: string): readonly string[] {
  const words = text.split("\n").filter((word) => word !== "");
  return [...new Set(words.map((word) => word.replace(/\/$/, "")))].sort();
}

describeWith("zsh", "zsh", () => {
  test.each(offers)("offers after %j: %j", (line, expected) => {
    const [words, complaints] = ["words", "complaints"].map((name) => join(directory, name)) as [string, string];
    for (const file of [words, complaints]) rmSync(file, { force: true });
    const cwd = join(directory, "files");
    execFileSync(commandOf("zsh"), ["-f", offerInZsh, line, join(directory, "xds.zsh"), words, complaints], { cwd });
    expect([existsSync(words) ? wordsOf(readFileSync(words, "utf8")) : [], readFileSync(complaints, "utf8")]).toEqual([
      expected,
      "",
    ]);
  });
});

describeWith("fish", "fish", () => {
  test.each(offers)("offers after %j: %j", (line, expected) => {
    const script = 'source $argv[1]; complete -C "$argv[2]"';
    const cwd = join(directory, "files");
    const text = execFileSync(commandOf("fish"), ["--no-config", "-c", script, join(directory, "xds.fish"), line], {
      cwd,
    });
    expect(wordsOf(text.toString().replace(/\t.*$/gm, ""))).toEqual(expected);
  });
});
