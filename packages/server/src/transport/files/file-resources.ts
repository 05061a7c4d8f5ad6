import { join } from "node:path";
import {
  contentDigest,
  type EnvoyApi,
  MalformedMessageError,
  type ResponseWriter,
  type SourceUse,
} from "@xdskit/envoy-api";
import { createResource, type Resource } from "@xdskit/protocol";
import { canonicalName, typeKindTable } from "@xdskit/protocol/internal";
import type { CheckedFileOutput } from "../../file-output.ts";
import type { ShellReport } from "../../hub/port.ts";
import type { FileLayout } from "./file-layout.ts";
import type { FileContent, FileResource } from "./file-view.ts";
import type { NewFile } from "./replace-file.ts";

/** A note about a resource for the operator. */
export type FileNote =
  | Omit<Extract<ShellReport, { readonly kind: "files-source" }>, "directory">
  | Omit<Extract<ShellReport, { readonly kind: "files-unfaithful" }>, "directory">;

type Note = (note: FileNote) => void;

interface Printed {
  readonly bytes: Uint8Array;
  readonly isSecret: boolean;
}

/** Formats resources as files: their content, format and permissions. */
export class FileResources {
  readonly #api: EnvoyApi;
  readonly #layout: FileLayout;
  readonly #output: CheckedFileOutput;
  readonly #writer: ResponseWriter;
  readonly #printed = new WeakMap<FileResource, Printed>();

  constructor(api: EnvoyApi, layout: FileLayout, output: CheckedFileOutput) {
    this.#api = api;
    this.#layout = layout;
    this.#output = output;
    this.#writer = api.responseWriter(output.format);
  }

  /** Prepares a resource for a file. Throws `MalformedMessageError` if it cannot be decoded. */
  prepare(resource: Resource, note: Note): FileResource {
    const prepared = this.#rewrite(resource, note);
    this.#findLosses(prepared, note);
    // Printed now, so that a resource that cannot be printed is rejected before anything waits for it.
    this.#print(prepared);
    return prepared;
  }

  /** Formats a whole file. */
  file(content: FileContent): NewFile {
    const printed = content.resources.map((resource) => this.#print(resource));
    const head = { versionInfo: content.version, typeUrl: content.type.type };
    const parts = this.#writer.response(
      head,
      printed.map(({ bytes }) => bytes),
    );
    return {
      path: this.#layout.pathOf(content.type, content.name),
      content: Buffer.concat(parts),
      isSecret: typeKindTable[content.type.kind].isSecret || printed.some(({ isSecret }) => isSecret),
    };
  }

  #rewrite(resource: Resource, note: Note): FileResource {
    const { type, name, bytes, references, sum } = resource;
    if (!this.#output.rewriteSources) return { type, name, bytes, references, sum };
    const rewritten = this.#api.rewriteSources(type, bytes, (use) => this.#locate(use));
    const tell = (use: SourceUse, file: string | undefined): void => {
      const { path, type: refersTo, name: referred } = use;
      note({ kind: "files-source", type, name, path, refersTo, referred, file });
    };
    for (const use of rewritten.rewritten) tell(use, this.#locate(use)?.path);
    for (const use of rewritten.kept) tell(use, undefined);
    if (rewritten.bytes === bytes) return { type, name, bytes, references, sum };
    return { ...createResource({ type, name, bytes: rewritten.bytes }, contentDigest), references };
  }

  #locate({ type, name }: SourceUse): { readonly path: string; readonly watchedDirectory?: string } | undefined {
    const described = type === undefined ? undefined : this.#layout.of(type);
    if (described === undefined || described.isWhole !== (name === undefined)) return undefined;
    const { directory, symlinks } = this.#output;
    const path = join(directory, this.#layout.pathOf(described, name === undefined ? undefined : canonicalName(name)));
    return symlinks ? { path, watchedDirectory: directory } : { path };
  }

  #findLosses(resource: FileResource, note: Note): void {
    const { format } = this.#output;
    if (format === "pb") return;
    const { type, name, bytes } = resource;
    const { types, unknownFieldsOf } = this.#api.unprintable(type, bytes);
    const tell = (message: string): void => note({ kind: "files-unfaithful", type, name, message });
    for (const unknown of format === "pb_text" ? [] : types)
      tell(`there is no descriptor of ${unknown}, so clients cannot read it as ${format}`);
    for (const message of unknownFieldsOf) tell(`fields of ${message} that its descriptor does not have are left out`);
  }

  #print(resource: FileResource): Printed {
    const known = this.#printed.get(resource);
    if (known !== undefined) return known;
    const { type, bytes } = resource;
    const printed = { bytes: this.#writer.resource(type, bytes), isSecret: this.#api.holdsSecret(type, bytes) };
    this.#printed.set(resource, printed);
    return printed;
  }
}

/** Whether an error means that a resource cannot be decoded. */
export function isMalformed(error: unknown): error is MalformedMessageError {
  return error instanceof MalformedMessageError;
}
