import { type DescFile, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Schema } from "./schema.ts";

/**
 * File descriptors for gRPC server reflection, each an encoded `FileDescriptorProto`. Cached: the same query returns
 * the same bytes.
 */
export interface DescriptorReflection {
  /**
   * Returns the file that declares a symbol (message, field, enum, value, service, method, extension), then all its
   * imports.
   */
  fileContaining(symbol: string): readonly Uint8Array[] | undefined;
  /** Returns a file by name, then all its imports. */
  fileByName(name: string): readonly Uint8Array[] | undefined;
  /** Full names of all services, sorted. */
  readonly services: readonly string[];
}

export function createReflection(schema: Schema): DescriptorReflection {
  const { registry } = schema;
  const encoded = new Map<DescFile, Uint8Array>();
  const closures = new Map<DescFile, readonly Uint8Array[]>();
  const encodedOf = (file: DescFile): Uint8Array => {
    const bytes = encoded.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
    encoded.set(file, bytes);
    return bytes;
  };
  const closureOf = (file: DescFile | undefined): readonly Uint8Array[] | undefined => {
    if (file === undefined) return undefined;
    let closure = closures.get(file);
    if (closure === undefined) {
      const files = new Set<DescFile>();
      collect(file, files);
      closure = [...files].map(encodedOf);
      closures.set(file, closure);
    }
    return closure;
  };
  return {
    fileContaining: (symbol) => closureOf(fileDeclaring(symbol, schema)),
    fileByName: (name) => closureOf(registry.getFile(name)),
    get services() {
      return [...registry]
        .filter((type) => type.kind === "service")
        .map((service) => service.typeName)
        .sort();
    },
  };
}

function collect(file: DescFile, into: Set<DescFile>): void {
  if (into.has(file)) return;
  into.add(file);
  for (const dependency of file.dependencies) collect(dependency, into);
}

function fileDeclaring(symbol: string, schema: Schema): DescFile | undefined {
  const whole = schema.registry.get(symbol);
  if (whole !== undefined) return whole.file;
  const dot = symbol.lastIndexOf(".");
  const parent = schema.registry.get(symbol.slice(0, dot));
  const member = symbol.slice(dot + 1);
  switch (parent?.kind) {
    case "message":
      return hasMember(parent, member) ? parent.file : undefined;
    case "service":
      return parent.methods.some((method) => method.name === member) ? parent.file : undefined;
    case "enum":
      return parent.values.some((value) => value.name === member) ? parent.file : undefined;
    default:
      return undefined;
  }
}

function hasMember(message: DescMessage, name: string): boolean {
  return [...message.fields, ...message.oneofs].some((member) => member.name === name);
}
