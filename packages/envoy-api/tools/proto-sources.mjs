// What generate.mjs and make-descriptors.mjs share: where the proto files of npm packages are, and how buf is run.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

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

// What the tracers of v2 may be configured with, by OpenCensus. Its fields are in no npm package, so they are passed on unread.
const OPEN_CENSUS_TRACE_CONFIG = `syntax = "proto3";
package opencensus.proto.trace.v1;
message TraceConfig {}
`;

const BUF = "@bufbuild/buf";
const GRPC = "@grpc/grpc-js-xds";
// The messages of v2 as they were in the middle of 2019: no package has them as they were frozen a year later.
const OF_2019 = "@enmeshed/node-control-plane";

const FOLDERS = {
  envoy: [GRPC, "deps/envoy-api"],
  xds: [GRPC, "deps/xds"],
  googleapis: [GRPC, "deps/googleapis"],
  validate: [GRPC, "deps/protoc-gen-validate"],
  v2: [OF_2019, "proto"],
};

/** The npm packages that the files come from. */
export const PROTO_PACKAGES = [GRPC, OF_2019];

// Sinks of metrics and traces, whose imports are in no npm package.
const V2_WITHOUT_IMPORTS = new Set([
  "envoy/service/metrics/v2/metrics_service.proto",
  "envoy/service/trace/v2/trace_service.proto",
]);

// Which files of each folder are taken.
const MODULES = {
  envoy: (path) =>
    !WITHOUT_IMPORTS.has(path) &&
    (path.includes("/v3/") || path.startsWith("envoy/annotations/") || UNVERSIONED.includes(path)),
  xds: () => true,
  googleapis: (path) =>
    /^google\/(rpc\/[a-z_]+|api\/(annotations|http|expr\/v1alpha1\/(checked|syntax)))\.proto$/.test(path),
  validate: (path) => path === "validate/validate.proto",
  v2: (path) =>
    (path.startsWith("envoy/") && !V2_WITHOUT_IMPORTS.has(path) && !UNVERSIONED.includes(path)) ||
    path === "gogoproto/gogo.proto",
};

const OWN_TEXTS = {
  "opentelemetry/proto/common/v1/common.proto": OPEN_TELEMETRY_COMMON,
  "opencensus/proto/trace/v1/trace_config.proto": OPEN_CENSUS_TRACE_CONFIG,
};

/** Writes the v3 files of Envoy, and with `v2` those of version 2 too, and what they import into one folder, where imports begin. */
export function stageProtos(protosDir, { v2 }) {
  const paths = Object.keys(OWN_TEXTS).filter((path) => v2 || !path.startsWith("opencensus/"));
  for (const [module, isWanted] of Object.entries(MODULES)) {
    if (module !== "v2" || v2) paths.push(...protoFiles(folderOf(module)).filter(isWanted));
  }
  for (const path of paths) writeProto(protosDir, path, readProto(path));
  writeFileSync(join(protosDir, "buf.yaml"), "version: v2\n");
}

/** The text of one of these files, mended where it needs it; undefined for a path that is none of them. */
export function readProto(path) {
  if (Object.hasOwn(OWN_TEXTS, path)) return OWN_TEXTS[path];
  for (const [module, isWanted] of Object.entries(MODULES)) {
    const file = join(folderOf(module), path);
    if (!isWanted(path) || !existsSync(file)) continue;
    const text = readFileSync(file, "utf8");
    return module === "validate" ? withIgnoreEmpty(text) : text;
  }
  return undefined;
}

/** Writes a file below a folder, which need not have its folders yet. */
export function writeProto(protosDir, path, text) {
  mkdirSync(dirname(join(protosDir, path)), { recursive: true });
  writeFileSync(join(protosDir, path), text);
}

/** Paths of all proto files below a folder. */
export function protoFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".proto") && !/(^|\/)(node_modules|\.[^/]*)\//.test(path));
}

function folderOf(module) {
  const [name, folder] = FOLDERS[module];
  return join(packageDirOf(name), folder);
}

/** The rules that are shipped with Envoy's files are older than the files: they lack an option that is used there. */
function withIgnoreEmpty(text) {
  if (/ignore_empty\s*=\s*26/.test(text)) return text;
  const patched = text.replace(/(optional bool strict\s*=\s*25[^;]*;)/, "$1\n    optional bool ignore_empty = 26;");
  if (patched === text) throw new Error("expected StringRules.strict = 25 in validate.proto");
  return patched;
}

/** Runs buf in a folder, without network. Throws if it fails. */
export function runBuf(cwd, args, stdio = ["ignore", "inherit", "inherit"]) {
  // The package's own bin runs the platform's binary from its optional dependency: no install script is needed.
  const script = join(packageDirOf(BUF), "bin", "buf");
  execFileSync(process.execPath, [script, ...args], { cwd, stdio });
}

/** The packages that are needed to compile proto files and are not installed. */
export function missingPackages() {
  return [BUF, ...PROTO_PACKAGES].filter((name) => findPackage(name) === undefined);
}

/** Where an npm package is installed; throws if it is not. */
export function packageDirOf(name) {
  const dir = findPackage(name);
  if (dir === undefined) throw new Error(`${name} is not installed: run npm ci`);
  return dir;
}

function findPackage(name) {
  const dirs = (require.resolve.paths(name) ?? []).map((dir) => join(dir, name));
  return dirs.find((dir) => existsSync(join(dir, "package.json")));
}
