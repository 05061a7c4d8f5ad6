import type { Resource } from "@xdskit/protocol";
import type { Identity } from "./document/envelope.ts";
import type { DocumentPlace } from "./document/parsed-text.ts";
import type { Problem } from "./problem.ts";

/** A resource and where its file says so. */
export interface DecodedResource {
  readonly resource: Resource;
  /** The resource itself, inside whatever is around it. Undefined for formats without places. */
  readonly place: DocumentPlace | undefined;
}

/** All that a file says, good and bad. */
export interface FileContent {
  readonly resources: readonly DecodedResource[];
  readonly problems: readonly Problem[];
  /** What stands in the file with an error in it: what is undefined may be of any type, or have any name. */
  readonly refused: readonly Identity[];
}

/** A text that could not be read: anything may stand in it. */
export const anythingRefused: readonly Identity[] = [{ type: undefined, name: undefined }];

/** A file of resources, as far as the layers are concerned. The same object as long as its content is the same. */
export interface LayerFile {
  readonly file: string;
  readonly layer: string;
  readonly content: FileContent;
}

/** Where a resource stands; the place in the text is looked up only when somebody is to be told. */
export interface Origin {
  readonly file: LayerFile;
  readonly place: DocumentPlace | undefined;
  /** A text in the resource, such as its name, that is what the problem is about. */
  readonly text: string;
}

/** A problem that shows only when all files are looked at together. */
export interface CrossProblem extends Pick<Problem, "code" | "severity" | "message" | "hint"> {
  readonly at: Origin;
  readonly related?: Origin;
}
