import { contentDigest, type EnvoyApi, type ResponseFormat } from "@xdskit/envoy-api";
import { messageNameOf, type TypeUrl } from "@xdskit/protocol";
import { type TypeKind, typeKindTable } from "@xdskit/protocol/internal";

/** A resource type as files hold it. */
export interface FileType {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  /** Whether one file holds all resources of the type; else each has its own file. */
  readonly isWhole: boolean;
  /** Name of the file or folder, such as `cds`. */
  readonly folder: string;
}

/** The exported types and the paths of their files. */
export class FileLayout {
  /** Types that are always written, even without references to them. */
  readonly types: readonly FileType[];
  readonly #format: ResponseFormat;
  readonly #byType = new Map<TypeUrl, FileType>();

  constructor(api: Pick<EnvoyApi, "types" | "traits">, format: ResponseFormat, apiVersion: "v2" | "v3") {
    this.#format = format;
    this.types = api.types.flatMap(({ type, kind, shortName, v2Twin }) => {
      const used = apiVersion === "v3" ? type : v2Twin;
      if (used === undefined || shortName === "" || typeKindTable[kind].isDeltaOnly) return [];
      return [{ type: used, kind, isWhole: api.traits(type)?.isFullState === true, folder: shortName }];
    });
    for (const type of this.types) this.#byType.set(type.type, type);
    for (const { type, kind, v2Twin } of api.types) {
      if (typeKindTable[kind].isDeltaOnly)
        for (const each of [type, v2Twin]) if (each !== undefined) this.#deltaOnly.add(each);
    }
  }

  readonly #deltaOnly = new Set<TypeUrl>();

  /**
   * The layout of a type; undefined for types that only delta can carry. A type without a description gets one file per
   * resource.
   */
  of(type: TypeUrl): FileType | undefined {
    if (this.#deltaOnly.has(type)) return undefined;
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const made: FileType = { type, kind: "opaque", isWhole: false, folder: fileNameOf(messageNameOf(type)) };
    this.#byType.set(type, made);
    return made;
  }

  /** The path of a file below the directory; without a name, of the file of a whole type. */
  pathOf({ folder }: FileType, name: string | undefined): string {
    return name === undefined ? `${folder}.${this.#format}` : `${folder}/${fileNameOf(name)}.${this.#format}`;
  }
}

/** Names that are valid and distinct on every file system. */
const SAFE = /^[a-z0-9_][a-z0-9_.-]{0,98}[a-z0-9_-]$|^[a-z0-9_]$/;
const READABLE_CHARACTERS = 60;

/**
 * The file name of a resource, without extension. A name of lower-case letters, digits, `.`, `_` and `-` is kept; any
 * other keeps a readable start and gets a digest, so that slashes and `..` are harmless, names that differ only in case
 * differ everywhere, and no name is too long.
 */
function fileNameOf(name: string): string {
  if (SAFE.test(name)) return name;
  const readable = name
    .slice(0, READABLE_CHARACTERS)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "_");
  return `${readable}~${contentDigest([name]).toString(16).padStart(32, "0")}`;
}
