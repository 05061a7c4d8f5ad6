// Makes a FileDescriptorSet of proto files, for --descriptors FILE: newer Envoy messages, or private ones.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { withoutFiles } from "./descriptor-set.mjs";
import { missingPackages, protoFiles, readProto, runBuf, writeProto } from "./proto-sources.mjs";

const HELP = `usage: node make-descriptors.mjs PROTO_DIR... -o FILE [--only PREFIX] [--skip-missing]

Writes all proto files of the folders, and what they import, to FILE as a FileDescriptorSet without comments.

  PROTO_DIR        a folder that imports begin at: for Envoy the folder "api" of its repository, not "api/envoy".
                   Where two folders have a file of one name, the first one's is taken.
  -o FILE          what to write
  --only PREFIX    of the folders' files, take only those whose path begins with PREFIX, such as envoy/config/;
                   what they import comes with them. May be given several times.
  --skip-missing   leave out files whose imports are nowhere, and those that import them, and name them
  -h, --help       this text

What Envoy's files import from elsewhere (validate, xds, udpa, google/api, google/protobuf) is at hand, and so are the v2
and v3 files of the built-in Envoy API: a private proto that imports them needs only its own folder. They, and the compiler, are in npm
packages that xdskit does not depend on:

  npm install --save-dev @bufbuild/buf @grpc/grpc-js-xds @enmeshed/node-control-plane
`;

class UsageError extends Error {}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`make-descriptors: ${error.message}\n`);
  process.exitCode = 1;
}

function main(args) {
  const options = readOptions(args);
  if (options === undefined) return;
  const missing = missingPackages();
  if (missing.length > 0)
    throw new UsageError(`expected npm packages that are not installed: npm install --save-dev ${missing.join(" ")}`);
  const workDir = mkdtempSync(join(tmpdir(), "make-descriptors-"));
  try {
    const own = findFiles(options.folders);
    const wanted = [...own.keys()]
      .sort()
      .filter((path) => options.only.length === 0 || options.only.some((prefix) => path.startsWith(prefix)));
    if (wanted.length === 0)
      throw new UsageError(`expected a .proto file below ${options.folders.join(", ")}, got none`);
    const texts = readClosure(own, wanted);
    const skipped = withoutImports(texts, wanted, options.skipsMissing);
    const taken = wanted.filter((path) => !skipped.has(path));
    if (taken.length === 0) throw new UsageError("expected a file with all its imports, got none");
    for (const [path, text] of texts) writeProto(workDir, path, text);
    build(workDir, taken, resolve(options.output));
    const left = skipped.size === 0 ? "" : `, left out ${skipped.size}:\n  ${[...skipped].join("\n  ")}`;
    process.stderr.write(`${options.output}: ${taken.length} files and their imports${left}\n`);
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
}

function readOptions(args) {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        output: { type: "string", short: "o" },
        only: { type: "string", multiple: true, default: [] },
        "skip-missing": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(`${error.message}\n\n${HELP}`);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    process.stdout.write(HELP);
    return undefined;
  }
  if (positionals.length === 0 || values.output === undefined) {
    throw new UsageError(`expected a PROTO_DIR and -o FILE\n\n${HELP}`);
  }
  for (const folder of positionals) {
    if (!existsSync(folder) || !statSync(folder).isDirectory())
      throw new UsageError(`expected a folder, got ${folder}`);
  }
  return { folders: positionals, output: values.output, only: values.only, skipsMissing: values["skip-missing"] };
}

/** Where each file of the folders is, by its path; the first folder's counts. */
function findFiles(folders) {
  const files = new Map();
  for (const folder of folders) {
    for (const path of protoFiles(folder)) if (!files.has(path)) files.set(path, join(folder, path));
  }
  return files;
}

/** The texts of the wanted files and of all that they import, as far as there are any. */
function readClosure(own, wanted) {
  const texts = new Map();
  const open = [...wanted];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (texts.has(path)) continue;
    const text = own.has(path) ? readFileSync(own.get(path), "utf8") : readProto(path);
    if (text === undefined) continue;
    texts.set(path, text);
    open.push(...importsOf(text));
  }
  return texts;
}

/** The files that cannot be compiled because an import, their own or of what they import, is nowhere. Throws unless they may be left out. */
function withoutImports(texts, wanted, maySkip) {
  const missingOf = new Map();
  const find = (path, open) => {
    const known = missingOf.get(path);
    if (known !== undefined) return known;
    if (open.has(path) || path.startsWith("google/protobuf/")) return [];
    const text = texts.get(path);
    if (text === undefined) return [path];
    open.add(path);
    const missing = [...new Set(importsOf(text).flatMap((imported) => find(imported, open)))];
    open.delete(path);
    missingOf.set(path, missing);
    return missing;
  };
  const broken = wanted.filter((path) => find(path, new Set()).length > 0);
  if (broken.length === 0 || maySkip) return new Set(broken);
  const lines = broken.slice(0, 20).map((path) => `  ${path}: ${find(path, new Set()).join(", ")}`);
  const more = broken.length > 20 ? `\n  and ${broken.length - 20} more` : "";
  throw new UsageError(
    `expected every import to be in one of the folders; missing are\n${lines.join("\n")}${more}\n` +
      "add the folders that have them as further PROTO_DIR, or leave such files out with --skip-missing. Paths of imports\n" +
      'begin at a PROTO_DIR: for an import "envoy/config/…" give the folder that has "envoy" in it',
  );
}

function importsOf(proto) {
  const text = proto.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  return [...text.matchAll(/(?:^|;)\s*import\s+(?:public\s+|weak\s+)?"([^"]+)"\s*(?=;)/gm)].map((match) => match[1]);
}

function build(workDir, paths, output) {
  // A file of its own as the target pulls in the wanted files by importing them, however many there are.
  const main = "make_descriptors_main.proto";
  writeFileSync(join(workDir, "buf.yaml"), "version: v2\n");
  writeFileSync(join(workDir, main), `syntax = "proto3";\n${paths.map((path) => `import "${path}";\n`).join("")}`);
  const set = join(workDir, "set.binpb");
  const args = ["build", "--exclude-source-info", "--as-file-descriptor-set", "--path", main, "-o", set];
  try {
    runBuf(workDir, args, ["ignore", "ignore", "pipe"]);
  } catch (error) {
    throw new UsageError(`the files do not compile:\n${String(error.stderr ?? error.message).trim()}`);
  }
  writeFileSync(output, withoutFiles(readFileSync(set), new Set([main])));
}
