import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { createEnvoyApi, DescriptorError, type EnvoyApi } from "../src/index.ts";
import { api, lines, typed, url, V3 } from "./support/api.ts";
import { compileProtos, makeDescriptors, runScript } from "./support/compile-protos.ts";

const WIDGET = `syntax = "proto3";
package acme.v1;
import "envoy/config/core/v3/grpc_service.proto";
import "google/protobuf/field_mask.proto";
message Widget {
  string name = 1;
  envoy.config.core.v3.GrpcService service = 2;
  google.protobuf.FieldMask mask = 3;
}
service WidgetService { rpc Get(Widget) returns (Widget); }
`;

// A runtime of a later Envoy, with a field more.
const NEWER_RUNTIME = `syntax = "proto3";
package envoy.service.runtime.v3;
import "envoy/service/discovery/v3/discovery.proto";
import "envoy/annotations/resource.proto";
import "google/protobuf/struct.proto";
service RuntimeDiscoveryService {
  option (envoy.annotations.resource).type = "envoy.service.runtime.v3.Runtime";
  rpc StreamRuntime(stream envoy.service.discovery.v3.DiscoveryRequest) returns (stream envoy.service.discovery.v3.DiscoveryResponse) {}
  rpc DeltaRuntime(stream envoy.service.discovery.v3.DeltaDiscoveryRequest) returns (stream envoy.service.discovery.v3.DeltaDiscoveryResponse) {}
  rpc FetchRuntime(envoy.service.discovery.v3.DiscoveryRequest) returns (envoy.service.discovery.v3.DiscoveryResponse) {}
}
message RtdsDummy {}
message Runtime {
  string name = 1;
  google.protobuf.Struct layer = 2;
  string from_the_future = 3;
}
`;
const OLDER_RUNTIME = NEWER_RUNTIME.replace("  string from_the_future = 3;\n", "").replace(
  "  google.protobuf.Struct layer = 2;\n",
  "",
);
const RTDS = "envoy/service/runtime/v3/rtds.proto";

function errorOf(make: () => EnvoyApi): DescriptorError {
  try {
    make();
  } catch (error) {
    if (error instanceof DescriptorError) return error;
    throw error;
  }
  throw new Error("expected a DescriptorError");
}

describe("added descriptors", () => {
  it("bring private messages, as resources and inside others, with their references", () => {
    const wider = createEnvoyApi({ descriptors: [compileProtos({ "acme/widget.proto": WIDGET })] });
    const widget = typed("acme.v1.Widget", { name: "w", service: { envoyGrpc: { clusterName: "c" } }, mask: "a.bC" });
    const { input } = wider.readResource(typed(V3.extension, { name: "x", typedConfig: widget }));
    expect([api.knows(url("acme.v1.Widget")), wider.knows(url("acme.v1.Widget"))]).toEqual([false, true]);
    expect(input?.references).toEqual([{ type: url(V3.cluster), name: "c" }]);
    expect(wider.toJson(url(V3.extension), input?.bytes ?? new Uint8Array())).toEqual(
      typed(V3.extension, { name: "x", typedConfig: widget }),
    );
    expect(wider.readResource(widget).input?.name).toBe("w");
    expect(wider.reflection.services).toContain("acme.v1.WidgetService");
  });

  it("take the place of a file of the same name, so that a newer field is known", () => {
    const newer = createEnvoyApi({ descriptors: [compileProtos({ [RTDS]: NEWER_RUNTIME })] });
    const value = typed(V3.runtime, { name: "r", from_the_future: "x", layer: { a: 1 } });
    expect(lines(api.readResource(value).problems)).toEqual([
      'error FIELD_UNKNOWN from_the_future: expected a field of envoy.service.runtime.v3.Runtime, got "from_the_future"',
    ]);
    const { input, problems } = newer.readResource(value);
    expect(problems).toEqual([]);
    expect(newer.toJson(url(V3.runtime), input?.bytes ?? new Uint8Array())).toEqual(
      typed(V3.runtime, { name: "r", fromTheFuture: "x", layer: { a: 1 } }),
    );
  });

  it("do not take the place of a file that has more than they", () => {
    const older = createEnvoyApi({ descriptors: [compileProtos({ [RTDS]: OLDER_RUNTIME })] });
    expect(older.readResource(typed(V3.runtime, { name: "r", layer: { a: 1 } })).problems).toEqual([]);
  });

  it("may come in several sets; a later one may replace an earlier one's files", () => {
    const sets = [NEWER_RUNTIME, NEWER_RUNTIME.replace("}\n", "}\n").replace("from_the_future = 3", "other = 4")];
    const both = createEnvoyApi({ descriptors: sets.map((text) => compileProtos({ [RTDS]: text })) });
    expect(both.readResource(typed(V3.runtime, { name: "r", other: "x" })).problems).toEqual([]);
  });

  it.each<[string, Uint8Array, string]>([
    ["other bytes", Uint8Array.of(1, 2, 3), "expected an encoded google.protobuf.FileDescriptorSet, got other bytes"],
    [
      "nothing",
      new Uint8Array(),
      "expected a google.protobuf.FileDescriptorSet with at least one file, each with a name",
    ],
    [
      "a file without its imports",
      toBinary(
        FileDescriptorSetSchema,
        create(FileDescriptorSetSchema, {
          file: [create(FileDescriptorProtoSchema, { name: "a.proto", syntax: "proto3", dependency: ["b.proto"] })],
        }),
      ),
      'expected the file "b.proto", which "a.proto" imports: make the set with its imports included',
    ],
  ])("%s cannot be used, and it is said which of them", (_, descriptors, message) => {
    const good = compileProtos({ "acme/widget.proto": WIDGET });
    const error = errorOf(() => createEnvoyApi({ descriptors: [good, descriptors] }));
    expect([error.message, error.set]).toEqual([message, 1]);
  });

  it("that declare a known message in a file of another name cannot be used", () => {
    const moved = create(FileDescriptorProtoSchema, {
      name: "api/rtds.proto",
      package: "envoy.service.runtime.v3",
      syntax: "proto3",
      messageType: [{ name: "Runtime" }],
    });
    const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [moved] }));
    const error = errorOf(() => createEnvoyApi({ descriptors: [set] }));
    expect([error.message, error.set]).toEqual([
      'expected envoy.service.runtime.v3.Runtime in "envoy/service/runtime/v3/rtds.proto" only, got it in "api/rtds.proto" too: a file takes the place of a built-in one only if it has the same name, so make the set from the folder that its imports begin at',
      0,
    ]);
  });

  it("that do not fit what imports them cannot be used", () => {
    const stripped = create(FileDescriptorProtoSchema, {
      name: "envoy/config/core/v3/extension.proto",
      package: "envoy.config.core.v3",
      syntax: "proto3",
      messageType: [{ name: "SomethingElse" }],
    });
    const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [stripped] }));
    const error = errorOf(() => createEnvoyApi({ descriptors: [set] }));
    expect(error.message).toMatch(/^expected descriptors that fit the built-in ones: .*TypedExtensionConfig/);
    expect(error.set).toBe(0);
  });
});

describe("make-descriptors.mjs", () => {
  it("writes the files and what they import, without comments", () => {
    const { descriptors, stderr } = makeDescriptors({ "acme/widget.proto": `// a comment\n${WIDGET}` });
    const { file } = fromBinary(FileDescriptorSetSchema, descriptors);
    const names = file.map(({ name }) => name);
    expect(names).toContain("acme/widget.proto");
    expect(names).toContain("envoy/config/core/v3/grpc_service.proto");
    expect(names.filter((name) => name.startsWith("envoy/extensions/") || name.includes("make_descriptors"))).toEqual(
      [],
    );
    expect(file.some(({ sourceCodeInfo }) => sourceCodeInfo !== undefined)).toBe(false);
    expect(stderr).toBe("/out.binpb: 1 files and their imports\n");
  });

  it("tells of missing imports, and leaves such files out if asked", () => {
    const files = {
      "a.proto": 'syntax = "proto3"; import "nowhere/x.proto";',
      "b.proto": 'syntax = "proto3"; import "a.proto";',
      "c.proto": 'syntax = "proto3"; message C {}',
    };
    const refused = makeDescriptors(files);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("missing are\n  a.proto: nowhere/x.proto\n  b.proto: nowhere/x.proto\n");
    const { status, stderr } = makeDescriptors(files, ["--skip-missing"]);
    expect([status, stderr]).toEqual([0, "/out.binpb: 1 files and their imports, left out 2:\n  a.proto\n  b.proto\n"]);
  });

  it("takes only what is asked for", () => {
    const files = { "a/a.proto": 'syntax = "proto3"; message A {}', "b/b.proto": "not a proto file" };
    expect(makeDescriptors(files, ["--only", "a/"]).status).toBe(0);
  });

  it("tells where a file does not compile, and how it is used", () => {
    const broken = makeDescriptors({ "a.proto": 'syntax = "proto3";\nmessage A { string a = ; }' });
    expect([broken.status, broken.stderr]).toEqual([
      1,
      expect.stringMatching(/the files do not compile:\na\.proto:2:\d+:/),
    ]);
    expect(runScript([]).stderr).toMatch(/^make-descriptors: expected a PROTO_DIR and -o FILE/);
    expect(runScript(["--nope"]).status).toBe(1);
    expect(runScript(["--help"])).toEqual({
      status: 0,
      stderr: expect.stringMatching(/^usage: node make-descriptors/),
    });
    expect(runScript(["/does/not/exist", "-o", "x"]).stderr).toBe(
      "make-descriptors: expected a folder, got /does/not/exist\n",
    );
  });
});

describe("reflection", () => {
  const namesOf = (files: readonly Uint8Array[] | undefined): readonly string[] | undefined =>
    files?.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);

  it.each([
    "envoy.service.cluster.v3.ClusterDiscoveryService",
    "envoy.service.cluster.v3.ClusterDiscoveryService.StreamClusters",
    "envoy.service.cluster.v3.CdsDummy",
  ])("finds the file of %s, and all that it imports", (symbol) => {
    const names = namesOf(api.reflection.fileContaining(symbol));
    expect(names?.[0]).toBe("envoy/service/cluster/v3/cds.proto");
    expect(names).toContain("envoy/service/discovery/v3/discovery.proto");
    expect(new Set(names).size).toBe(names?.length);
  });

  it.each([
    ["envoy.config.cluster.v3.Cluster.name", "envoy/config/cluster/v3/cluster.proto"],
    ["envoy.config.cluster.v3.Cluster.LbPolicy", "envoy/config/cluster/v3/cluster.proto"],
    ["envoy.config.cluster.v3.Cluster.nothing", undefined],
    ["nothing", undefined],
  ])("%s is in %s", (symbol, file) => {
    expect(namesOf(api.reflection.fileContaining(symbol))?.[0]).toBe(file);
  });

  it("finds files by name, and lists services", () => {
    expect(namesOf(api.reflection.fileByName("google/protobuf/any.proto"))).toEqual(["google/protobuf/any.proto"]);
    expect(api.reflection.fileByName("nothing.proto")).toBeUndefined();
    expect(api.reflection.fileByName("google/protobuf/any.proto")).toBe(
      api.reflection.fileContaining("google.protobuf.Any"),
    );
    expect(api.reflection.services).toContain("envoy.service.discovery.v3.AggregatedDiscoveryService");
  });
});
