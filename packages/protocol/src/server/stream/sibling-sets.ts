import { typeKindTable } from "../../resource/type-kinds.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { StreamOpened } from "../contract/event.ts";
import { Order } from "../order/order.ts";
import type { Siblings, Stream } from "./stream.ts";

/** Streams of one client, which open and close. */
export type SiblingSet = Siblings & { readonly nodeId: string; readonly streams: Set<Stream> };

/** Which streams are one client's, and which order holds for them. */
export class SiblingSets {
  readonly #traits: (type: TypeUrl) => TypeTraits | undefined;
  readonly #isCluster: (type: TypeUrl) => boolean;
  /** An aggregated stream is alone. */
  readonly #sets = new Map<string, SiblingSet>();
  /** Those of streams for each type, by their node. */
  readonly #separate = new Map<string, Set<SiblingSet>>();

  constructor(traits: (type: TypeUrl) => TypeTraits | undefined, isCluster: (type: TypeUrl) => boolean) {
    this.#traits = traits;
    this.#isCluster = isCluster;
  }

  /**
   * The streams that one order holds for. Those of a node on one connection are one client's; over several connections too,
   * unless several clients may have the id: then there are two connections with a stream of the same type.
   */
  find({ onlyType, connection, stream }: StreamOpened, nodeId: string): SiblingSet {
    const key = onlyType === undefined ? `stream ${stream}` : `${connection} ${nodeId}`;
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const others = onlyType === undefined ? [] : [...this.#separateOf(nodeId)];
    const twin = onlyType && this.#traits(onlyType)?.twin;
    const isSameApi = (type: TypeUrl | undefined): boolean =>
      type === onlyType || (twin !== undefined && type === twin);
    const isOfAnother = ({ opened }: Stream): boolean => isSameApi(opened.onlyType) && opened.connection !== connection;
    const [only] = others;
    if (only !== undefined && others.length === 1 && ![...only.streams].some(isOfAnother)) return only;
    const order = new Order({
      mayUseClusters: (type) => this.#mayUseClusters(type),
      isCluster: this.#isCluster,
      hasClustersElsewhere: () => onlyType === undefined && this.#bringsClusters(nodeId),
    });
    return { key, nodeId, streams: new Set(), waiting: new Set(), order };
  }

  /** A stream opened whose set was found. */
  join(set: SiblingSet, stream: Stream): void {
    this.#sets.set(set.key, set);
    if (stream.opened.onlyType !== undefined) {
      const ofNode = this.#separate.get(set.nodeId) ?? new Set();
      this.#separate.set(set.nodeId, ofNode.add(set));
    }
    set.streams.add(stream);
  }

  /** A stream closed. */
  leave(stream: Stream): void {
    const { key, order } = stream.identity.siblings;
    const set = this.#sets.get(key);
    set?.streams.delete(stream);
    set?.waiting.delete(stream);
    if (set?.streams.size === 0) this.#forget(set);
    for (const type of stream.types.values()) order.leave(type);
  }

  /** An aggregated stream is alone in its order, and yet of the client whose other streams come over the same connection. */
  clientOf({ opened, identity }: Stream): string {
    if (opened.onlyType !== undefined) return identity.siblings.key;
    const isHere = (stream: Stream): boolean => stream.opened.connection === opened.connection;
    const separate = [...(this.#separate.get(identity.node.id) ?? [])];
    const beside = separate.find(({ streams }) => [...streams].some(isHere));
    return beside?.key ?? `${opened.connection} ${identity.node.id}`;
  }

  /** Whether a node has a stream of its own for Clusters, beside an aggregated one that only what they name is asked on. */
  #bringsClusters(nodeId: string): boolean {
    return [...this.#separateOf(nodeId)].some(({ order }) => order.hasClusters);
  }

  /** Clients without an id have nothing in common. */
  #separateOf(nodeId: string): Iterable<SiblingSet> {
    return nodeId === "" ? [] : (this.#separate.get(nodeId) ?? []);
  }

  #forget(set: SiblingSet): void {
    this.#sets.delete(set.key);
    const ofNode = this.#separate.get(set.nodeId);
    ofNode?.delete(set);
    if (ofNode?.size === 0) this.#separate.delete(set.nodeId);
  }

  /** Whether resources of a type may name Clusters. Virtual hosts come one by one: nobody has all that a route table names. */
  #mayUseClusters(type: TypeUrl): boolean {
    const traits = this.#traits(type);
    return traits !== undefined && typeKindTable[traits.kind].usesClusters && traits.kind !== "vhds";
  }
}
