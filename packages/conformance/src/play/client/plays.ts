import type { ClientCase, ClientStreamKind } from "../../client-case.ts";
import { hasOwnStream } from "../../content/catalog.ts";

/** A client case on one kind of stream. */
export interface ClientPlay {
  /** The permanent id of the play: `C-SUB-01/delta delta ads`. */
  readonly key: string;
  readonly case: ClientCase;
  readonly kind: ClientStreamKind;
}

/** Every play of the cases: each on an aggregated and a per-type stream, unless the case overrides it. */
export function clientPlaysOf(cases: readonly ClientCase[]): readonly ClientPlay[] {
  return cases.flatMap((each) =>
    kindsOf(each).map((kind) => ({ key: `${each.id} ${each.variant} ${kind}`, case: each, kind })),
  );
}

function kindsOf(each: ClientCase): readonly ClientStreamKind[] {
  return each.streams ?? (hasOwnStream(each.type, each.variant) ? ["ads", "per-type"] : ["ads"]);
}
