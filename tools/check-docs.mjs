// SPDX-License-Identifier: Apache-2.0
// Checks the docs against the code: links, paths, blocks, tables, and the tests that the threat model names. `--write` renews the generated sections.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkBlocks } from "./docs/blocks.mjs";
import { loadCli } from "./docs/cli.mjs";
import { checkLinks } from "./docs/links.mjs";
import { parseMarkdown } from "./docs/markdown.mjs";
import { checkNames, checkProblemCodes, checkSections } from "./docs/reference.mjs";
import { checkThreatModel } from "./docs/threat-model.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const write = process.argv.includes("--write");

const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(root, file)));
// `tools/api-report.mjs` checks the API reports.
const pages = new Map(
  files
    .filter((file) => !file.startsWith("api/"))
    .map((file) => [file, parseMarkdown(readFileSync(join(root, file), "utf8"))]),
);
for (const file of files)
  if (!pages.has(file))
    pages.set(file, { ...parseMarkdown(""), anchors: parseMarkdown(readFileSync(join(root, file), "utf8")).anchors });

const cli = await loadCli(root);
const problems = [
  ...(await checkSections(
    root,
    files.filter((file) => file.startsWith("docs/")),
    cli,
    write,
  )),
  ...checkLinks(root, pages),
  ...checkProblemCodes(root),
  ...checkThreatModel(root),
  ...(await checkNames(root, pages)),
  ...(await checkBlocks(root, pages, cli)),
];
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`${pages.size} pages agree with the code`);
process.exitCode = problems.length === 0 ? 0 : 1;
