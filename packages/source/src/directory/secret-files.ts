import { realpath, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { contentDigest, type EnvoyApi, type FieldProblem } from "@xdskit/envoy-api";
import { spellText } from "@xdskit/envoy-api/internal";
import { createResource, messageNameOf, type Resource, type TypeUrl } from "@xdskit/protocol";
import { quote } from "@xdskit/protocol/internal";
import type { DecodedResource } from "../decoded-resource.ts";
import { type FileChunk, rememberFor } from "../file-chunks.ts";
import { type CrossProblem, type LayerFile, withResources } from "../file-content.ts";
import { checkContents } from "../secret/pem-check.ts";
import { findSources, inlineSources, type SecretJson, type SecretSource } from "../secret/secret-sources.ts";
import { stampOf } from "./file-stamp.ts";
import { isInside } from "./path-map.ts";
import { fileLimit, readWholeFile } from "./read-file.ts";

/** The files of a directory with the content of what its Secrets name in place of the paths. */
export interface FilledFiles {
  readonly chunks: readonly FileChunk[];
  readonly problems: readonly CrossProblem[];
  /** Whether files of Secrets changed. */
  readonly changed: boolean;
  /** Files of Secrets that are being written. */
  readonly changing: readonly string[];
}

/** A file of Secrets as last read. The same object while its content stays the same. */
type SecretFile =
  | { readonly kind: "read"; readonly bytes: Uint8Array }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly reason: string };

interface KnownFile {
  readonly stamp: string | undefined;
  readonly file: SecretFile;
}

/** A Secret that names files. */
interface Named {
  readonly json: SecretJson;
  readonly sources: readonly SecretSource[];
}

/** A Secret with its files, and what is wrong with them; the same object for the same files. */
interface Filled {
  readonly from: readonly SecretFile[];
  readonly resource: Resource;
  readonly problems: readonly Omit<CrossProblem, "at">[];
  /** The filenames that the problems are about. */
  readonly about: readonly string[];
}

const FILES_AT_ONCE = 16;
const MISSING: SecretFile = { kind: "missing" };

/**
 * Reads the files that Secrets name by relative paths, so that clients need not have them. A path is relative to the
 * file with the Secret; paths in problems and watches are relative to the directory.
 */
export class SecretFiles {
  readonly #directory: string;
  readonly #api: EnvoyApi;
  readonly #secretTypes: ReadonlySet<TypeUrl>;
  readonly #named = new WeakMap<Resource, Named | false>();
  readonly #filled = new WeakMap<Resource, Filled>();
  readonly #layerFiles = new WeakMap<LayerFile, LayerFile>();
  readonly #filledChunks = new WeakMap<FileChunk, FileChunk>();
  /** Found once for each chunk: most hold many resources and no Secret. */
  readonly #pathsOf = rememberFor(({ files }) => files.flatMap((file) => this.#pathsIn(file)));
  #known: ReadonlyMap<string, KnownFile> = new Map();
  #folders: ReadonlyMap<string, string> = new Map();

  constructor(directory: string, api: EnvoyApi) {
    this.#directory = directory;
    this.#api = api;
    const secrets = api.types.filter(({ kind }) => kind === "sds");
    this.#secretTypes = new Set(
      secrets.flatMap(({ type, v2Twin }) => (v2Twin === undefined ? [type] : [type, v2Twin])),
    );
  }

  /** The real paths of the folders with these files by path, for watching them. */
  get folders(): ReadonlyMap<string, string> {
    return this.#folders;
  }

  /** Reads the files below these paths again if they changed (all, if "" is among them), and new ones. */
  async fill(
    chunks: readonly FileChunk[],
    { paths, maxBytes }: { readonly paths: ReadonlySet<string>; readonly maxBytes: number },
  ): Promise<FilledFiles> {
    const wanted = new Set(chunks.flatMap(this.#pathsOf));
    const changing: string[] = [];
    const known = new Map<string, KnownFile>();
    const dueFolders = new Set<string>();
    const waiting = wanted.values();
    const readOn = async (): Promise<void> => {
      for (const path of waiting) {
        const before = this.#known.get(path);
        const isDue = before === undefined || isBelow(path, paths);
        if (isDue) dueFolders.add(posix.dirname(path));
        const now = isDue ? await this.#read(path, before, maxBytes) : before;
        if (now === "changing") changing.push(path);
        const kept = now === "changing" ? before : now;
        if (kept !== undefined) known.set(path, kept);
      }
    };
    await Promise.all(Array.from({ length: Math.min(FILES_AT_ONCE, wanted.size) }, readOn));
    const changed =
      known.size !== this.#known.size || [...known].some(([path, { file }]) => this.#known.get(path)?.file !== file);
    if (changed || dueFolders.size > 0) this.#folders = await this.#foldersOf(wanted, dueFolders);
    this.#known = known;
    const problems: CrossProblem[] = [];
    return { chunks: chunks.map((chunk) => this.#fillChunk(chunk, problems)), problems, changed, changing };
  }

  #pathsIn({ file, content }: LayerFile): readonly string[] {
    const paths: string[] = [];
    for (const { resource } of content.resources) {
      const named = this.#namedBy(resource);
      if (named !== false) for (const { filename } of named.sources) paths.push(pathFrom(file, filename));
    }
    return paths;
  }

  #namedBy(resource: Resource): Named | false {
    if (!this.#secretTypes.has(resource.type) || resource.error !== undefined || resource.bodyType !== undefined)
      return false;
    const known = this.#named.get(resource);
    if (known !== undefined) return known;
    const json = this.#api.toJson(resource.type, resource.bytes, { names: "proto" }) as SecretJson;
    const sources = findSources(json);
    const named = sources.length === 0 ? false : { json, sources };
    this.#named.set(resource, named);
    return named;
  }

  async #read(path: string, before: KnownFile | undefined, maxBytes: number): Promise<KnownFile | "changing"> {
    const absolute = join(this.#directory, path);
    const stamp = await stat(absolute, { bigint: true }).then(stampOf, () => undefined);
    if (stamp !== undefined && stamp === before?.stamp) return before;
    const reading = await readWholeFile(absolute, path, fileLimit(maxBytes));
    if (reading.kind === "changing") return "changing";
    const file: SecretFile =
      reading.kind === "gone"
        ? MISSING
        : reading.kind === "refused"
          ? { kind: "unreadable", reason: reading.problem.message }
          : { kind: "read", bytes: reading.bytes };
    const same = before !== undefined && isSame(before.file, file) ? before.file : file;
    return { stamp: reading.kind === "read" ? reading.stamp : undefined, file: same };
  }

  /** Those that are not due are where they were. */
  async #foldersOf(paths: Iterable<string>, due: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const folders = new Map<string, string>();
    for (const path of new Set([...paths].map((file) => posix.dirname(file)))) {
      if (path === "." || path === "..") continue; // watched anyway; what is in the latter is looked for from time to time
      const isDue = due.has(path);
      const real = isDue ? await realpath(join(this.#directory, path)).catch(() => undefined) : this.#folders.get(path);
      if (real !== undefined) folders.set(path, real);
    }
    return folders;
  }

  #fillChunk(chunk: FileChunk, problems: CrossProblem[]): FileChunk {
    if (this.#pathsOf(chunk).length === 0) return chunk;
    const files = chunk.files.map((file) => this.#fillFile(file, problems));
    const before = this.#filledChunks.get(chunk);
    if (before?.files.every((file, index) => file === files[index]) === true) return before;
    const filled = { files };
    this.#filledChunks.set(chunk, filled);
    return filled;
  }

  #fillFile(file: LayerFile, problems: CrossProblem[]): LayerFile {
    if (this.#pathsIn(file).length === 0) return file;
    const resources = file.content.resources.map((decoded) => {
      const filled = this.#fillOne(file.file, decoded);
      if (filled === undefined) return decoded;
      for (const [index, problem] of filled.problems.entries()) {
        const text = filled.about[index] ?? decoded.resource.name;
        problems.push({ ...problem, at: { file, place: decoded.place, text } });
      }
      return { ...decoded, resource: filled.resource };
    });
    const before = this.#layerFiles.get(file);
    const isSame = before?.content.resources.every(({ resource }, index) => resource === resources[index]?.resource);
    if (before !== undefined && isSame === true) return before;
    const now = { ...file, content: withResources(file.content, resources) };
    this.#layerFiles.set(file, now);
    return now;
  }

  #fillOne(file: string, { resource, isJsonSpelled = false }: DecodedResource): Filled | undefined {
    const named = this.#namedBy(resource);
    if (named === false) return undefined;
    const from = named.sources.map(({ filename }) => this.#known.get(pathFrom(file, filename))?.file ?? MISSING);
    const before = this.#filled.get(resource);
    if (before?.from.every((one, index) => one === from[index]) === true) return before;
    const { problems, ...secret } = this.#fillSecret(resource, named, from);
    const spelled = problems.map((one) => ({ ...one, message: spellText(one.message, isJsonSpelled) }));
    const filled = { from, ...secret, problems: spelled };
    this.#filled.set(resource, filled);
    return filled;
  }

  #fillSecret(resource: Resource, { json, sources }: Named, from: readonly SecretFile[]): Omit<Filled, "from"> {
    const contents = sources.flatMap((source, index) => {
      const file = from[index];
      return file?.kind === "read" ? [{ source, bytes: file.bytes }] : [];
    });
    if (contents.length < sources.length) {
      const failed = sources.flatMap((source, index) => {
        const file = from[index] ?? MISSING;
        return file.kind === "read" ? [] : [{ source, file }];
      });
      const problems = failed.map(({ source, file }) => notRead(source, file));
      return { resource, problems, about: failed.map(({ source }) => source.filename) };
    }
    const found = checkContents(contents);
    if (found.length > 0) {
      const problems = found.map(({ code, message, hint }) => ({
        ...{ code, severity: "error" as const, message },
        ...(hint !== undefined && { hint }),
      }));
      return { resource, problems, about: found.map(({ source }) => source.filename) };
    }
    const bytesOf = ({ filename }: SecretSource): Uint8Array =>
      contents.find(({ source }) => source.filename === filename)?.bytes ?? new Uint8Array();
    const { "@type": _, ...fields } = inlineSources(json, bytesOf);
    const { bytes, problems } = this.#api.readMessage(messageNameOf(resource.type), fields);
    if (bytes !== undefined) return { resource: withBytes(resource, bytes), problems: [], about: [] };
    // A binary file may hold what has no form in JSON, such as a duration of a million years.
    const wrong = problems.filter(({ severity }) => severity === "error");
    return { resource, problems: wrong.map(notFilled), about: [] };
  }
}

function withBytes(resource: Resource, bytes: Uint8Array): Resource {
  const { variant, ttlMs, metadata, type, name, aliases, doNotCache, onDemand, references } = resource;
  const own = { type, name, aliases, doNotCache, onDemand, references, bytes };
  return createResource(
    {
      ...own,
      ...(variant !== undefined && variant),
      ...(ttlMs !== undefined && { ttlMs }),
      ...(metadata !== undefined && { metadata }),
    },
    contentDigest,
  );
}

/** The path of a file that is named in another, relative to the directory. */
function pathFrom(file: string, filename: string): string {
  return posix.normalize(posix.join(posix.dirname(file), filename));
}

function isBelow(path: string, paths: ReadonlySet<string>): boolean {
  return paths.has("") || paths.has(path) || isInside(path, paths);
}

function isSame(a: SecretFile, b: SecretFile): boolean {
  if (a.kind === "read" && b.kind === "read") return Buffer.compare(a.bytes, b.bytes) === 0;
  if (a.kind === "unreadable" && b.kind === "unreadable") return a.reason === b.reason;
  return a.kind === b.kind;
}

function notFilled({ code, path, message }: FieldProblem): Omit<CrossProblem, "at"> {
  return {
    ...{ code, severity: "error" },
    message: `cannot put the content of files into the Secret: ${path.join(".")}: ${message}`,
    hint: "correct that field, or set secret-files: leave",
  };
}

function notRead({ filename, field }: SecretSource, file: SecretFile): Omit<CrossProblem, "at"> {
  const got = file.kind === "unreadable" ? file.reason : `found no file ${quote(filename)}`;
  return {
    code: file.kind === "unreadable" ? "SECRET_FILE_UNREADABLE" : "SECRET_FILE_MISSING",
    severity: "error",
    message: `expected a file for \`${field}\`: ${got}`,
    hint: "paths are relative to this file; for files that Envoy reads itself write an absolute path, or set secret-files: leave",
  };
}
