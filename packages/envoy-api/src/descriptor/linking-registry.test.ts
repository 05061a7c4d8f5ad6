import { create, createFileRegistry, type FileRegistry, toBinary } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { decodeBuiltIn, unpackBuiltIn, wellKnownFiles } from "./built-in.ts";
import { type LaterFiles, LinkingRegistry } from "./linking-registry.ts";
import { unpackFiles } from "./packed-file.ts";

const MESSAGE_TYPE = 11;

/** A file with one message, which has a field of the message of each file that is imported. */
function fileOf(name: string, ...imports: readonly string[]): FileDescriptorProto {
  const field = imports.map((one, index) => ({
    name: `f${index}`,
    number: index + 1,
    type: MESSAGE_TYPE,
    typeName: `.${one}.M`,
  }));
  const dependency = imports.map((one) => `${one}.proto`);
  const messageType = [{ name: "M", field, nestedType: [{ name: "Inner" }] }];
  return create(FileDescriptorProtoSchema, {
    name: `${name}.proto`,
    package: name,
    syntax: "proto3",
    dependency,
    messageType,
  });
}

function registryOf(files: readonly FileDescriptorProto[], later?: LaterFiles): LinkingRegistry {
  return new LinkingRegistry(
    unpackFiles(toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...files] }))),
    [],
    later,
  );
}

function builtIn(): LinkingRegistry {
  const later = { mayDeclare: (name: string) => !name.includes(".v3."), read: () => unpackBuiltIn("v2") };
  return new LinkingRegistry(unpackBuiltIn("v3"), wellKnownFiles, later);
}

function namesIn(registry: FileRegistry): readonly string[] {
  return [...registry].map(({ kind, typeName }) => `${kind} ${typeName}`);
}

describe("a registry that links what is asked for", () => {
  it("knows all that one knows that was linked at once", () => {
    const whole = createFileRegistry(decodeBuiltIn());
    const lazy = builtIn();
    for (const { kind, typeName } of whole) expect(lazy.get(typeName)?.kind, typeName).toBe(kind);
    expect([...namesIn(lazy)].sort()).toEqual([...namesIn(whole)].sort());
    const filesOf = (registry: FileRegistry) => [...registry.files].map(({ proto }) => proto.name).sort();
    expect(filesOf(lazy)).toEqual(filesOf(whole));
  });

  it("names everything in one order, whatever was asked for before", () => {
    const asked = builtIn();
    asked.get("envoy.config.listener.v3.Listener");
    asked.get("envoy.api.v2.Cluster");
    expect(namesIn(asked)).toEqual(namesIn(builtIn()));
  });

  it("reads a file only when something in it, or in what imports it, is asked for", () => {
    const damaged = create(FileDescriptorProtoSchema, { name: "b.proto", package: "b", syntax: "no such syntax" });
    damaged.messageType.push(...fileOf("b").messageType);
    const registry = registryOf([damaged, fileOf("a"), fileOf("c", "a"), fileOf("d", "b")]);
    expect(registry.getMessage("c.M")?.fields[0]?.message).toBe(registry.getMessage("a.M"));
    expect(() => registry.getMessage("b.M")).toThrow("no such syntax");
    expect(() => registry.getMessage("d.M")).toThrow("no such syntax");
    expect(() => [...registry]).toThrow("no such syntax");
  });

  it("keeps what was linked when more is linked that imports it", () => {
    const registry = registryOf([fileOf("b", "a"), fileOf("a")]);
    const first = registry.getMessage("a.M");
    expect(registry.getMessage("b.M")?.fields[0]?.message).toBe(first);
    expect(registry.getFile("b.proto")?.dependencies).toEqual([registry.getFile("a.proto")]);
    expect(registry.getMessage("a.M")).toBe(first);
  });

  it("finds what stands in a message, and nothing that is not there, or is of another kind", () => {
    const registry = registryOf([fileOf("a")]);
    expect(registry.getMessage("a.M.Inner")?.typeName).toBe("a.M.Inner");
    expect(registry.getEnum("a.M")).toBeUndefined();
    expect(registry.get("a.M.Other")).toBeUndefined();
    expect(registry.get("b.M")).toBeUndefined();
    expect(registry.getFile("b.proto")).toBeUndefined();
  });

  it("finds an extension by what it extends, before anybody asked for its file", () => {
    const rules = builtIn().getExtension("validate.rules");
    const registry = builtIn();
    const extendee = registry.getMessage("google.protobuf.FieldOptions");
    if (rules === undefined || extendee === undefined) throw new Error("the rules are not there");
    expect(registry.getExtensionFor(extendee, rules.number)?.typeName).toBe("validate.rules");
    expect(registry.getExtensionFor(extendee, rules.number)).toBe(registry.getExtension("validate.rules"));
  });

  it("reads later files once, when a name is asked for that may be in them, or everything", () => {
    const reads: string[] = [];
    const later = {
      mayDeclare: (name: string) => name.startsWith("b."),
      read: () => {
        reads.push("read");
        return unpackFiles(toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [fileOf("b")] })));
      },
    };
    const registry = registryOf([fileOf("a")], later);
    expect([registry.get("c.M"), registry.get("a.M")?.typeName, reads]).toEqual([undefined, "a.M", []]);
    expect([registry.get("b.M")?.typeName, registry.get("b.N"), reads]).toEqual(["b.M", undefined, ["read"]]);
    expect(namesIn(registryOf([fileOf("a")], later))).toContain("message b.M");
    expect(registryOf([fileOf("a")], later).getFile("b.proto")?.proto.name).toBe("b.proto");
  });

  it("takes a file that is linked already, unless there is one of its name", () => {
    const own = create(FileDescriptorProtoSchema, { ...file_google_protobuf_any.proto, dependency: [] });
    const set = create(FileDescriptorSetSchema, { file: [own] });
    const packed = unpackFiles(toBinary(FileDescriptorSetSchema, set));
    const [any] = file_google_protobuf_any.messages;
    expect(new LinkingRegistry([], [file_google_protobuf_any]).getMessage("google.protobuf.Any")).toBe(any);
    expect(new LinkingRegistry(packed, [file_google_protobuf_any]).getMessage("google.protobuf.Any")).not.toBe(any);
  });
});

it("bytes that are no descriptor set are told as such", () => {
  expect(() => unpackFiles(new Uint8Array([0x0a, 5, 1]))).toThrow("premature EOF");
});
