// Makes what this package has at run time and what its users compile against, from the proto files of npm packages:
//
//   gen/descriptors.binpb.br   every v3 message of Envoy as one FileDescriptorSet, without comments, brotli
//   gen/types/…_pb.d.ts        a type for each of them, for authors of resources in TypeScript
//
// Neither is committed. Plain JavaScript, because it runs before anything is compiled; it does nothing when both are newer
// than their inputs. It needs no network.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const require = createRequire(import.meta.url);
const packageDir = join(dirname(fileURLToPath(import.meta.url)), "..");
const outputDir = join(packageDir, "gen");
const stampFile = join(outputDir, "stamp.json");

// Their imports are in no npm package. None of them is a resource, or named by one of an Envoy of today: the services of
// metrics and trace sinks, and OpenCensus, which Envoy no longer has (trace.proto only re-exports it and its neighbours).
const WITHOUT_IMPORTS = new Set([
  "envoy/config/trace/v3/opencensus.proto",
  "envoy/config/trace/v3/trace.proto",
  "envoy/service/metrics/v3/metrics_service.proto",
  "envoy/service/trace/v3/trace_service.proto",
]);

// Without "v3" in its path, and still what Envoy's redis cluster is configured with.
const UNVERSIONED = ["envoy/config/cluster/redis/redis_cluster.proto"];

// The attribute values of OpenTelemetry, as far as Envoy's access log names them.
const OPEN_TELEMETRY_COMMON = `syntax = "proto3";
package opentelemetry.proto.common.v1;
message AnyValue {
  oneof value {
    string string_value = 1;
    bool bool_value = 2;
    int64 int_value = 3;
    double double_value = 4;
    ArrayValue array_value = 5;
    KeyValueList kvlist_value = 6;
    bytes bytes_value = 7;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message KeyValue {
  string key = 1;
  AnyValue value = 2;
}
`;

const MODULES = {
  envoy: (path) =>
    !WITHOUT_IMPORTS.has(path) &&
    (path.includes("/v3/") || path.startsWith("envoy/annotations/") || UNVERSIONED.includes(path)),
  xds: () => true,
  googleapis: (path) =>
    /^google\/(rpc\/[a-z_]+|api\/(annotations|http|expr\/v1alpha1\/(checked|syntax)))\.proto$/.test(path),
  validate: (path) => path === "validate/validate.proto",
};

main();

function main() {
  const stamp = stampOfInputs();
  if (isUpToDate(stamp)) return;
  const workDir = join(packageDir, ".cache", `generate-${process.pid}`);
  try {
    stageProtos(join(workDir, "protos"));
    writeDescriptors(workDir);
    writeTypes(workDir);
    writeFileSync(join(workDir, "gen", "stamp.json"), `${JSON.stringify({ stamp })}\n`);
    moveIntoPlace(workDir);
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
}

/** Changes when a package whose output we keep changes, or this script. */
function stampOfInputs() {
  const hash = createHash("sha256").update(readFileSync(fileURLToPath(import.meta.url)));
  for (const name of ["@grpc/grpc-js-xds", "@bufbuild/buf", "@bufbuild/protoc-gen-es"]) {
    hash.update(`${name}@${readManifest(name).version}\n`);
  }
  return hash.digest("hex");
}

function isUpToDate(stamp) {
  if (!existsSync(stampFile)) return false;
  return JSON.parse(readFileSync(stampFile, "utf8")).stamp === stamp;
}

function stageProtos(protosDir) {
  const deps = join(packageDirOf("@grpc/grpc-js-xds"), "deps");
  const from = {
    envoy: join(deps, "envoy-api"),
    xds: join(deps, "xds"),
    googleapis: join(deps, "googleapis"),
    validate: join(deps, "protoc-gen-validate"),
  };
  for (const [module, isWanted] of Object.entries(MODULES)) {
    cpSync(from[module], join(protosDir, module), {
      recursive: true,
      filter: (source) => {
        const path = source.slice(from[module].length + 1).replaceAll("\\", "/");
        return path.endsWith(".proto") ? isWanted(path) : !path.includes(".");
      },
    });
  }
  const stubs = join(protosDir, "stubs", "opentelemetry", "proto", "common", "v1");
  mkdirSync(stubs, { recursive: true });
  writeFileSync(join(stubs, "common.proto"), OPEN_TELEMETRY_COMMON);
  addIgnoreEmpty(join(protosDir, "validate", "validate", "validate.proto"));
  const modules = [...Object.keys(MODULES), "stubs"].map((module) => `  - path: ${module}\n`).join("");
  writeFileSync(join(protosDir, "buf.yaml"), `version: v2\nmodules:\n${modules}`);
}

/** The rules that are shipped with Envoy's files are older than the files: they lack an option that is used there. */
function addIgnoreEmpty(file) {
  const text = readFileSync(file, "utf8");
  if (/ignore_empty\s*=\s*26/.test(text)) return;
  const patched = text.replace(/(optional bool strict\s*=\s*25[^;]*;)/, "$1\n    optional bool ignore_empty = 26;");
  if (patched === text) throw new Error("generate: expected StringRules.strict = 25 in validate.proto");
  writeFileSync(file, patched);
}

function writeDescriptors(workDir) {
  const plain = join(workDir, "descriptors.binpb");
  buf(join(workDir, "protos"), ["build", "--exclude-source-info", "--as-file-descriptor-set", "-o", plain]);
  const bytes = readFileSync(plain);
  mkdirSync(join(workDir, "gen"), { recursive: true });
  const packed = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  writeFileSync(join(workDir, "gen", "descriptors.binpb.br"), packed);
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
  buf(join(workDir, "protos"), ["generate", "--template", JSON.stringify(template)]);
}

function moveIntoPlace(workDir) {
  if (existsSync(outputDir)) renameSync(outputDir, join(workDir, "old"));
  renameSync(join(workDir, "gen"), outputDir);
}

function buf(cwd, args) {
  // The package's own bin runs the platform's binary from its optional dependency: no install script is needed.
  const script = join(packageDirOf("@bufbuild/buf"), "bin", "buf");
  execFileSync(process.execPath, [script, ...args], { cwd, stdio: ["ignore", "inherit", "inherit"] });
}

function packageDirOf(name) {
  for (const dir of require.resolve.paths(name) ?? []) {
    if (existsSync(join(dir, name, "package.json"))) return join(dir, name);
  }
  throw new Error(`generate: ${name} is not installed: run npm ci`);
}

function readManifest(name) {
  return JSON.parse(readFileSync(join(packageDirOf(name), "package.json"), "utf8"));
}
