import type { ValuePath } from "@xdskit/protocol/internal";

/** A value that should be a resource: it has "@type", explicit or implied by its place. */
export interface Candidate {
  readonly path: ValuePath;
  readonly value: unknown;
  /** The path from the document to the message; inside a `discovery.v3.Resource` one step longer. */
  readonly bodyPath: ValuePath;
}
