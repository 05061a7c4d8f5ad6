import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FileDescriptorProto,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { DescriptorError } from "./descriptor-error.ts";

/**
 * Merges the built-in files with added sets, ordered so that every file follows its imports.
 *
 * An added file replaces the one of the same name, unless it is an older copy that declares nothing new: a set for a
 * private proto usually includes the Envoy files it was compiled with.
 *
 * @throws {DescriptorError} if a set cannot be decoded, an import is missing, or a symbol is declared twice
 */
export function mergeDescriptors(builtIn: FileDescriptorSet, added: readonly Uint8Array[]): FileDescriptorSet {
  if (added.length === 0) return builtIn;
  const files = new Map(builtIn.file.map((file): [string, Owned] => [file.name, { file, set: undefined }]));
  added.forEach((bytes, set) => {
    for (const file of decodeSet(bytes, set).file) {
      const present = files.get(file.name);
      if (present === undefined || !declaresNothingNew(file, present.file)) files.set(file.name, { file, set });
    }
  });
  findDuplicateSymbols(files.values());
  return create(FileDescriptorSetSchema, { file: inImportOrder(files) });
}

interface Owned {
  readonly file: FileDescriptorProto;
  readonly set: number | undefined;
}

function decodeSet(bytes: Uint8Array, set: number): FileDescriptorSet {
  let decoded: FileDescriptorSet;
  try {
    decoded = fromBinary(FileDescriptorSetSchema, bytes);
  } catch (cause) {
    throw new DescriptorError("expected an encoded google.protobuf.FileDescriptorSet, got other bytes", set, { cause });
  }
  if (decoded.file.length === 0 || decoded.file.some((file) => file.name === "")) {
    throw new DescriptorError(
      "expected a google.protobuf.FileDescriptorSet with at least one file, each with a name",
      set,
    );
  }
  return decoded;
}

function declaresNothingNew(candidate: FileDescriptorProto, present: FileDescriptorProto): boolean {
  const known = new Set(declarationsOf(present));
  return declarationsOf(candidate).every((declaration) => known.has(declaration));
}

/** Lists each message, field, enum, value, extension and method of a file, one per line. */
function declarationsOf(file: FileDescriptorProto): string[] {
  const scope = file.package === "" ? "" : `${file.package}.`;
  const lines: string[] = [];
  for (const message of file.messageType) declareMessage(message, scope, lines);
  for (const descriptor of file.enumType) declareEnum(descriptor, scope, lines);
  for (const extension of file.extension) lines.push(`extension ${scope}${extension.name} ${extension.number}`);
  for (const service of file.service) {
    for (const method of service.method) lines.push(`method ${scope}${service.name}.${method.name}`);
  }
  return lines;
}

function declareMessage(message: DescriptorProto, scope: string, lines: string[]): void {
  const name = `${scope}${message.name}`;
  lines.push(`message ${name}`);
  for (const field of message.field) {
    lines.push(`field ${name}.${field.name} ${field.number} ${field.label} ${field.type} ${field.typeName}`);
  }
  for (const nested of message.nestedType) declareMessage(nested, `${name}.`, lines);
  for (const descriptor of message.enumType) declareEnum(descriptor, `${name}.`, lines);
}

function declareEnum(descriptor: EnumDescriptorProto, scope: string, lines: string[]): void {
  lines.push(`enum ${scope}${descriptor.name}`);
  for (const value of descriptor.value) lines.push(`value ${scope}${descriptor.name}.${value.name} ${value.number}`);
}

function findDuplicateSymbols(files: Iterable<Owned>): void {
  const owners = new Map<string, Owned>();
  for (const owned of files) {
    const { file } = owned;
    const scope = file.package === "" ? "" : `${file.package}.`;
    for (const { name } of [...file.messageType, ...file.enumType, ...file.service]) {
      const symbol = `${scope}${name}`;
      const other = owners.get(symbol);
      if (other !== undefined) throw duplicateSymbol(symbol, other, owned);
      owners.set(symbol, owned);
    }
  }
}

function duplicateSymbol(symbol: string, one: Owned, two: Owned): DescriptorError {
  const [kept, again] = one.set === undefined ? [one, two] : [two, one];
  return new DescriptorError(
    `expected ${symbol} in "${kept.file.name}" only, got it in "${again.file.name}" too: ` +
      "a file takes the place of a built-in one only if it has the same name, so make the set from the folder that its imports begin at",
    again.set ?? kept.set,
  );
}

function inImportOrder(files: ReadonlyMap<string, Owned>): FileDescriptorProto[] {
  const ordered: FileDescriptorProto[] = [];
  const state = new Map<string, "open" | "done">();
  const visit = (name: string, importer: Owned | undefined): void => {
    const owned = files.get(name);
    if (owned === undefined) throw missingImport(name, importer);
    if (state.get(name) === "done") return;
    if (state.get(name) === "open")
      throw new DescriptorError(`expected no cycle of imports, got one through "${name}"`, owned.set);
    state.set(name, "open");
    for (const dependency of owned.file.dependency) visit(dependency, owned);
    state.set(name, "done");
    ordered.push(owned.file);
  };
  for (const name of files.keys()) visit(name, undefined);
  return ordered;
}

function missingImport(name: string, importer: Owned | undefined): DescriptorError {
  return new DescriptorError(
    `expected the file "${name}", which "${importer?.file.name ?? ""}" imports: make the set with its imports included`,
    importer?.set,
  );
}
