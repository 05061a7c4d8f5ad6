import type { ClientCase, ClientStreamKind } from "../../client-case.ts";
import { hasOwnStream } from "../../content/catalog.ts";

/** A case of the client on one kind of stream. */
export interface ClientPlay {
  /** Names the play for ever: `C-SUB-01/delta delta ads`. */
  readonly key: string;
  readonly case: ClientCase;
  readonly kind: ClientStreamKind;
}

/** Every play of these cases: each on the aggregated stream and on the stream of its type, unless it says otherwise. */
export function clientPlaysOf(cases: readonly ClientCase[]): readonly ClientPlay[] {
  return cases.flatMap((each) =>
    kindsOf(each).map((kind) => ({ key: `${each.id} ${each.variant} ${kind}`, case: each, kind })),
  );
}

function kindsOf(each: ClientCase): readonly ClientStreamKind[] {
  return each.streams ?? (hasOwnStream(each.type, each.variant) ? ["ads", "per-type"] : ["ads"]);
}
