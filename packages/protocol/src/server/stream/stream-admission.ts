import type { DiscoveryRequest } from "../../message/request.ts";
import { statusCode } from "../../message/status.ts";
import type { Node } from "../../node/node.ts";
import { messageNameOf, type TypeUrl } from "../../resource/type-url.ts";
import { type Admission, entryPointOf, isOtherNode, type RejectedStream, typeDenied } from "../admission.ts";
import type { CurrentViews } from "../cache/current-view.ts";
import { Conversion, needsStructs, type StructConverter } from "../contract/conversion.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { StreamOpened } from "../contract/event.ts";
import type { Progress } from "../progress/progress.ts";
import type { LayersOfStreams, OpenStreams } from "./open-streams.ts";
import type { SiblingSets } from "./sibling-sets.ts";
import { Stream } from "./stream.ts";

export interface StreamAdmissionOptions {
  readonly admission: Admission;
  readonly layers: LayersOfStreams;
  readonly currentViews: CurrentViews;
  readonly siblings: SiblingSets;
  readonly progress: Progress;
  readonly convertForStructs?: StructConverter | undefined;
}

/** Decides what streams see, by their first request and again when rules change, and ends those that are not served. */
export class StreamAdmission {
  readonly #options: StreamAdmissionOptions;
  readonly #streams: OpenStreams;
  readonly #conversion: Conversion | undefined;

  constructor(options: StreamAdmissionOptions, streams: OpenStreams) {
    this.#options = options;
    this.#streams = streams;
    this.#conversion = options.convertForStructs && new Conversion(options.convertForStructs);
  }

  /** Admits a stream by its first request. */
  identify(opened: StreamOpened, request: DiscoveryRequest): readonly ServerEffect[] {
    const { admission, layers: all, currentViews, siblings: sets } = this.#options;
    const admitted = admission.admit(opened, request);
    if ("refused" in admitted)
      return this.#refuse(opened, admission.identify(request.node, opened.peer, opened.listener).node, admitted);
    const { node, choices, dialect, layers, grant } = admitted;
    const ended = this.#streams.countNodes(opened, [node]);
    if (isEnded(ended)) return ended;
    const siblings = sets.find(opened, node.id);
    const view = all.viewOf(layers, grant);
    const conversion = needsStructs(node) ? this.#conversion : undefined;
    const stream = new Stream(opened, { node, dialect, choices, siblings, conversion }, currentViews.of(view));
    this.#streams.add(stream, siblings);
    return [{ kind: "report", report: { kind: "node-connected", stream: opened.stream, node, layers } }];
  }

  /** Checks the node of a later request. */
  checkNode(stream: Stream, request: DiscoveryRequest): readonly ServerEffect[] {
    const { node, dialect } = stream.identity;
    if (request.node === undefined || request.node === node) return [];
    // Whoever decodes requests keeps the newest node, beside the one that the stream is known by.
    const ended = this.#streams.countNodes(stream.opened, [node, request.node]);
    if (isEnded(ended) || !isOtherNode(node, request.node)) return ended;
    if (dialect.nodeChange !== "reject") return [anomaly(stream, request.type, "node-changed")];
    const message = `the node of a stream cannot change from "${node.id}" to "${request.node.id}"`;
    return this.#streams.end(stream.opened.stream, { code: statusCode.INVALID_ARGUMENT, message });
  }

  /**
   * Reports a type that a stream may not have. On an aggregated stream it is as if the type had no resources; a stream
   * of this type alone ends.
   */
  denyType({ view, opened, identity }: Stream, type: TypeUrl): readonly ServerEffect[] {
    if (!view.isDenied(type)) return [];
    const told = accessDenied(opened, identity.node, type, "its access does not cover the type");
    return [told, ...(opened.onlyType === undefined ? [] : this.#streams.end(opened.stream, typeDenied(type)))];
  }

  /** Ignores or rejects a type that nobody described and of which there is nothing. */
  meetUnknown(stream: Stream, type: TypeUrl): readonly ServerEffect[] {
    if (stream.identity.dialect.unknownType === "ignore") return [anomaly(stream, type, "unknown-type")];
    const message = `unknown type ${messageNameOf(type)}`;
    return this.#streams.end(stream.opened.stream, { code: statusCode.INVALID_ARGUMENT, message });
  }

  /**
   * Applies the node mapping and the access rules to a stream again. What the client was sent stays known; only the
   * difference is sent (S-DEL-08).
   */
  place(stream: Stream): readonly ServerEffect[] {
    const { before, unchangedTo } = this.#streams.placements.take(stream);
    const { admission, layers: all, currentViews, progress } = this.#options;
    const { opened, node } = stream;
    const placed = admission.place(node, opened.peer, entryPointOf(opened));
    if ("refused" in placed) return this.#refuse(opened, node, placed);
    const { layers, grant } = placed;
    const view = all.viewOf(layers, grant);
    if (view === stream.view) {
      if (unchangedTo === undefined) progress.note(stream);
      else this.#streams.awaken(stream, unchangedTo);
      return [];
    }
    this.#streams.move(stream, currentViews.of(view));
    // The old view's heartbeats no longer reach the stream, and the client may hold resources of that view only.
    for (const type of stream.types.keys()) stream.expectBeat(type);
    const denied = [...stream.types.keys()].flatMap((type) => this.denyType(stream, type));
    if (isEnded(denied)) return denied;
    this.#streams.awaken(stream, before);
    return [...denied, { kind: "report", report: { kind: "node-moved", stream: opened.stream, node, layers } }];
  }

  /** Ends a stream whose node is not served, or is not who it claims to be. */
  #refuse(opened: StreamOpened, node: Node, { refused, denied }: RejectedStream): readonly ServerEffect[] {
    const told = denied === undefined ? [] : [accessDenied(opened, node, undefined, denied)];
    return [...told, ...this.#streams.end(opened.stream, refused)];
  }
}

/** Whether effects end a stream. */
export function isEnded(effects: readonly ServerEffect[]): boolean {
  return effects.some((effect) => effect.kind === "close-stream");
}

function accessDenied(opened: StreamOpened, node: Node, type: TypeUrl | undefined, reason: string): ServerEffect {
  const { stream, peer } = opened;
  const entryPoint = entryPointOf(opened);
  return { kind: "report", report: { kind: "access-denied", entryPoint, stream, node, peer, type, reason } };
}

function anomaly(stream: Stream, type: TypeUrl | undefined, what: "node-changed" | "unknown-type"): ServerEffect {
  const report = { kind: "anomaly", stream: stream.opened.stream, node: stream.identity.node, type, what } as const;
  return { kind: "report", report };
}
