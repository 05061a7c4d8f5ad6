import type { BaseProblem } from "@xdskit/protocol/internal";
import type { DecodedResource } from "./decoded-resource.ts";
import type { DocumentPlace } from "./document/document-place.ts";
import type { Identity } from "./document/envelope.ts";
import type { Problem } from "./problem.ts";
import type { ProblemKind } from "./problem-bound.ts";

/** The content of a file, and its problems. */
export interface FileContent {
  readonly resources: readonly DecodedResource[];
  readonly problems: readonly Problem[];
  /** The kinds of the problems in their order, if asking for `problems` places them, which takes time. */
  readonly problemKinds?: readonly ProblemKind[];
  /** The resources with errors; an undefined type or name may be any. */
  readonly refused: readonly Identity[];
}

/** The content of a file with other resources. Its problems are placed no earlier for that. */
export function withResources(content: FileContent, resources: readonly DecodedResource[]): FileContent {
  const { refused, problemKinds } = content;
  return {
    resources,
    refused,
    ...(problemKinds !== undefined && { problemKinds }),
    get problems() {
      return content.problems;
    },
  };
}

/** A file that was, when it was read last, one list of resources that are all known. */
export interface KnownList {
  /** Its text, in ASCII. */
  readonly bytes: Buffer;
  /** The key of the list in the document; undefined: the document is the list. */
  readonly key: "resources" | undefined;
  readonly content: FileContent;
}

/** For an unreadable text, which may contain anything. */
export const anythingRefused: readonly Identity[] = [{ type: undefined, name: undefined }];

/** A resource file and its layer. The same object while its content stays the same. */
export interface LayerFile {
  readonly file: string;
  readonly layer: string;
  readonly content: FileContent;
}

/** The file and path of a resource; its position in the text is looked up only for display. */
export interface Origin {
  readonly file: LayerFile;
  readonly place: DocumentPlace | undefined;
  /** The text in the resource that the problem is about, such as its name. */
  readonly text: string;
}

/** A problem between files. */
export interface CrossProblem extends BaseProblem {
  readonly code: string;
  readonly at: Origin;
  readonly related?: Origin;
}
