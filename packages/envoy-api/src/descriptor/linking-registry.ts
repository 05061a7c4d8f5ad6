import {
  create,
  createFileRegistry,
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  type FileRegistry,
  fromBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { PackedFile } from "./packed-file.ts";

/** What a registry knows by its name. */
type Declared = DescMessage | DescEnum | DescExtension | DescService;

/** Files that are read when a name is asked for that may be in one of them, or when everything is. */
export interface LaterFiles {
  readonly mayDeclare: (name: string) => boolean;
  readonly read: () => readonly PackedFile[];
}

/** The file that stands for all that is linked at once. */
const ROOT = "xdskit/root.proto";

/**
 * A registry of many files of which most programs need few: one is decoded and linked, with all that it imports, when something that it declares is first
 * asked for. What was linked stays the same object.
 */
export class LinkingRegistry implements FileRegistry {
  readonly kind = "registry";
  readonly #packed = new Map<string, PackedFile>();
  /** In which file something is declared. */
  readonly #owners = new Map<string, string>();
  readonly #linked = new Map<string, DescFile>();
  readonly #types = new Map<string, Declared>();
  readonly #extensions = new Map<string, DescExtension>();
  /** Those that declare some, and are not linked yet. */
  readonly #withExtensions = new Set<string>();
  #later: LaterFiles | undefined;

  /** A file of those that are linked already stands back behind one of the same name. */
  constructor(files: readonly PackedFile[], linked: readonly DescFile[], later?: LaterFiles) {
    this.#later = later;
    this.#pack(files);
    for (const file of linked) if (!this.#packed.has(file.proto.name)) this.#keep(file);
  }

  get(name: string): Declared | undefined {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const file = this.#ownerOf(name);
    if (file === undefined) return undefined;
    this.#link([file]);
    return this.#types.get(name);
  }

  getMessage(name: string): DescMessage | undefined {
    const declared = this.get(name);
    return declared?.kind === "message" ? declared : undefined;
  }

  getEnum(name: string): DescEnum | undefined {
    const declared = this.get(name);
    return declared?.kind === "enum" ? declared : undefined;
  }

  getService(name: string): DescService | undefined {
    const declared = this.get(name);
    return declared?.kind === "service" ? declared : undefined;
  }

  getExtension(name: string): DescExtension | undefined {
    const declared = this.get(name);
    return declared?.kind === "extension" ? declared : undefined;
  }

  getExtensionFor(extendee: DescMessage, number: number): DescExtension | undefined {
    this.#link(this.#withExtensions);
    return this.#extensions.get(extensionKey(extendee.typeName, number));
  }

  getFile(name: string): DescFile | undefined {
    if (!this.#linked.has(name) && !this.#packed.has(name)) this.#readLater();
    this.#link([name]);
    return this.#linked.get(name);
  }

  get files(): Iterable<DescFile> {
    this.#readLater();
    this.#link(this.#packed.keys());
    const inOrder = [...this.#packed.keys()].map((name) => this.#linked.get(name));
    return new Set([...inOrder.filter((file) => file !== undefined), ...this.#linked.values()]);
  }

  /** In an order that does not depend on what was asked for before. */
  *[Symbol.iterator](): IterableIterator<Declared> {
    for (const file of this.files) yield* nestedTypes(file);
  }

  #pack(files: readonly PackedFile[]): void {
    for (const file of files) {
      if (this.#packed.has(file.name)) continue;
      this.#packed.set(file.name, file);
      if (file.hasExtensions) this.#withExtensions.add(file.name);
      for (const name of file.declares) if (!this.#owners.has(name)) this.#owners.set(name, file.name);
    }
  }

  #readLater(): void {
    const later = this.#later;
    this.#later = undefined;
    if (later !== undefined) this.#pack(later.read());
  }

  /** What stands in a message is in the file of that. */
  #ownerOf(name: string): string | undefined {
    for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
      const file = this.#owners.get(name.slice(0, end));
      if (file !== undefined) return file;
    }
    if (this.#later?.mayDeclare(name) !== true) return undefined;
    this.#readLater();
    return this.#ownerOf(name);
  }

  /** Links files and all that they import, as far as that was not done. */
  #link(names: Iterable<string>): void {
    const protos = new Map<string, FileDescriptorProto>();
    for (const name of names) this.#decode(name, protos);
    if (protos.size === 0) return;
    // The linker takes what a file imports from the last to the first, and a file has to stand behind what it imports.
    const dependency = [...protos.keys()].reverse();
    const root = create(FileDescriptorProtoSchema, { name: ROOT, syntax: "proto3", dependency });
    const registry = createFileRegistry(root, (name) => this.#linked.get(name) ?? protos.get(name));
    for (const name of protos.keys()) {
      const file = registry.getFile(name);
      if (file !== undefined) this.#keep(file);
    }
  }

  /** Puts a file behind all that it imports. */
  #decode(name: string, into: Map<string, FileDescriptorProto>): void {
    const packed = this.#packed.get(name);
    if (packed === undefined || into.has(name) || this.#linked.has(name)) return;
    const proto = fromBinary(FileDescriptorProtoSchema, packed.bytes);
    for (const imported of proto.dependency) this.#decode(imported, into);
    into.set(name, proto);
  }

  #keep(file: DescFile): void {
    this.#linked.set(file.proto.name, file);
    this.#withExtensions.delete(file.proto.name);
    for (const type of nestedTypes(file)) {
      if (this.#types.has(type.typeName)) continue;
      this.#types.set(type.typeName, type);
      if (type.kind === "extension") this.#extensions.set(extensionKey(type.extendee.typeName, type.number), type);
    }
  }
}

function extensionKey(extendee: string, number: number): string {
  return `${extendee} ${number}`;
}
