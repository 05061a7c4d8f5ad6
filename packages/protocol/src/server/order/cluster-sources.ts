/** How many nodes are remembered; beyond that the oldest are forgotten, and are waited for again. */
const NODES_KEPT = 16_384;
/** Longer node ids are not remembered. */
const LONGEST_ID = 512;

/** What is known of where one node gets its Clusters. */
export interface ClusterSource {
  /** Whether this is about an aggregated stream of the node. */
  readonly isAggregated: boolean;
  /** Whether the node uses routes of this server with Clusters of another source. */
  readonly isElsewhere: boolean;
  /** Whether the node subscribed to Clusters of this server before, and was not found to get them elsewhere since. */
  readonly isKnownHere: boolean;
  /** The node had time to subscribe to Clusters here, and did not. */
  noteElsewhere(): void;
  /** The node subscribed to Clusters on a stream. */
  subscribe(): void;
  /** A stream with Clusters closed. */
  unsubscribe(): void;
}

/** A node turned out to get its Clusters elsewhere, or no longer does. */
export interface ClustersElsewhere {
  readonly node: string;
  readonly isElsewhere: boolean;
}

/**
 * Which nodes subscribe to routes and the like, and never to Clusters: theirs are static, or come from another server.
 * After a restart, routes of such a node need not wait long for a subscription to Clusters, while those of other nodes
 * do: each per-type stream reconnects in its own time, and on an aggregated one Envoy does not subscribe while a Cluster
 * warms (S-ORD-06). Nodes that subscribed to Clusters here on per-type streams are known too, but not to the next
 * server.
 */
export class ClusterSources {
  readonly #listsNews: boolean;
  readonly #elsewhere = new Set<string>();
  /** Nodes that subscribed to Clusters here. */
  readonly #here = new Set<string>();
  /** How many streams of a node subscribe to Clusters. */
  readonly #subscribed = new Map<string, number>();
  #news = new Map<string, boolean>();

  /** `listsNews`: whether changes are collected for `takeNews`; they are kept until it is called. */
  constructor({ listsNews }: { readonly listsNews: boolean }) {
    this.#listsNews = listsNews;
  }

  /** What is known of a node. */
  sourceOf(node: string, isAggregated: boolean): ClusterSource {
    const isRemembered = node !== "" && node.length <= LONGEST_ID;
    const has = (): boolean => isRemembered && this.#elsewhere.has(node);
    const here = this.#here;
    return {
      isAggregated,
      get isElsewhere() {
        return has();
      },
      get isKnownHere() {
        return here.has(node);
      },
      noteElsewhere: () => {
        if (!isRemembered || this.#subscribed.has(node)) return;
        this.#here.delete(node);
        this.restore({ node, isElsewhere: true });
      },
      subscribe: () => {
        if (node === "") return;
        if (isRemembered && !isAggregated) this.#noteHere(node);
        this.#subscribed.set(node, (this.#subscribed.get(node) ?? 0) + 1);
        this.restore({ node, isElsewhere: false });
      },
      unsubscribe: () => {
        const left = (this.#subscribed.get(node) ?? 0) - 1;
        if (left > 0) this.#subscribed.set(node, left);
        else this.#subscribed.delete(node);
      },
    };
  }

  /** Restores what the previous server knew, or notes what is known now. */
  restore({ node, isElsewhere }: ClustersElsewhere): void {
    if (this.#elsewhere.has(node) === isElsewhere) return;
    this.#note(node, isElsewhere);
    if (!isElsewhere) return;
    for (const oldest of this.#elsewhere) {
      if (this.#elsewhere.size <= NODES_KEPT) break;
      this.#note(oldest, false);
    }
  }

  /** All nodes that get their Clusters elsewhere. */
  *current(): Iterable<ClustersElsewhere> {
    for (const node of this.#elsewhere) yield { node, isElsewhere: true };
  }

  /** What changed since the last call. */
  takeNews(): readonly ClustersElsewhere[] {
    if (this.#news.size === 0) return none;
    const news = [...this.#news];
    this.#news = new Map();
    return news.map(([node, isElsewhere]) => ({ node, isElsewhere }));
  }

  #noteHere(node: string): void {
    if (this.#here.has(node)) return;
    this.#here.add(node);
    if (this.#here.size <= NODES_KEPT) return;
    const [oldest] = this.#here;
    if (oldest !== undefined) this.#here.delete(oldest);
  }

  #note(node: string, isElsewhere: boolean): void {
    if (isElsewhere) this.#elsewhere.add(node);
    else this.#elsewhere.delete(node);
    if (this.#listsNews) this.#news.set(node, isElsewhere);
  }
}

const none: readonly ClustersElsewhere[] = [];
