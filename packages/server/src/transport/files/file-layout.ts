import type { EnvoyApi, ResponseFormat } from "@xdskit/envoy-api";
import { messageNameOf, type TypeUrl } from "@xdskit/protocol";
import { type TypeKind, typeKindTable } from "@xdskit/protocol/internal";
import { fileNameOf } from "./file-name.ts";

/** A resource type, as files hold it. */
export interface FileType {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  /** One file holds all resources of the type; else each has a file of its own. */
  readonly isWhole: boolean;
  /** Such as `cds`: the name of the file, or of the folder of files. */
  readonly folder: string;
}

/** Which types there are, and where their files stand below the directory. */
export class FileLayout {
  /** The types that are written whether anything names them or not. */
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

  /** Any type but those that only delta can tell: of one that nobody described, each resource has a file. */
  of(type: TypeUrl): FileType | undefined {
    if (this.#deltaOnly.has(type)) return undefined;
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const made: FileType = { type, kind: "opaque", isWhole: false, folder: fileNameOf(messageNameOf(type)) };
    this.#byType.set(type, made);
    return made;
  }

  /** The path of a file below the directory; without a name, that of a whole type. */
  pathOf({ folder }: FileType, name: string | undefined): string {
    return name === undefined ? `${folder}.${this.#format}` : `${folder}/${fileNameOf(name)}.${this.#format}`;
  }
}
