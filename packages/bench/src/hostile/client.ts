import { connectPeer, type PeerStream, type PeerTls, type WirePeer } from "@xdskit/conformance";
import { encodeDeltaRequest, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, type Node, type Variant } from "@xdskit/protocol";
import { type Answer, type Put, readDelta, readSotw } from "./answer.ts";
import { CLUSTER, LISTENER, names, type Truth, types } from "./views.ts";

/** Returns an integer from 0 to less than `below`. */
export type Random = (below: number) => number;

interface Topic {
  readonly type: string;
  readonly names: Set<string>;
  isWildcard: boolean;
  isOpen: boolean;
  readonly held: Map<string, Pick<Put, "version" | "label">>;
  version: string;
  nonce: string;
}

/** Requests of one flood, more than a second's worth. */
const FLOOD = 300;
/** How much of its conversation a client remembers, for a run that fails. */
const REMEMBERED_LINES = 200;
/** Many connect at once, or other programs use the machine. */
const CONNECT_MS = 120_000;

/** Who a client is to the server. */
export interface HostileIdentity {
  readonly nodeId: string;
  /** The certificate of now. */
  readonly tls: () => PeerTls;
}

const isFullState = (type: string): boolean => type === CLUSTER || type === LISTENER;

/** A client that NACKs, stalls, reports wrong versions, changes subscriptions and reconnects at random. */
export class HostileClient {
  readonly #id: string;
  readonly #variant: Variant;
  readonly #random: Random;
  readonly #identity: HostileIdentity | undefined;
  readonly #topics: readonly Topic[];
  #peer: WirePeer | undefined;
  #stream: PeerStream | undefined;
  /** Responses received while it stalls; undefined if it does not. */
  #stalled: Answer[] | undefined;
  #isPeaceful = false;
  #hasRefused = false;
  #hasLostStream = false;
  readonly #conversation: string[] = [];

  /** Without an identity it connects over plaintext. */
  constructor(number: number, random: Random, identity?: HostileIdentity) {
    this.#id = identity?.nodeId ?? String(number);
    this.#identity = identity;
    this.#variant = number % 2 === 0 ? "delta" : "sotw";
    this.#random = random;
    this.#topics = types.map((type) => ({
      type,
      // As many as random actions lead to: four of eight add one, one removes one. Fewer would grow for an hour, and the
      // server's memory with them.
      names: new Set(names.filter(() => random(5) > 0)),
      isWildcard: isFullState(type) && number % 4 < 2,
      isOpen: false,
      held: new Map(),
      version: "",
      nonce: "",
    }));
  }

  /** Reconnects and subscribes to everything that it wants. */
  async connect(address: string): Promise<void> {
    await this.close();
    const tls = this.#identity?.tls();
    this.#peer = await connectPeer({ address, connectTimeoutMs: CONNECT_MS, ...(tls !== undefined && { tls }) });
    const stream = this.#peer.open(
      `/envoy.service.discovery.v3.AggregatedDiscoveryService/${this.#variant === "delta" ? "Delta" : "Stream"}AggregatedResources`,
    );
    this.#stream = stream;
    this.#hasRefused = false;
    this.#note("connects");
    for (const topic of this.#topics) {
      topic.nonce = "";
      topic.isOpen = topic.isWildcard || topic.names.size > 0;
      if (topic.isOpen) this.#ask(topic);
    }
    void this.#listen(stream);
  }

  async close(): Promise<void> {
    this.#note("closes");
    this.#stalled = undefined;
    this.#stream = undefined;
    await this.#peer?.close();
  }

  /** Performs a random action. */
  async act(address: string): Promise<void> {
    this.#isPeaceful = false;
    const topic = this.#topics[this.#random(this.#topics.length)];
    if (topic === undefined) return;
    const name = names[this.#random(names.length)] ?? "n0";
    switch (this.#random(8)) {
      case 0:
        await this.connect(address);
        break;
      case 1:
        this.#stalled ??= [];
        this.#note("stalls");
        break;
      case 2:
        this.#wake();
        break;
      case 3:
        this.#want(topic, name, false);
        break;
      case 4:
        // It unsubscribes and subscribes again before a response can arrive.
        this.#want(topic, name, false);
        this.#want(topic, name, true);
        break;
      default:
        this.#want(topic, name, true);
    }
  }

  /** Subscribes anew to what it has, as fast as it can. */
  flood(): void {
    const topic = this.#topics[this.#random(this.#topics.length)];
    const [name] = topic?.names ?? [];
    if (topic?.isOpen !== true || topic.isWildcard || name === undefined) return;
    for (let sent = 0; sent < FLOOD; sent++) {
      if (this.#variant === "sotw") this.#tell(topic);
      else this.#sendDelta({ typeUrl: topic.type, resourceNamesSubscribe: [name] });
    }
  }

  /** ACKs everything from now on; reconnects if it NACKed something. */
  async makePeace(address: string): Promise<void> {
    this.#isPeaceful = true;
    this.#wake();
    if (this.#hasRefused || this.#stream === undefined) await this.connect(address);
  }

  /** Whether a stream ended that the client did not close itself. */
  get hasLostStream(): boolean {
    return this.#hasLostStream;
  }

  /** The end of its conversation with the server, for a run that fails. */
  get conversation(): readonly string[] {
    return this.#conversation;
  }

  #note(line: string): void {
    this.#conversation.push(`${new Date().toISOString()} ${line}`);
    if (this.#conversation.length > REMEMBERED_LINES) this.#conversation.shift();
  }

  #sendDelta(request: Parameters<typeof encodeDeltaRequest>[0]): void {
    this.#note(`asks ${JSON.stringify({ ...request, node: undefined })}`);
    this.#stream?.send(encodeDeltaRequest(request));
  }

  #sendSotw(request: Parameters<typeof encodeSotwRequest>[0]): void {
    this.#note(`asks ${JSON.stringify({ ...request, node: undefined })}`);
    this.#stream?.send(encodeSotwRequest(request));
  }

  /** Lists where the client's resources differ from its view. */
  differences(truth: Truth): readonly string[] {
    return this.#topics.flatMap((topic) => {
      const { type, held } = topic;
      return names.flatMap((name) => {
        const isAsked = topic.isWildcard || topic.names.has(name);
        const wanted = isAsked ? truth.label(this.#id, type, name) : undefined;
        const has = held.get(name)?.label;
        // SotW cannot report that these are gone.
        const isUnsaid = wanted === undefined && this.#variant === "sotw" && !isFullState(type);
        return wanted === has || isUnsaid
          ? []
          : [`${this.#variant} client ${this.#id} holds ${has} of ${type} ${name}, not ${wanted}`];
      });
    });
  }

  #want(topic: Topic, name: string, isWanted: boolean): void {
    if (topic.isWildcard || topic.names.has(name) === isWanted) return;
    if (isWanted) topic.names.add(name);
    else topic.names.delete(name);
    if (!isWanted) topic.held.delete(name);
    if (!topic.isOpen) {
      topic.isOpen = true;
      this.#ask(topic);
    } else if (this.#variant === "sotw") this.#tell(topic);
    else {
      const { type } = topic;
      const change = isWanted ? { resourceNamesSubscribe: [name] } : { resourceNamesUnsubscribe: [name] };
      this.#sendDelta({ typeUrl: type, ...change });
    }
  }

  #ask(topic: Topic): void {
    if (this.#variant === "sotw") {
      this.#tell(topic);
      return;
    }
    const lies = this.#isPeaceful ? [] : [["n0", "a lie"] as const, ["n11", "another"] as const];
    const versions = [...topic.held].map(([name, { version }]) => [name, version] as const);
    this.#sendDelta({
      node: this.#node,
      typeUrl: topic.type,
      resourceNamesSubscribe: topic.isWildcard ? ["*"] : [...topic.names],
      initialResourceVersions: [...lies.filter(([name]) => !topic.held.has(name)), ...versions],
    });
  }

  /** Sends a SotW request with all names, which ACKs or NACKs the newest response, if any. */
  #tell({ type, version, nonce, isWildcard, names }: Topic, error?: string): void {
    this.#sendSotw({
      node: this.#node,
      typeUrl: type,
      versionInfo: version,
      responseNonce: nonce,
      resourceNames: isWildcard ? ["*"] : [...names],
      ...(error !== undefined && { errorDetail: { code: 13, message: error } }),
    });
  }

  get #node(): Node {
    return { ...anonymousNode, id: this.#id, cluster: "hostile" };
  }

  async #listen(stream: PeerStream): Promise<void> {
    for await (const message of stream.messages) {
      if (this.#stream !== stream) return;
      const answer = this.#variant === "delta" ? readDelta(message) : readSotw(message);
      this.#note(`hears ${JSON.stringify(answer)}`);
      if (this.#stalled === undefined) this.#take(answer);
      else this.#stalled.push(answer);
    }
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    this.#hasLostStream = true;
    this.#note(`is told ${JSON.stringify(await stream.status)}`);
  }

  #wake(): void {
    const answers = this.#stalled ?? [];
    this.#stalled = undefined;
    for (const answer of answers) this.#take(answer);
  }

  #take(answer: Answer): void {
    const topic = this.#topics.find(({ type }) => type === answer.type);
    if (topic === undefined) throw new Error(`nobody asked for ${answer.type}`);
    const refusal = !this.#isPeaceful && this.#random(6) === 0 ? "no" : undefined;
    topic.nonce = answer.nonce;
    if (refusal === undefined) this.#accept(topic, answer);
    else this.#hasRefused = true;
    if (this.#variant === "sotw") this.#tell(topic, refusal);
    else {
      const errorDetail = refusal === undefined ? undefined : { code: 13, message: refusal };
      this.#sendDelta({ typeUrl: topic.type, responseNonce: answer.nonce, errorDetail });
    }
  }

  #accept(topic: Topic, { puts, removed, version }: Answer): void {
    if (this.#variant === "sotw" && isFullState(topic.type)) topic.held.clear();
    topic.version = version;
    for (const { name, version, label } of puts) {
      if (topic.isWildcard || topic.names.has(name)) topic.held.set(name, { version, label });
    }
    for (const name of removed) topic.held.delete(name);
  }
}
