// SPDX-License-Identifier: Apache-2.0
// Checks code in pages: TypeScript compiles against the sources, YAML and JSON parse, resources are valid, commands
// exist.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { parseAllDocuments } from "yaml";

/** Languages that are not checked. */
const shown = new Set(["text", "mermaid", "diff", "proto", "ini", "dockerfile", "go", "python", "java"]);

/** Compiles all TypeScript blocks as one program, with the settings of the tests. */
function checkTypeScript(root, blocks) {
  if (blocks.length === 0) return [];
  const folder = join(root, ".cache", "docs");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const places = new Map();
  for (const [index, { file, block }] of blocks.entries()) {
    const name = join(folder, `block-${index}.ts`);
    writeFileSync(name, `${block.lines.join("\n")}\nexport {};\n`);
    places.set(name, { file, line: block.line });
  }
  const config = ts.readConfigFile(join(root, "tsconfig.test.json"), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);
  const program = ts.createProgram([...places.keys()], {
    ...options,
    noUnusedLocals: false,
    noUnusedParameters: false,
  });
  return [...places].flatMap(([name, { file, line }]) => {
    const source = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((diagnostic) => {
      const at = source.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line;
      return `${file}:${line + 1 + at}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, " ")}`;
    });
  });
}

/** Checks that a block labelled `value` is one expression, such as an object literal. */
function checkValue(file, block) {
  const source = ts.createSourceFile("value.ts", `(${block.lines.join("\n")}\n);`, ts.ScriptTarget.Latest);
  return source.parseDiagnostics.map((diagnostic) => {
    const at = source.getLineAndCharacterOfPosition(diagnostic.start).line;
    return `${file}:${block.line + 1 + at}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, " ")}`;
  });
}

function checkYaml(file, block) {
  return parseAllDocuments(block.lines.join("\n"))
    .flatMap((document) => document.errors)
    .map((error) => `${file}:${block.line + (error.linePos?.[0].line ?? 0)}: ${error.message.split("\n")[0]}`);
}

function checkJson(file, block) {
  try {
    JSON.parse(block.lines.join("\n"));
    return [];
  } catch (error) {
    return [`${file}:${block.line}: ${error.message}`];
  }
}

/** Validates YAML blocks with resources like `xds validate`, without the PEM files that they name. A block labelled `wrong` must have problems. */
async function checkResources(root, blocks) {
  if (blocks.length === 0) return [];
  const { createDirectorySource } = await import(join(root, "packages/source/dist/index.js"));
  const { createEnvoyApi } = await import(join(root, "packages/envoy-api/dist/index.js"));
  const api = createEnvoyApi();
  const problems = [];
  for (const { file, block } of blocks) {
    const directory = mkdtempSync(join(tmpdir(), "xds-docs-"));
    writeFileSync(join(directory, "block.yaml"), block.lines.join("\n"));
    const load = await createDirectorySource({ directory, api, secretFiles: "leave" }).load();
    rmSync(directory, { recursive: true, force: true });
    const errors = load.problems.filter(({ severity }) => severity === "error");
    if (block.label.includes("wrong")) {
      if (errors.length === 0) problems.push(`${file}:${block.line}: nothing is wrong with what is shown as wrong`);
      continue;
    }
    for (const { line, code, message } of errors) {
      problems.push(`${file}:${block.line + (line ?? 0)}: ${code}: ${message}`);
    }
  }
  return problems;
}

/** The command lines of a block: joins continued lines, and removes comments and prompts. */
function commandLines(block) {
  const lines = [];
  let open = "";
  let number = block.line;
  let start = number;
  for (const raw of block.lines) {
    number += 1;
    const line = raw
      .replace(/^\s*\$ /, "")
      .replace(/(^|\s)#.*$/, "")
      .trimEnd();
    if (open === "") start = number;
    if (line.endsWith("\\")) {
      open += `${line.slice(0, -1)} `;
      continue;
    }
    const whole = `${open}${line}`.trim();
    open = "";
    if (whole !== "") lines.push({ text: whole, line: start });
  }
  return lines;
}

function checkShell(root, cli, file, block) {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const problems = [];
  for (const { text, line } of commandLines(block)) {
    for (const part of text.split(/\s(?:&&|\|\||\||;)\s/)) {
      const words = part
        .trim()
        .split(/\s+/)
        .filter((word) => !/^[A-Z_]+=/.test(word));
      const script = /^npm (?:run(?: --silent)? )([\w:-]+)/.exec(words.join(" "))?.[1];
      if (script !== undefined && scripts[script] === undefined) {
        problems.push(`${file}:${line}: there is no script "${script}"`);
      }
      const at = words[0] === "npx" ? 1 : 0;
      if (
        cli !== undefined &&
        (words[at] === "xds" || (words[at] === "node" && words[at + 1]?.endsWith("bin/xds.js")))
      ) {
        const rest = words.slice(words[at] === "xds" ? at + 1 : at + 2);
        problems.push(...cli.check(rest).map((problem) => `${file}:${line}: ${problem}`));
      }
    }
  }
  return problems;
}

export async function checkBlocks(root, pages, cli) {
  const problems = [];
  const typed = [];
  const resources = [];
  for (const [file, { blocks }] of pages) {
    for (const block of blocks) {
      if (block.unclosed) problems.push(`${file}:${block.line}: the block has no end`);
      else if (block.language === "ts" && block.label === "value") problems.push(...checkValue(file, block));
      else if (block.language === "ts") typed.push({ file, block });
      else if (block.language === "yaml" || block.language === "yml") {
        const wrong = checkYaml(file, block);
        problems.push(...wrong);
        if (wrong.length === 0 && block.lines.some((line) => line.includes("@type"))) resources.push({ file, block });
      } else if (block.language === "json") problems.push(...checkJson(file, block));
      else if (block.language === "sh" || block.language === "console")
        problems.push(...checkShell(root, cli, file, block));
      else if (!shown.has(block.language)) {
        problems.push(`${file}:${block.line}: say what the block is: ts, sh, yaml, json or ${[...shown].join(", ")}`);
      }
    }
  }
  problems.push(...checkTypeScript(root, typed), ...(await checkResources(root, resources)));
  return problems;
}
