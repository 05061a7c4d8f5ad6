import type { Reference, TypeUrl } from "@xdskit/protocol";
import { addSums, formatVersion, typeKindTable } from "@xdskit/protocol/internal";
import type { FileLayout, FileType } from "./file-layout.ts";

/** A resource as it is to stand in a file. Compared by identity. */
export interface FileResource {
  readonly type: TypeUrl;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** What it adds to the version of its file. */
  readonly sum: bigint;
  readonly references: readonly Reference[];
}

/** What one file is to hold. */
export interface FileContent {
  readonly type: FileType;
  /** Undefined for the file of a whole type. */
  readonly name: string | undefined;
  /** Sorted by name. */
  readonly resources: readonly FileResource[];
  readonly version: string;
}

/** What is known of one type. */
interface TypeFiles {
  readonly type: FileType;
  /** Everything that there is of it was told. */
  isAnswered: boolean;
  readonly told: Map<string, FileResource>;
  /** Names that were asked for and do not exist. */
  readonly absent: Set<string>;
  /** By name, what is in files now; undefined: an empty file. */
  readonly inForce: Map<string, FileResource | undefined>;
  /** What the file of a whole type held before this writer, and may still be used. */
  readonly heldOver: Map<string, FileResource>;
  /** Names whose files may not be there any more. */
  readonly doubted: Set<string>;
  /** Of the file of a whole type. */
  version: string | undefined;
}

/**
 * What a client of files is to find, and in which order. A resource comes into force when all that it names in other files is there,
 * or is known not to exist; until then what was in force under its name stays (client-behaviours J3, J6).
 */
export class FileView {
  readonly #layout: FileLayout;
  readonly #types = new Map<TypeUrl, TypeFiles>();

  constructor(layout: FileLayout) {
    this.#layout = layout;
    for (const type of layout.types) this.#types.set(type.type, emptyType(type, false));
  }

  put(resource: FileResource): void {
    const files = this.#of(resource.type);
    if (files === undefined) return;
    files.absent.delete(resource.name);
    // What is told again as it was is no change, and its file is not touched.
    if (files.told.get(resource.name)?.sum !== resource.sum) files.told.set(resource.name, resource);
  }

  remove(type: TypeUrl, name: string): void {
    const files = this.#of(type);
    files?.told.delete(name);
    files?.heldOver.delete(name);
    if (files?.type.isWhole === false) files.absent.add(name);
  }

  /** There is something of that name, and why it cannot be had was told: what there was before stays, and nobody waits for it. */
  refuse(type: TypeUrl, name: string): void {
    const files = this.#of(type);
    if (files !== undefined && !files.told.has(name) && !files.type.isWhole) files.absent.add(name);
  }

  /** All is told anew: what was in files stays until it is known what there is. */
  restart(): void {
    for (const files of this.#types.values()) {
      for (const [name, resource] of files.type.isWhole ? files.inForce : []) {
        if (resource !== undefined) files.heldOver.set(name, resource);
      }
      files.told.clear();
      files.absent.clear();
      files.isAnswered = !this.#layout.types.includes(files.type);
    }
  }

  /** The first answer of a type came: what is not told of it is asked for by name. */
  answer(type: TypeUrl): void {
    const files = this.#of(type);
    if (files !== undefined) files.isAnswered = true;
  }

  /** What files held before: of whole types, it stays until `letGo`. */
  hold(resource: FileResource): void {
    const files = this.#of(resource.type);
    files?.heldOver.set(resource.name, resource);
  }

  /** Whether there is anything that only `letGo` takes out of the files. */
  get holdsOver(): boolean {
    return [...this.#types.values()].some(({ heldOver }) => heldOver.size > 0);
  }

  letGo(): void {
    for (const { heldOver } of this.#types.values()) heldOver.clear();
  }

  /** Forgets names that do not exist and that nothing refers to, and says which. */
  prune(): readonly Reference[] {
    const referred = this.#referred();
    return [...this.#types.values()].flatMap(({ type: { type }, absent, inForce }) =>
      [...absent].flatMap((name) => {
        if (inForce.has(name) || referred.has(keyOf({ type, name }))) return [];
        absent.delete(name);
        return [{ type, name }];
      }),
    );
  }

  get isAnswered(): boolean {
    return [...this.#types.values()].every(({ isAnswered }) => isAnswered);
  }

  get resources(): number {
    return [...this.#types.values()].reduce((count, { told }) => count + told.size, 0);
  }

  /** Names that resources refer to and that nothing is known of yet. */
  unknownNames(): readonly Reference[] {
    const unknown = new Map<string, Reference>();
    for (const reference of this.#referencesTold()) {
      const files = this.#of(reference.type);
      if (files === undefined || files.type.isWhole || !files.isAnswered || isKnown(files, reference.name)) continue;
      unknown.set(keyOf(reference), reference);
    }
    return [...unknown.values()];
  }

  /** What is to be written now, in this order: each group is to be in place before the next. */
  changes(): readonly (readonly FileContent[])[] {
    const isReady = this.#readiness();
    const empty = this.#emptyFiles(isReady);
    return this.#inOrder().flatMap((files) => {
      if (!files.isAnswered) return [];
      const contents = files.type.isWhole ? wholeChange(files, isReady) : singleChanges(files, isReady);
      const placeholders = empty.get(files) ?? [];
      return contents.length + placeholders.length === 0 ? [] : [[...placeholders, ...contents]];
    });
  }

  /** Files of names that do not exist any longer, though something refers to them: they are to be empty. */
  emptied(): readonly FileContent[] {
    const referred = this.#referred();
    return this.#inOrder().flatMap((files) =>
      [...files.inForce].flatMap(([name, resource]) => {
        const isOver = !files.type.isWhole && resource !== undefined && !files.told.has(name);
        return isOver && referred.has(keyOf({ type: files.type.type, name })) ? [contentOf(files.type, name, [])] : [];
      }),
    );
  }

  /** Files of names that do not exist, and that nothing refers to. */
  unused(): readonly FileContent[] {
    const referred = this.#referred();
    return this.#inOrder().flatMap((files) =>
      files.type.isWhole
        ? []
        : [...files.inForce.keys()].flatMap((name) => {
            const isUsed = files.told.has(name) || referred.has(keyOf({ type: files.type.type, name }));
            return isUsed ? [] : [contentOf(files.type, name, [])];
          }),
    );
  }

  /** The file is in place. */
  written({ type, name, resources, version }: FileContent): void {
    const files = this.#of(type.type);
    if (files === undefined) return;
    if (name === undefined) {
      files.version = version;
      files.inForce.clear();
      for (const resource of resources) files.inForce.set(resource.name, resource);
      return;
    }
    files.inForce.set(name, resources[0]);
    files.doubted.delete(name);
  }

  /** The file is gone. */
  removed({ type, name }: FileContent): void {
    if (name === undefined) return;
    this.#of(type.type)?.inForce.delete(name);
    this.#of(type.type)?.doubted.delete(name);
  }

  /** Every file that there is. */
  paths(): ReadonlySet<string> {
    return new Set(
      [...this.#types.values()].flatMap(({ type, inForce, version }) => {
        if (type.isWhole) return version === undefined ? [] : [this.#layout.pathOf(type, undefined)];
        return [...inForce.keys()].map((name) => this.#layout.pathOf(type, name));
      }),
    );
  }

  /** Something went wrong with the files: all of them are to be written again. */
  doubt(): void {
    for (const files of this.#types.values()) {
      files.version = undefined;
      if (!files.type.isWhole) for (const name of files.inForce.keys()) files.doubted.add(name);
    }
  }

  /** Whether files hold the newest that was told of a name. */
  isInForce(type: TypeUrl, name: string): boolean {
    const files = this.#of(type);
    if (files === undefined) return true;
    const told = files.told.get(name);
    // What is gone leaves the file of a whole type at once, and other files when nothing names them any more.
    if (told === undefined) return !files.type.isWhole || files.heldOver.has(name) || !files.inForce.has(name);
    return files.inForce.get(name)?.sum === told.sum;
  }

  #of(type: TypeUrl): TypeFiles | undefined {
    const known = this.#types.get(type);
    if (known !== undefined) return known;
    const described = this.#layout.of(type);
    if (described === undefined) return undefined;
    const made = emptyType(described, true);
    this.#types.set(type, made);
    return made;
  }

  #inOrder(): readonly TypeFiles[] {
    // What ends waiting is written before what makes a client wait, and what is used before what uses it.
    const rank = ({ type }: TypeFiles): number => typeKindTable[type.kind].fileRank ?? 0;
    return [...this.#types.values()].sort((a, b) => rank(a) - rank(b));
  }

  *#referencesTold(): Iterable<Reference> {
    for (const { told } of this.#types.values()) for (const { references } of told.values()) yield* references;
  }

  /** Every name that a resource refers to which is in force, or is to be. */
  #referred(): ReadonlySet<string> {
    const referred = new Set<string>();
    for (const reference of this.#referencesTold()) referred.add(keyOf(reference));
    for (const { inForce } of this.#types.values()) {
      for (const resource of inForce.values())
        for (const reference of resource?.references ?? []) referred.add(keyOf(reference));
    }
    return referred;
  }

  /** Whether a resource may come into force. */
  #readiness(): (resource: FileResource) => boolean {
    const known = new Map<FileResource, boolean>();
    const isReady = (resource: FileResource): boolean => {
      const found = known.get(resource);
      if (found !== undefined) return found;
      known.set(resource, true); // for whoever refers to itself in the end
      const ready = resource.references.every(({ type, name }) => {
        const files = this.#of(type);
        if (files === undefined || files.type.isWhole) return true;
        const told = files.told.get(name);
        if (told !== undefined) return isReady(told);
        return files.isAnswered && files.absent.has(name);
      });
      known.set(resource, ready);
      return ready;
    };
    return isReady;
  }

  /** Files that are named by what comes into force, and of which nothing exists. */
  #emptyFiles(isReady: (resource: FileResource) => boolean): ReadonlyMap<TypeFiles, readonly FileContent[]> {
    const empty = new Map<TypeFiles, Map<string, FileContent>>();
    for (const { told } of this.#types.values()) {
      for (const resource of told.values()) {
        if (resource.references.length === 0 || !isReady(resource)) continue;
        for (const { type, name } of resource.references) {
          const files = this.#of(type);
          if (files === undefined || files.type.isWhole || files.told.has(name) || files.inForce.has(name)) continue;
          const ofType = empty.get(files) ?? new Map<string, FileContent>();
          empty.set(files, ofType.set(name, contentOf(files.type, name, [])));
        }
      }
    }
    return new Map([...empty].map(([files, byName]) => [files, [...byName.values()]]));
  }
}

function emptyType(type: FileType, isAnswered: boolean): TypeFiles {
  return {
    type,
    isAnswered,
    told: new Map(),
    absent: new Set(),
    inForce: new Map(),
    heldOver: new Map(),
    doubted: new Set(),
    version: undefined,
  };
}

function isKnown({ told, absent }: TypeFiles, name: string): boolean {
  return told.has(name) || absent.has(name);
}

function wholeChange(files: TypeFiles, isReady: (resource: FileResource) => boolean): readonly FileContent[] {
  const { told, heldOver, inForce } = files;
  const resources = [...new Set([...heldOver.keys(), ...told.keys()])].flatMap((name) => {
    const newest = told.get(name);
    const stands = newest !== undefined && isReady(newest) ? newest : (inForce.get(name) ?? heldOver.get(name));
    return stands === undefined ? [] : [stands];
  });
  // Before its first file, what is told waits for what it names: an empty file would say that there is nothing.
  if (files.version === undefined && resources.length === 0 && told.size > 0) return [];
  const content = contentOf(files.type, undefined, resources);
  return content.version === files.version ? [] : [content];
}

function singleChanges(files: TypeFiles, isReady: (resource: FileResource) => boolean): readonly FileContent[] {
  const { type, told, inForce, doubted } = files;
  const changed = [...told].flatMap(([name, resource]) =>
    inForce.get(name)?.sum === resource.sum || !isReady(resource) ? [] : [contentOf(type, name, [resource])],
  );
  const again = new Set(changed.map(({ name }) => name));
  const doubtful = [...doubted].flatMap((name) => {
    const resource = inForce.get(name);
    return again.has(name) ? [] : [contentOf(type, name, resource === undefined ? [] : [resource])];
  });
  return [...changed, ...doubtful];
}

function contentOf(type: FileType, name: string | undefined, resources: readonly FileResource[]): FileContent {
  const sorted = [...resources].sort((a, b) => (a.name < b.name ? -1 : 1));
  const version = formatVersion(sorted.reduce((sum, resource) => addSums(sum, resource.sum), 0n));
  return { type, name, resources: sorted, version };
}

function keyOf({ type, name }: Reference): string {
  return `${type}\n${name}`;
}
