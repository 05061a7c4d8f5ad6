import type { PlacedStream } from "@xdskit/protocol/internal";
import type { HubView } from "./hub/hub-view.ts";
import type { PlacedStreams } from "./judged-nodes.ts";
import type { ReportedStream } from "./workers/messages.ts";

/** The streams of the workers, as the primary knows them. */
export interface WorkerStreams {
  streams(): Iterable<ReportedStream>;
}

/** The streams of all connected nodes, whichever process serves them. */
export function allStreams(view: HubView, workers: () => WorkerStreams | undefined): PlacedStreams {
  return {
    *placedStreams() {
      yield* view.placedStreams();
      for (const stream of workers()?.streams() ?? []) {
        const placed = placedBy(view, stream);
        if (placed !== undefined) yield placed;
      }
    },
    *subscribedStreams() {
      for (const { node, peer, isUnconfirmed, types, apiVersion } of view.streams()) {
        // What a client of v2 subscribes to has another name.
        const subscribedTypes = apiVersion === "v3" ? types.map(({ type }) => type) : "any";
        yield { node, peer, ...(isUnconfirmed && { isUnconfirmed }), subscribedTypes };
      }
      for (const { types: subscribedTypes, ...stream } of workers()?.streams() ?? [])
        yield { ...stream, subscribedTypes };
    },
  };
}

/** Undefined: the node mapping refuses it, so that its stream is about to end. */
function placedBy(view: HubView, stream: ReportedStream): PlacedStream | undefined {
  const layers = view.layersOf(stream.node, stream.peer);
  return "refused" in layers ? undefined : { ...stream, layers };
}
