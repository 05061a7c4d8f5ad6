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

/** What a registry finds by name. */
type Declared = DescMessage | DescEnum | DescExtension | DescService;

/** Files that are read once a name may be in one of them, or all files are requested. */
export interface LaterFiles {
  readonly mayDeclare: (name: string) => boolean;
  readonly read: () => readonly PackedFile[];
}

/** A synthetic file that imports all files linked in one go. */
const ROOT = "xdskit/root.proto";

/**
 * A lazy registry for many files of which most programs need few: decodes and links a file, with its imports, when one
 * of its declarations is first requested. Linked objects stay the same.
 */
export class LinkingRegistry implements FileRegistry {
  readonly kind = "registry";
  readonly #packed = new Map<string, PackedFile>();
  /** The declaring file of each name. */
  readonly #owners = new Map<string, string>();
  readonly #linked = new Map<string, DescFile>();
  readonly #types = new Map<string, Declared>();
  readonly #extensions = new Map<string, DescExtension>();
  /** Files with extensions that are not linked yet. */
  readonly #withExtensions = new Set<string>();
  #later: LaterFiles | undefined;

  /** A packed file takes precedence over a linked one of the same name. */
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

  /** In an order that does not depend on earlier requests. */
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

  /** A nested declaration is in the file of its message. */
  #ownerOf(name: string): string | undefined {
    for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
      const file = this.#owners.get(name.slice(0, end));
      if (file !== undefined) return file;
    }
    if (this.#later?.mayDeclare(name) !== true) return undefined;
    this.#readLater();
    return this.#ownerOf(name);
  }

  /** Links files with all their imports, unless they are linked. */
  #link(names: Iterable<string>): void {
    const protos = new Map<string, FileDescriptorProto>();
    for (const name of names) this.#decode(name, protos);
    if (protos.size === 0) return;
    // The linker takes imports from last to first, and a file must come after its imports.
    const dependency = [...protos.keys()].reverse();
    const root = create(FileDescriptorProtoSchema, { name: ROOT, syntax: "proto3", dependency });
    const registry = createFileRegistry(root, (name) => this.#linked.get(name) ?? protos.get(name));
    for (const name of protos.keys()) {
      const file = registry.getFile(name);
      if (file !== undefined) this.#keep(file);
    }
  }

  /** Adds a file after all its imports. */
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
