import type { Case, StreamKind } from "../case.ts";
import { hasOwnStream } from "../content/catalog.ts";

/** A case on one kind of stream. */
export interface Play {
  /** The permanent id of the play: `S-SUB-02/delta delta ads`. */
  readonly key: string;
  readonly case: Case;
  readonly kind: StreamKind;
}

/** Every play of the cases: each on an aggregated and a per-type stream, unless the case overrides it. */
export function playsOf(cases: readonly Case[]): readonly Play[] {
  return cases.flatMap((each) =>
    kindsOf(each).map((kind) => ({ key: `${each.id} ${each.variant} ${kind}`, case: each, kind })),
  );
}

function kindsOf(each: Case): readonly StreamKind[] {
  return each.streams ?? (hasOwnStream(each.type, each.variant) ? ["ads", "per-type"] : ["ads"]);
}
