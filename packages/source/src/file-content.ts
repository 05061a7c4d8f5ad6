import type { Resource } from "@xdskit/protocol";
import type { BaseProblem } from "@xdskit/protocol/internal";
import type { Identity } from "./document/envelope.ts";
import type { DocumentPlace } from "./document/parsed-text.ts";
import type { Problem } from "./problem.ts";

/** A resource and its place in the file. */
export interface DecodedResource {
  readonly resource: Resource;
  /** The path of the message inside its wrappers. Undefined for formats without positions. */
  readonly place: DocumentPlace | undefined;
  /** Its fields are spelled as in ProtoJSON, and so are texts about it. */
  readonly isJsonSpelled?: boolean;
}

/** The content of a file, and its problems. */
export interface FileContent {
  readonly resources: readonly DecodedResource[];
  readonly problems: readonly Problem[];
  /** The resources with errors; an undefined type or name may be any. */
  readonly refused: readonly Identity[];
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
