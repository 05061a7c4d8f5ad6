import { create, createFileRegistry, type DescFile, type FileRegistry } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, type FileDescriptorSet } from "@bufbuild/protobuf/wkt";

/** The file that stands for all that is read later. */
const ROOT = "xdskit/later.proto";

/**
 * A registry to which more files belong than it has read: they are when a name is asked for that may be in one of them, or when
 * everything is. What they import is taken from the files that are there.
 */
export function createLazyRegistry(
  present: FileRegistry,
  isLater: (name: string) => boolean,
  readLater: () => FileDescriptorSet,
): FileRegistry {
  let loaded: FileRegistry | undefined;
  const later = (): FileRegistry => {
    loaded ??= link(readLater(), present);
    return loaded;
  };
  const laterFor = (name: string): FileRegistry | undefined => (isLater(name) ? later() : undefined);
  return {
    kind: "registry",
    get: (name) => present.get(name) ?? laterFor(name)?.get(name),
    getMessage: (name) => present.getMessage(name) ?? laterFor(name)?.getMessage(name),
    getEnum: (name) => present.getEnum(name) ?? laterFor(name)?.getEnum(name),
    getService: (name) => present.getService(name) ?? laterFor(name)?.getService(name),
    getExtension: (name) => present.getExtension(name) ?? laterFor(name)?.getExtension(name),
    getExtensionFor: (extendee, number) =>
      present.getExtensionFor(extendee, number) ?? loaded?.getExtensionFor(extendee, number),
    getFile: (name) => present.getFile(name) ?? later().getFile(name),
    get files() {
      return [...present.files, ...laterOnly(later(), present)];
    },
    *[Symbol.iterator]() {
      yield* present;
      for (const type of later()) if (present.get(type.typeName) === undefined) yield type;
    },
  };
}

function laterOnly(later: FileRegistry, present: FileRegistry): readonly DescFile[] {
  return [...later.files].filter(({ proto }) => proto.name !== ROOT && present.getFile(proto.name) === undefined);
}

/** The files of a set stand behind what they import; the linker takes what a file imports from the last to the first. */
function link(set: FileDescriptorSet, present: FileRegistry): FileRegistry {
  const files = new Map(set.file.map((file) => [file.name, file]));
  const dependency = [...files.keys()].reverse();
  const root = create(FileDescriptorProtoSchema, { name: ROOT, syntax: "proto3", dependency });
  return createFileRegistry(root, (name) => present.getFile(name) ?? files.get(name));
}
