import type { Node, TypeUrl } from "@xdskit/protocol";
import type { DeltaRequest, StreamOpened, TypeTraits } from "@xdskit/protocol/internal";
import { dialectFor } from "../../src/dialect/presets.ts";
import type { CurrentView } from "../../src/server/cache/current-view.ts";
import type { SiblingSets } from "../../src/server/stream/sibling-sets.ts";
import { Stream } from "../../src/server/stream/stream.ts";
import { delta, node } from "./conversation.ts";
import { traits } from "./resources.ts";

type Opened = Pick<StreamOpened, "stream"> & Partial<StreamOpened>;

/** A delta stream of API version 3 that joined its set, unless it says otherwise. */
export function openStream(sets: SiblingSets, current: CurrentView, opened: Opened, by: Node = node("n")): Stream {
  const peer = { address: "host", isLoopback: false, isTls: false, names: [] };
  const method = { kind: "stream-opened", variant: "delta", apiVersion: "v3", onlyType: undefined } as const;
  const full: StreamOpened = { ...method, connection: 1, peer, ...opened };
  const siblings = sets.find(full, by.id);
  const identity = { node: by, dialect: dialectFor(by), choices: {}, siblings };
  const stream = new Stream(full, identity, current);
  sets.join(siblings, stream);
  return stream;
}

/** A request on a delta stream, which is not flushed. */
export function requestOn(
  stream: Stream,
  type: TypeUrl,
  request: Partial<DeltaRequest> = {},
  traitsOf: (type: TypeUrl) => TypeTraits | undefined = traits,
): void {
  const known = traitsOf(type);
  if (known === undefined) throw new Error(`no traits of ${type}`);
  stream.onRequest(delta(type, request), known, false);
}
