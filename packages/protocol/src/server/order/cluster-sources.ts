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

/** Where one node gets its Clusters, as far as it is known. */
export interface NotedSource {
  readonly node: string;
  readonly isElsewhere: boolean;
  /** Whether it subscribed to Clusters of this server, or of the one before, on a per-type stream. */
  readonly isHere?: true;
}

/**
 * Which nodes subscribe to routes and the like, and never to Clusters: theirs are static, or come from another server.
 * After a restart, routes of such a node need not wait long for a subscription to Clusters, while those of other nodes
 * do: each per-type stream reconnects in its own time, and on an aggregated one Envoy does not subscribe while a Cluster
 * warms (S-ORD-06). Nodes that subscribed to Clusters here on per-type streams are known, too.
 */
export class ClusterSources {
  readonly #listsNews: boolean;
  readonly #elsewhere = new Set<string>();
  /** Nodes that subscribed to Clusters here. */
  readonly #here = new Set<string>();
  /** How many streams of a node subscribe to Clusters. */
  readonly #subscribed = new Map<string, number>();
  #news = new Set<string>();

  /** `listsNews`: whether changes are collected for `takeNews`; they are kept until it is called. */
  constructor({ listsNews }: { readonly listsNews: boolean }) {
    this.#listsNews = listsNews;
  }

  /** What is known of a node. */
  sourceOf(node: string, isAggregated: boolean): ClusterSource {
    return new SourceOfNode(this, node, isAggregated);
  }

  isElsewhere(node: string): boolean {
    return this.#elsewhere.has(node);
  }

  isHere(node: string): boolean {
    return this.#here.has(node);
  }

  /** A node had time to subscribe to Clusters here, and did not. */
  noteElsewhere(node: string): void {
    if (!this.#subscribed.has(node)) this.restore({ node, isElsewhere: true });
  }

  /** A node subscribed to Clusters on a stream. `isToBeKnown`: it counts as known here from now on. */
  subscribe(node: string, isToBeKnown: boolean): void {
    this.#subscribed.set(node, (this.#subscribed.get(node) ?? 0) + 1);
    const isHere = isToBeKnown || this.#here.has(node);
    this.restore({ node, isElsewhere: false, ...(isHere && { isHere }) });
  }

  /** A stream of a node with Clusters closed. */
  unsubscribe(node: string): void {
    const left = (this.#subscribed.get(node) ?? 0) - 1;
    if (left > 0) this.#subscribed.set(node, left);
    else this.#subscribed.delete(node);
  }

  /** Restores what the previous server knew, or notes what is known now. */
  restore({ node, isElsewhere, isHere }: NotedSource): void {
    this.#note(this.#elsewhere, node, isElsewhere);
    this.#note(this.#here, node, isHere === true);
  }

  /** All nodes of which it is known where they get their Clusters. */
  *current(): Iterable<NotedSource> {
    for (const node of new Set([...this.#elsewhere, ...this.#here])) yield this.#of(node);
  }

  /** What changed since the last call. */
  takeNews(): readonly NotedSource[] {
    if (this.#news.size === 0) return none;
    const news = [...this.#news];
    this.#news = new Set();
    return news.map((node) => this.#of(node));
  }

  #of(node: string): NotedSource {
    return { node, isElsewhere: this.#elsewhere.has(node), ...(this.#here.has(node) && { isHere: true }) };
  }

  /** Adds a node to one kind, of which the oldest are forgotten, or removes it. */
  #note(kind: Set<string>, node: string, isOfIt: boolean): void {
    if (kind.has(node) === isOfIt) return;
    if (this.#listsNews) this.#news.add(node);
    if (isOfIt) kind.add(node);
    else kind.delete(node);
    for (const oldest of kind) {
      if (kind.size <= NODES_KEPT) break;
      this.#note(kind, oldest, false);
    }
  }
}

/** Each stream has one: an object with methods of its own would take 1 KB. */
class SourceOfNode implements ClusterSource {
  readonly isAggregated: boolean;
  readonly #sources: ClusterSources;
  readonly #node: string;

  constructor(sources: ClusterSources, node: string, isAggregated: boolean) {
    this.isAggregated = isAggregated;
    this.#sources = sources;
    this.#node = node;
  }

  get isElsewhere(): boolean {
    return this.#isRemembered && this.#sources.isElsewhere(this.#node);
  }

  get isKnownHere(): boolean {
    return this.#sources.isHere(this.#node);
  }

  noteElsewhere(): void {
    if (this.#isRemembered) this.#sources.noteElsewhere(this.#node);
  }

  subscribe(): void {
    if (this.#node !== "") this.#sources.subscribe(this.#node, this.#isRemembered && !this.isAggregated);
  }

  unsubscribe(): void {
    this.#sources.unsubscribe(this.#node);
  }

  get #isRemembered(): boolean {
    return this.#node !== "" && this.#node.length <= LONGEST_ID;
  }
}

const none: readonly NotedSource[] = [];
