// SPDX-License-Identifier: Apache-2.0
// Writes api/<package>.md from the built declarations: public names and their types. A diff there is an API change.
// `--check` compares instead of writing.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const reported = [
  "protocol",
  "envoy-api",
  "envoy-api/resources",
  "disk",
  "source",
  "source/checks",
  "server",
  "server/ledger-store",
  "store-etcd",
  "client",
];
const printer = ts.createPrinter({ removeComments: true });

/** Prints a declaration without comments, private members and common modifiers. */
function print(declaration) {
  const statement =
    ts.isVariableDeclaration(declaration) && declaration.parent?.parent ? declaration.parent.parent : declaration;
  return printer
    .printNode(ts.EmitHint.Unspecified, statement, declaration.getSourceFile())
    .split("\n")
    .filter((line) => !/^\s*(#private;|private )/.test(line))
    .join("\n")
    .replace(/^export (declare )?/, "")
    .replaceAll("    ", "  ");
}

/** Our own declarations that `declaration` mentions. */
function mentioned(checker, declaration) {
  const symbols = new Set();
  const visit = (node) => {
    if (ts.isPrivateIdentifier(node)) return;
    if (ts.canHaveModifiers(node) && ts.getModifiers(node)?.some((m) => m.kind === ts.SyntaxKind.PrivateKeyword))
      return;
    if (ts.isIdentifier(node)) {
      let symbol = checker.getSymbolAtLocation(node);
      if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
      const file = symbol?.declarations?.[0]?.getSourceFile().fileName ?? "";
      const isTop = symbol?.declarations?.some((one) =>
        ts.isSourceFile(ts.isVariableDeclaration(one) ? one.parent.parent.parent : one.parent),
      );
      if (isTop && /\/packages\/[^/]+\/dist\//.test(file)) symbols.add(symbol);
    }
    ts.forEachChild(node, visit);
  };
  visit(declaration);
  return symbols;
}

function entryOf(name) {
  const [workspace, entry = "."] = name.split("/");
  const { exports } = JSON.parse(readFileSync(join(root, "packages", workspace, "package.json"), "utf8"));
  return join(root, "packages", workspace, exports[entry === "." ? entry : `./${entry}`].types);
}

function report(program, name) {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entryOf(name));
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source));
  const resolved = exported.map((symbol) => ({
    name: symbol.name,
    target: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  }));
  const known = new Set(resolved.map(({ target }) => target));
  const hidden = new Set();
  const [workspace] = name.split("/");
  // Declarations of other packages and of the generator are only named.
  const isOwn = ({ target }) =>
    (target.declarations ?? []).some((one) => one.getSourceFile().fileName.includes(`/packages/${workspace}/dist/`));
  const sections = resolved
    .filter(isOwn)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name: exportName, target }) => {
      const declarations = target.declarations ?? [];
      for (const one of declarations) {
        for (const symbol of mentioned(checker, one)) {
          const file = symbol.declarations[0].getSourceFile().fileName;
          if (!known.has(symbol) && file.includes(`/packages/${workspace}/dist/`)) hidden.add(symbol.name);
        }
      }
      const text = [...new Set(declarations.map(print))].join("\n");
      return `## ${exportName}\n\n\`\`\`ts\n${text}\n\`\`\`\n`;
    });
  const reached = listOf("Reached but not exported", [...hidden]);
  const foreign = listOf(
    "Declared elsewhere",
    resolved.filter((one) => !isOwn(one)).map((one) => one.name),
  );
  const heading = `# @xdskit/${name}\n\nWritten by \`npm run api\` from the built declarations. Not edited by hand.\n\n`;
  return `${heading}${sections.join("\n")}${foreign}${reached}`;
}

function listOf(title, names) {
  const rows = names.toSorted().map((one) => `- \`${one}\`\n`);
  return rows.length === 0 ? "" : `\n## ${title}\n\n${rows.join("")}`;
}

const missing = reported.filter((name) => !existsSync(entryOf(name)));
if (missing.length > 0) {
  console.error(`not built: ${missing.join(", ")}; run \`npm run build\` first`);
  process.exit(1);
}
const program = ts.createProgram(reported.map(entryOf), {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ["lib.es2023.d.ts"],
  types: ["node"],
  skipLibCheck: true,
});
const isCheck = process.argv.includes("--check");
let different = 0;
for (const name of reported) {
  const file = join(root, "api", `${name.replace("/", "-")}.md`);
  const text = report(program, name);
  if (!isCheck) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${relative(root, file)}`);
    continue;
  }
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (before === text) continue;
  different += 1;
  const old = new Set(before.split("\n"));
  const now = new Set(text.split("\n"));
  console.error(`api/${name}.md differs from what is built; run \`npm run api\` and look at the diff:`);
  for (const line of before
    .split("\n")
    .filter((one) => !now.has(one))
    .slice(0, 20))
    console.error(`  - ${line}`);
  for (const line of text
    .split("\n")
    .filter((one) => !old.has(one))
    .slice(0, 20))
    console.error(`  + ${line}`);
}
process.exit(different === 0 ? 0 : 1);
