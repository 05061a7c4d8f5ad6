import type { Reference, TypeUrl } from "@xdskit/protocol";
import { addSums, formatVersion, typeKindTable } from "@xdskit/protocol/internal";
import type { FileLayout, FileType } from "./file-layout.ts";

/** A resource prepared for a file. Compared by identity. */
export interface FileResource {
  readonly type: TypeUrl;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Its share of the file's version. */
  readonly sum: bigint;
  readonly references: readonly Reference[];
}

/** The content of one file. */
export interface FileContent {
  readonly type: FileType;
  /** Undefined for the file of a whole type. */
  readonly name: string | undefined;
  /** Sorted by name. */
  readonly resources: readonly FileResource[];
  readonly version: string;
}

/** Removed resources that their file has until what may replace them is ready. */
interface Handover {
  /** The names that were put when these were removed. */
  readonly began: readonly string[];
  readonly leaving: Map<string, FileResource>;
  /** The same names, and those that were put when one of them was removed in turn. */
  readonly arrivals: Set<string>;
  /** The lists whose names these are. */
  readonly lists: Set<readonly string[]>;
}

/** The state of one type. */
interface TypeFiles {
  readonly type: FileType;
  /** Whether the type's first response arrived. */
  isAnswered: boolean;
  readonly told: Map<string, FileResource>;
  /** Requested names that do not exist. */
  readonly absent: Set<string>;
  /** Resources in files now, by name; undefined: an empty file. */
  readonly inForce: Map<string, FileResource | undefined>;
  /** Resources that the previous writer left in the file of a whole type and that may still be in use. */
  readonly heldOver: Map<string, FileResource>;
  /** Removals of a whole type that wait for what came with them. */
  readonly handovers: Set<Handover>;
  /** Names whose files may be missing. */
  readonly doubted: Set<string>;
  /** Version of the file of a whole type. */
  version: string | undefined;
}

/**
 * Decides which files to write, and in which order. A resource takes effect once everything it references in other
 * files exists or is known to be absent; until then its previous version stays (client-behaviours J3, J6).
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
    for (const { leaving } of files.handovers) leaving.delete(resource.name);
    // An unchanged resource does not touch its file.
    if (files.told.get(resource.name)?.sum !== resource.sum) files.told.set(resource.name, resource);
  }

  /**
   * Removes a resource; `arrivals` are the names that the same response puts. One of them may be its replacement, such as
   * a listener at its address, so the file of a whole type keeps it until they are ready.
   */
  remove(type: TypeUrl, name: string, arrivals: readonly string[] = []): void {
    const files = this.#of(type);
    if (files === undefined) return;
    const resource = files.inForce.get(name) ?? files.heldOver.get(name);
    files.told.delete(name);
    files.heldOver.delete(name);
    if (!files.type.isWhole) files.absent.add(name);
    else handOver(files, { name, resource, arrivals });
  }

  /** Marks a name as present but unavailable: its previous version stays, and nothing waits for it. */
  refuse(type: TypeUrl, name: string): void {
    const files = this.#of(type);
    if (files !== undefined && !files.told.has(name) && !files.type.isWhole) files.absent.add(name);
  }

  /** Starts over for a new stream: files stay until the new state is known. */
  restart(): void {
    for (const files of this.#types.values()) {
      for (const [name, resource] of files.type.isWhole ? files.inForce : []) {
        if (resource !== undefined) files.heldOver.set(name, resource);
      }
      files.told.clear();
      files.absent.clear();
      files.handovers.clear();
      files.isAnswered = !this.#layout.types.includes(files.type);
    }
  }

  /** The first response of a type arrived; names it lacks are now requested one by one. */
  answer(type: TypeUrl): void {
    const files = this.#of(type);
    if (files !== undefined) files.isAnswered = true;
  }

  /** Adds a resource from the previous writer's files; those of whole types stay until `letGo`. */
  hold(resource: FileResource): void {
    const files = this.#of(resource.type);
    files?.heldOver.set(resource.name, resource);
  }

  /** Whether files hold resources that only `letGo` removes. */
  get holdsOver(): boolean {
    return [...this.#types.values()].some(({ heldOver }) => heldOver.size > 0);
  }

  letGo(): void {
    for (const { heldOver } of this.#types.values()) heldOver.clear();
  }

  /** Drops and returns names that do not exist and are not referenced. */
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

  /** Referenced names of unknown state. */
  unknownNames(): readonly Reference[] {
    const unknown = new Map<string, Reference>();
    for (const reference of this.#referencesTold()) {
      const files = this.#of(reference.type);
      if (files === undefined || files.type.isWhole || !files.isAnswered || isKnown(files, reference.name)) continue;
      unknown.set(keyOf(reference), reference);
    }
    return [...unknown.values()];
  }

  /** The files to write now, in groups; each group must be in place before the next. */
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

  /** Files to empty: their names no longer exist but are still referenced. */
  emptied(): readonly FileContent[] {
    const referred = this.#referred();
    return this.#inOrder().flatMap((files) =>
      [...files.inForce].flatMap(([name, resource]) => {
        const isOver = !files.type.isWhole && resource !== undefined && !files.told.has(name);
        return isOver && referred.has(keyOf({ type: files.type.type, name })) ? [contentOf(files.type, name, [])] : [];
      }),
    );
  }

  /** Files of names that do not exist and are not referenced. */
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

  /** Records a written file. */
  written({ type, name, resources, version }: FileContent): void {
    const files = this.#of(type.type);
    if (files === undefined) return;
    if (name === undefined) {
      files.version = version;
      files.inForce.clear();
      for (const resource of resources) files.inForce.set(resource.name, resource);
      for (const handover of files.handovers) {
        for (const left of handover.leaving.keys()) if (!files.inForce.has(left)) handover.leaving.delete(left);
        if (handover.leaving.size === 0) files.handovers.delete(handover);
      }
      return;
    }
    files.inForce.set(name, resources[0]);
    files.doubted.delete(name);
  }

  /** Records a removed file. */
  removed({ type, name }: FileContent): void {
    if (name === undefined) return;
    this.#of(type.type)?.inForce.delete(name);
    this.#of(type.type)?.doubted.delete(name);
  }

  /** Paths of all files. */
  paths(): ReadonlySet<string> {
    return new Set(
      [...this.#types.values()].flatMap(({ type, inForce, version }) => {
        if (type.isWhole) return version === undefined ? [] : [this.#layout.pathOf(type, undefined)];
        return [...inForce.keys()].map((name) => this.#layout.pathOf(type, name));
      }),
    );
  }

  /** After an error: marks all files to be written again. */
  doubt(): void {
    for (const files of this.#types.values()) {
      files.version = undefined;
      if (!files.type.isWhole) for (const name of files.inForce.keys()) files.doubted.add(name);
    }
  }

  /** Whether files hold the newest version of a name. */
  isInForce(type: TypeUrl, name: string): boolean {
    const files = this.#of(type);
    if (files === undefined) return true;
    const told = files.told.get(name);
    // A deleted resource leaves the file of a whole type without another look, other files once nothing references them.
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
    // Files that end a wait come before files that start one, and used resources before their users.
    const rank = ({ type }: TypeFiles): number => typeKindTable[type.kind].fileRank ?? 0;
    return [...this.#types.values()].sort((a, b) => rank(a) - rank(b));
  }

  *#referencesTold(): Iterable<Reference> {
    for (const { told } of this.#types.values()) for (const { references } of told.values()) yield* references;
  }

  /** Every name that a current or pending resource references. */
  #referred(): ReadonlySet<string> {
    const referred = new Set<string>();
    for (const reference of this.#referencesTold()) referred.add(keyOf(reference));
    for (const { inForce } of this.#types.values()) {
      for (const resource of inForce.values())
        for (const reference of resource?.references ?? []) referred.add(keyOf(reference));
    }
    return referred;
  }

  /** Tests whether a resource may take effect. */
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

  /** Empty files for missing names that new resources reference. */
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
    handovers: new Set(),
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
  for (const resource of staying(files, isReady)) resources.push(resource);
  // Before the type's first file, resources wait for their references: an empty file would mean that there are none.
  if (files.version === undefined && resources.length === 0 && told.size > 0) return [];
  const content = contentOf(files.type, undefined, resources);
  return content.version === files.version ? [] : [content];
}

/** Notes that a resource, or a newer one that never came to its file, was removed together with arrivals. */
function handOver(
  { handovers }: TypeFiles,
  removed: { readonly name: string; readonly resource: FileResource | undefined; readonly arrivals: readonly string[] },
): void {
  const { name, resource, arrivals } = removed;
  if (arrivals.length === 0) return;
  for (const before of handovers) {
    if (!before.arrivals.has(name) || before.lists.has(arrivals)) continue;
    before.lists.add(arrivals);
    for (const arrival of arrivals) before.arrivals.add(arrival);
  }
  if (resource === undefined) return;
  for (const { leaving } of handovers) leaving.delete(name);
  const known = [...handovers].find((one) => one.began === arrivals);
  const own: Handover = known ?? {
    began: arrivals,
    leaving: new Map(),
    arrivals: new Set(arrivals),
    lists: new Set([arrivals]),
  };
  own.leaving.set(name, resource);
  handovers.add(own);
}

/** The removed resources that stay for now. */
function* staying(
  { told, handovers }: TypeFiles,
  isReady: (resource: FileResource) => boolean,
): Iterable<FileResource> {
  const isAwaited = (name: string): boolean => {
    const arrival = told.get(name);
    return arrival !== undefined && !isReady(arrival);
  };
  for (const { arrivals, leaving } of handovers) if ([...arrivals].some(isAwaited)) yield* leaving.values();
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
