import type { Resource } from "@xdskit/protocol";
import type { DocumentPlace } from "./document/document-place.ts";

/** A resource and its place in the file. */
export interface DecodedResource {
  readonly resource: Resource;
  /** The path of the message inside its wrappers. Undefined for formats without positions. */
  readonly place: DocumentPlace | undefined;
  /** Its fields are spelled as in ProtoJSON, and so are texts about it. */
  readonly isJsonSpelled?: boolean;
}
