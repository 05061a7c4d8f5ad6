import { messageNameOf, type Resource, type TypeUrl } from "@xdskit/protocol";
import { findAmbiguity, quote, shownName } from "@xdskit/protocol/internal";
import { changedRange } from "./changed-range.ts";
import type { DecodedResource } from "./decoded-resource.ts";
import { type FileChunk, rememberFor } from "./file-chunks.ts";
import type { CrossProblem, LayerFile, Origin } from "./file-content.ts";

/** The resources of each layer, in the order of files, and problems between files. */
export interface Assembly {
  readonly layers: ReadonlyMap<string, readonly Resource[]>;
  readonly problems: readonly CrossProblem[];
  /**
   * Whether all layers have the same names and references as last time, so that earlier findings between files still
   * hold.
   */
  readonly hasSameShape: boolean;
}

/**
 * Sorts files into layers and caches the lists: a layer without changed files stays the same list, and a change of one
 * file looks at the resources of its chunk only.
 */
export class Assembler {
  #made = new Map<string, MadeLayer>();

  /** `chunks` must be in the order wanted for the lists. */
  assemble(chunks: readonly FileChunk[]): Assembly {
    const byLayer = new Map<string, LayerPart[]>();
    for (const chunk of chunks) {
      for (const part of partsOf(chunk)) {
        const together = byLayer.get(part.layer);
        if (together === undefined) byLayer.set(part.layer, [part]);
        else together.push(part);
      }
    }
    const made = new Map<string, MadeLayer>();
    let hasSameShape = byLayer.size === this.#made.size;
    for (const [layer, together] of byLayer) {
      const before = this.#made.get(layer);
      const now =
        before !== undefined && sameFiles(before.parts, together) ? before : makeLayer(layer, together, before);
      hasSameShape &&= before !== undefined && now.shape === before.shape;
      made.set(layer, now);
    }
    this.#made = made;
    return {
      hasSameShape,
      layers: new Map([...made].map(([layer, { resources }]) => [layer, resources])),
      problems: [...made.values()].flatMap(({ problems }) => problems),
    };
  }
}

/** The files of a chunk in one layer. */
interface LayerPart {
  readonly layer: string;
  readonly files: readonly LayerFile[];
  readonly resources: readonly Resource[];
}

const partsOf = rememberFor(({ files }): readonly LayerPart[] => {
  const parts = new Map<string, { layer: string; files: LayerFile[]; resources: Resource[] }>();
  for (const file of files) {
    const part = parts.get(file.layer) ?? { layer: file.layer, files: [], resources: [] };
    parts.set(file.layer, part);
    part.files.push(file);
    for (const { resource } of file.content.resources) part.resources.push(resource);
  }
  return [...parts.values()];
});

interface MadeLayer {
  readonly parts: readonly LayerPart[];
  readonly resources: readonly Resource[];
  readonly problems: readonly CrossProblem[];
  /** The same object while names and references stay the same. */
  readonly shape: object;
}

function makeLayer(layer: string, parts: readonly LayerPart[], before: MadeLayer | undefined): MadeLayer {
  if (before !== undefined && before.problems.length === 0) {
    // Most changes only touch content; finding duplicates among 100,000 names would then take the most time.
    if (haveSameShape(before.parts, parts)) {
      return { parts, resources: allResources(parts), problems: [], shape: before.shape };
    }
  }
  const resources: Resource[] = [];
  const problems: CrossProblem[] = [];
  const holders = new Holders(parts);
  for (const file of parts.flatMap((part) => part.files)) {
    for (const decoded of file.content.resources) {
      const holder = holders.add(decoded);
      if (holder === undefined) resources.push(decoded.resource);
      else problems.push(duplicate(layer, decoded.resource, holders.originOf(holder), originOf(file, decoded)));
    }
  }
  return { parts, resources, problems: problems.concat(ambiguities(layer, resources, holders)), shape: {} };
}

/** The resources of a layer by name. */
class Holders {
  readonly #parts: readonly LayerPart[];
  /** The files of all resources, looked up once something is told of one: seldom. */
  #files: ReadonlyMap<DecodedResource, LayerFile> | undefined;
  readonly #byType = new Map<TypeUrl, Map<string, DecodedResource>>();

  constructor(parts: readonly LayerPart[]) {
    this.#parts = parts;
  }

  /** Adds a resource unless there is another of its name, which is returned. */
  add(decoded: DecodedResource): DecodedResource | undefined {
    const { type, name } = decoded.resource;
    let names = this.#byType.get(type);
    if (names === undefined) {
      names = new Map();
      this.#byType.set(type, names);
    }
    const known = names.get(name);
    if (known === undefined) names.set(name, decoded);
    return known;
  }

  get({ type, name }: Pick<Resource, "type" | "name">): Origin | undefined {
    const holder = this.#byType.get(type)?.get(name);
    return holder && this.originOf(holder);
  }

  originOf(holder: DecodedResource): Origin {
    this.#files ??= new Map(
      this.#parts.flatMap(({ files }) =>
        files.flatMap((file) => file.content.resources.map((decoded) => [decoded, file] as const)),
      ),
    );
    const file = this.#files.get(holder);
    if (file === undefined) throw new RangeError(`expected ${holder.resource.name} in a file of the layer`);
    return originOf(file, holder);
  }
}

/** Names of several resources that a single client could match at once (S-LOC-08). */
function ambiguities(layer: string, resources: readonly Resource[], holders: Holders): readonly CrossProblem[] {
  const varied = new Map<string, Resource[]>();
  const keyOf = ({ type, name, variant }: Resource): string => `${type} ${variant?.name ?? name}`;
  for (const resource of resources) if (resource.variant !== undefined) varied.set(keyOf(resource), []);
  if (varied.size === 0) return [];
  for (const resource of resources) varied.get(keyOf(resource))?.push(resource);
  return [...varied.values()].flatMap((together): readonly CrossProblem[] => {
    const found = findAmbiguity(together);
    const at = found && holders.get(found.second);
    const related = found && holders.get(found.first);
    if (found === undefined || at === undefined || related === undefined) return [];
    const { type, name, variant } = found.second;
    const what = `${messageNameOf(type)} ${quote(variant?.name ?? name)} in layer ${layer}`;
    return [
      {
        code: "VARIANTS_AMBIGUOUS",
        severity: "error",
        message: `${what}: ${found.message}`,
        hint: "constrain the same parameters in all of them, so that one at most fits each client",
        at,
        related,
      },
    ];
  });
}

/** Not `flatMap`, which takes a hundred times as long: 20 ms for 100,000 resources. */
function allResources(parts: readonly LayerPart[]): readonly Resource[] {
  return ([] as readonly Resource[]).concat(...parts.map(({ resources }) => resources));
}

/** Whether parts hold the same names and references; those that did not change are not looked into. */
function haveSameShape(before: readonly LayerPart[], after: readonly LayerPart[]): boolean {
  const { begin, endBefore, end } = changedRange(before, after);
  return sameShape(allResources(before.slice(begin, endBefore)), allResources(after.slice(begin, end)));
}

function sameShape(a: readonly Resource[], b: readonly Resource[]): boolean {
  return a.length === b.length && a.every((before, index) => before === b[index] || alike(before, b[index]));
}

function alike(a: Resource, b: Resource | undefined): boolean {
  return (
    a.type === b?.type &&
    a.name === b.name &&
    a.onDemand === b.onDemand &&
    a.references.length === b.references.length &&
    a.references.every(({ type, name }, index) => {
      const other = b.references[index];
      return type === other?.type && name === other.name;
    })
  );
}

/** The position of a resource's name. */
export function originOf(file: LayerFile, { resource, place }: DecodedResource): Origin {
  return { file, place, text: resource.variant?.name ?? resource.name };
}

function duplicate(layer: string, { type, name }: Resource, first: Origin, second: Origin): CrossProblem {
  return {
    code: "RESOURCE_DUPLICATE",
    severity: "error",
    message: `expected one ${messageNameOf(type)} named ${quote(shownName(name))} in layer ${layer}, got another`,
    hint: "rename or remove one of them; groups/ and nodes/ may hold a different one for some of the nodes",
    at: second,
    related: first,
  };
}

/** Whether parts hold the same files, however they are divided. */
function sameFiles(before: readonly LayerPart[], after: readonly LayerPart[]): boolean {
  const { begin, endBefore, end } = changedRange(before, after);
  const filesOf = ({ files }: LayerPart): readonly LayerFile[] => files;
  const a = before.slice(begin, endBefore).flatMap(filesOf);
  const b = after.slice(begin, end).flatMap(filesOf);
  return a.length === b.length && a.every((file, index) => file === b[index]);
}
