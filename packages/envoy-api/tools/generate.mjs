// Makes what this package has at run time and what its users compile against, from the proto files of npm packages:
//
//   gen/descriptors.binpb.br      every v3 message of Envoy as one FileDescriptorSet, without comments, brotli
//   gen/descriptors-v2.binpb.br   the messages of v2 in the same form, without the files that they share with v3
//   gen/descriptors.js            both as a module, which a bundle carries wherever it goes
//   gen/messages.d.ts             the JSON of each message of v3 as a type, for authors of resources in TypeScript
//   gen/read-messages.d.ts        the same for programs that read resources
//   gen/types/…_pb.d.ts           a type for each decoded message of v3
//
// None is committed. Plain JavaScript, because it runs before anything is compiled; it does nothing when all are newer
// than their inputs. It needs no network.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { fileNamesIn, withoutFiles } from "./descriptor-set.mjs";
import { messageTypesOf } from "./message-types.mjs";
import { PROTO_PACKAGES, packageDirOf, runBuf, stageProtos } from "./proto-sources.mjs";

const toolsDir = dirname(fileURLToPath(import.meta.url));
const packageDir = join(toolsDir, "..");
const outputDir = join(packageDir, "gen");
const stampFile = join(outputDir, "stamp.json");

main();

function main() {
  const stamp = stampOfInputs();
  if (isUpToDate(stamp)) return;
  const workDir = join(packageDir, ".cache", `generate-${process.pid}`);
  try {
    stageProtos(join(workDir, "protos"), { v2: false });
    const v3 = buildDescriptors(workDir);
    writeDescriptors(workDir, "descriptors.binpb.br", v3);
    writeFileSync(join(workDir, "gen", "messages.d.ts"), messageTypesOf(v3, "author"));
    writeFileSync(join(workDir, "gen", "read-messages.d.ts"), messageTypesOf(v3, "reader"));
    writeTypes(workDir);
    stageProtos(join(workDir, "protos"), { v2: true });
    writeDescriptors(workDir, "descriptors-v2.binpb.br", withoutFiles(buildDescriptors(workDir), fileNamesIn(v3)));
    writeModule(workDir, { v3: "descriptors.binpb.br", v2: "descriptors-v2.binpb.br" });
    writeFileSync(join(workDir, "gen", "stamp.json"), `${JSON.stringify({ stamp })}\n`);
    moveIntoPlace(workDir);
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
}

/** Changes when a package whose output we keep changes, or the scripts do. */
function stampOfInputs() {
  const hash = createHash("sha256");
  for (const script of ["generate.mjs", "descriptor-set.mjs", "message-types.mjs", "proto-sources.mjs"])
    hash.update(readFileSync(join(toolsDir, script)));
  for (const name of [...PROTO_PACKAGES, "@bufbuild/buf", "@bufbuild/protoc-gen-es"]) {
    hash.update(`${name}@${readManifest(name).version}\n`);
  }
  return hash.digest("hex");
}

function isUpToDate(stamp) {
  if (!existsSync(stampFile)) return false;
  return JSON.parse(readFileSync(stampFile, "utf8")).stamp === stamp;
}

function buildDescriptors(workDir) {
  const plain = join(workDir, "descriptors.binpb");
  runBuf(join(workDir, "protos"), ["build", "--exclude-source-info", "--as-file-descriptor-set", "-o", plain]);
  return readFileSync(plain);
}

function writeDescriptors(workDir, name, bytes) {
  mkdirSync(join(workDir, "gen"), { recursive: true });
  const packed = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  writeFileSync(join(workDir, "gen", name), packed);
}

function writeModule(workDir, files) {
  const text = (file) => readFileSync(join(workDir, "gen", file)).toString("base64");
  const fields = Object.entries(files).map(([version, file]) => `  ${version}: "${text(file)}",\n`);
  const type = Object.keys(files).map((version) => `readonly ${version}: string`);
  writeFileSync(join(workDir, "gen", "descriptors.js"), `export const packedDescriptors = {\n${fields.join("")}};\n`);
  writeFileSync(
    join(workDir, "gen", "descriptors.d.ts"),
    `/** Descriptor sets by the version of the API: packed with brotli, written in base64. */\nexport declare const packedDescriptors: { ${type.join("; ")} };\n`,
  );
}

function writeTypes(workDir) {
  const plugin = join(packageDirOf("@bufbuild/protoc-gen-es"), "bin", "protoc-gen-es");
  const template = {
    version: "v2",
    plugins: [
      {
        local: [process.execPath, plugin],
        out: join(workDir, "gen", "types"),
        opt: ["target=dts", "import_extension=js", "json_types=true"],
        strategy: "all",
      },
    ],
  };
  runBuf(join(workDir, "protos"), ["generate", "--template", JSON.stringify(template)]);
}

function moveIntoPlace(workDir) {
  if (existsSync(outputDir)) renameSync(outputDir, join(workDir, "old"));
  renameSync(join(workDir, "gen"), outputDir);
}

function readManifest(name) {
  return JSON.parse(readFileSync(join(packageDirOf(name), "package.json"), "utf8"));
}
