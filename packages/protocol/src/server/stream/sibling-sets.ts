import { typeKindTable } from "../../resource/type-kinds.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { StreamOpened } from "../contract/event.ts";
import { LazySet } from "../memory/lazy.ts";
import type { ClusterSources } from "../order/cluster-sources.ts";
import { Order } from "../order/order.ts";
import type { Siblings, Stream } from "./stream.ts";

/** The streams of one client; a set that changes as they open and close. */
export type SiblingSet = Siblings & { readonly nodeId: string; readonly streams: Set<Stream> };

/** Decides which streams belong to one client, and which order they share. */
export class SiblingSets {
  readonly #traits: (type: TypeUrl) => TypeTraits | undefined;
  readonly #isCluster: (type: TypeUrl) => boolean;
  readonly #clusterSources: ClusterSources;
  /** By key; an aggregated stream has a set of its own. */
  readonly #sets = new Map<string, SiblingSet>();
  /** The sets of per-type streams, by node id. */
  readonly #separate = new Map<string, Set<SiblingSet>>();

  constructor(
    traits: (type: TypeUrl) => TypeTraits | undefined,
    isCluster: (type: TypeUrl) => boolean,
    clusterSources: ClusterSources,
  ) {
    this.#traits = traits;
    this.#isCluster = isCluster;
    this.#clusterSources = clusterSources;
  }

  /**
   * Finds or makes the set of a stream. Streams of one node id on one connection belong to one client. On several
   * connections they do too, unless two connections have a stream of the same type: then several clients use the id.
   */
  find({ onlyType, connection, stream }: StreamOpened, nodeId: string): SiblingSet {
    const key = onlyType === undefined ? `stream ${stream}` : `${connection} ${nodeId}`;
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const others = onlyType === undefined ? noSets : this.#separateOf(nodeId);
    const twin = onlyType && this.#traits(onlyType)?.twin;
    const isSameApi = (type: TypeUrl | undefined): boolean =>
      type === onlyType || (twin !== undefined && type === twin);
    const isOfAnother = ({ opened }: Stream): boolean => isSameApi(opened.onlyType) && opened.connection !== connection;
    const [only] = others;
    if (only !== undefined && others.size === 1 && ![...only.streams].some(isOfAnother)) return only;
    const order = new Order({
      areAwaited: (type) => this.#areAwaited(type),
      isCluster: this.#isCluster,
      hasClustersElsewhere: () => onlyType === undefined && this.#bringsClusters(nodeId),
      clusterSource: this.#clusterSources.sourceOf(nodeId, onlyType === undefined),
    });
    return { key, nodeId, streams: new Set(), waiting: new LazySet(), order };
  }

  /** Adds a stream that opened to its set. */
  join(set: SiblingSet, stream: Stream): void {
    this.#sets.set(set.key, set);
    if (stream.opened.onlyType !== undefined) {
      const ofNode = this.#separate.get(set.nodeId) ?? new Set();
      this.#separate.set(set.nodeId, ofNode.add(set));
    }
    set.streams.add(stream);
  }

  /** Removes a stream that closed. */
  leave(stream: Stream): void {
    const { key, order } = stream.identity.siblings;
    const set = this.#sets.get(key);
    set?.streams.delete(stream);
    set?.waiting.delete(stream);
    if (set?.streams.size === 0) this.#forget(set);
    for (const type of stream.types.values()) order.leave(type);
  }

  /**
   * The key of a stream's client. An aggregated stream has an order of its own, but belongs to the client whose
   * per-type streams use the same connection.
   */
  clientOf({ opened, identity }: Stream): string {
    if (opened.onlyType !== undefined) return identity.siblings.key;
    const isHere = (stream: Stream): boolean => stream.opened.connection === opened.connection;
    const separate = [...(this.#separate.get(identity.node.id) ?? [])];
    const beside = separate.find(({ streams }) => [...streams].some(isHere));
    return beside?.key ?? `${opened.connection} ${identity.node.id}`;
  }

  /**
   * Whether a node gets Clusters on a per-type stream, while an aggregated stream of it carries only what they
   * reference.
   */
  #bringsClusters(nodeId: string): boolean {
    return [...this.#separateOf(nodeId)].some(({ order }) => order.hasClusters);
  }

  /** The sets of a node id; none without an id, so such streams are combined on one connection only. */
  #separateOf(nodeId: string): ReadonlySet<SiblingSet> {
    return nodeId === "" ? noSets : (this.#separate.get(nodeId) ?? noSets);
  }

  #forget(set: SiblingSet): void {
    this.#sets.delete(set.key);
    const ofNode = this.#separate.get(set.nodeId);
    ofNode?.delete(set);
    if (ofNode?.size === 0) this.#separate.delete(set.nodeId);
  }

  /**
   * Whether a Listener waits for resources of a type that it references: secrets, and what may use Clusters. Virtual hosts
   * do not count: they come one by one, so no client has all that a route table references.
   */
  #areAwaited(type: TypeUrl): boolean {
    const kind = this.#traits(type)?.kind;
    if (kind === undefined || kind === "vhds") return false;
    return typeKindTable[kind].usesClusters || kind === "sds";
  }
}

const noSets: ReadonlySet<SiblingSet> = new Set();
