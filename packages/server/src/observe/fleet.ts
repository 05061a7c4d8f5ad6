import type { Node, TypeUrl } from "@xdskit/protocol";
import type { StreamId } from "@xdskit/protocol/internal";
import { printable } from "./printable.ts";
import type { ObservedTelemetry } from "./telemetry.ts";

/** The conditions of a node, the worst first. */
export const NODE_CONDITIONS = ["nacked", "waiting", "pending", "acked"] as const;

/**
 * How a node stands with what it was sent, over all its streams and types. `nacked`: a NACK is in force. `waiting`:
 * something is held back until something else has been ACKed. `pending`: a response awaits its ACK. `acked`: none of
 * these.
 */
export type NodeCondition = (typeof NODE_CONDITIONS)[number];

/** How long the name of a build may be, in UTF-16 code units. */
const MAX_BUILD = 128;

export type ConditionCounts = Readonly<Record<NodeCondition, number>>;

/** The nodes that share a cluster or a build. */
export interface NodeGroup {
  readonly total: number;
  readonly conditions: ConditionCounts;
}

/** A connected node. */
export interface FleetNode {
  /** As it was named last. */
  readonly node: Node;
  readonly layers: readonly string[];
  readonly streams: ReadonlySet<StreamId>;
  readonly condition: NodeCondition;
}

/**
 * The connected nodes by id, with their conditions counted by cluster and build. Kept as reports come, at a constant
 * cost for each, so that counting 20,000 nodes costs nothing when somebody asks.
 */
export class Fleet {
  readonly #streams = new Map<StreamId, FleetStream>();
  readonly #nodes = new Map<string, Member>();
  readonly #all = new Group();
  readonly #clusters = new Groups();
  readonly #builds = new Groups();
  #sorted: readonly string[] | undefined;
  #changes = 0;

  constructor(telemetry: ObservedTelemetry) {
    telemetry.observe("node-connected", ({ stream, node, layers }) => this.#identify(stream, node, layers));
    telemetry.observe("node-moved", ({ stream, node, layers }) => this.#identify(stream, node, layers));
    telemetry.observe("stream-closed", ({ stream }) => this.#forget(stream));
    telemetry.observe("poller-forgotten", ({ stream }) => this.#forget(stream));
    telemetry.observe("response-sent", ({ stream, type, nonce }) => this.#change(stream, type, send, nonce));
    telemetry.observe("response-acked", ({ stream, type, nonce }) => this.#change(stream, type, accept, nonce));
    telemetry.observe("response-nacked", ({ stream, type, nonce }) => this.#change(stream, type, reject, nonce));
    telemetry.observe("wait-began", ({ stream, type }) => this.#change(stream, type, hold, ""));
    telemetry.observe("wait-ended", ({ stream, type }) => this.#change(stream, type, release, ""));
  }

  /** Grows with every change of a node or its condition. */
  get changes(): number {
    return this.#changes;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get conditions(): ConditionCounts {
    return this.#all.conditions;
  }

  /** The nodes by their `cluster`. */
  get clusters(): ReadonlyMap<string, NodeGroup> {
    return this.#clusters.byName;
  }

  /** The nodes by the name and version of their program. */
  get builds(): ReadonlyMap<string, NodeGroup> {
    return this.#builds.byName;
  }

  /** The ids of all nodes in order. */
  get ids(): readonly string[] {
    this.#sorted ??= [...this.#nodes.keys()].sort();
    return this.#sorted;
  }

  node(id: string): FleetNode | undefined {
    return this.#nodes.get(id);
  }

  #identify(id: StreamId, node: Node, layers: readonly string[]): void {
    const stream = this.#streams.get(id) ?? { member: undefined, node, layers, deliveries: new Map() };
    this.#streams.set(id, stream);
    stream.node = node;
    stream.layers = layers;
    if (stream.member?.node.id !== node.id) this.#leave(id, stream);
    let member = this.#nodes.get(node.id);
    if (member === undefined) {
      member = new Member(node, layers);
      this.#nodes.set(node.id, member);
      this.#sorted = undefined;
    } else {
      this.#count(member, -1);
      member.identify(node, layers);
    }
    if (stream.member === undefined) {
      member.streams.add(id);
      for (const delivery of stream.deliveries.values()) member.add(delivery, 1);
    }
    stream.member = member;
    this.#count(member);
  }

  #forget(id: StreamId): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    this.#leave(id, stream);
  }

  /** A stream no longer belongs to its node. */
  #leave(id: StreamId, stream: FleetStream): void {
    const { member } = stream;
    if (member === undefined) return;
    stream.member = undefined;
    this.#count(member, -1);
    member.streams.delete(id);
    for (const delivery of stream.deliveries.values()) member.add(delivery, -1);
    const [other] = member.streams;
    const left = other === undefined ? undefined : this.#streams.get(other);
    if (left === undefined) {
      this.#nodes.delete(member.node.id);
      this.#sorted = undefined;
      return;
    }
    // What a stream said of its node goes with it.
    if (member.node === stream.node) member.identify(left.node, left.layers);
    this.#count(member);
  }

  #change(id: StreamId, type: TypeUrl, change: (delivery: Delivery, nonce: string) => void, nonce: string): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    let delivery = stream.deliveries.get(type);
    if (delivery === undefined) {
      delivery = new Delivery();
      stream.deliveries.set(type, delivery);
    }
    const { member } = stream;
    if (member === undefined) {
      change(delivery, nonce);
      return;
    }
    const before = member.condition;
    member.add(delivery, -1);
    change(delivery, nonce);
    member.add(delivery, 1);
    const after = member.condition;
    if (after === before) return;
    this.#changes++;
    this.#all.move(before, after);
    this.#clusters.move(member.node.cluster, before, after);
    this.#builds.move(member.build, before, after);
  }

  #count(member: Member, by: 1 | -1 = 1): void {
    const { condition } = member;
    this.#changes++;
    this.#all.add(condition, by);
    this.#clusters.add(member.node.cluster, condition, by);
    this.#builds.add(member.build, condition, by);
  }
}

interface FleetStream {
  /** The node it belongs to. */
  member: Member | undefined;
  /** What it said of that node, and where it is mapped to. */
  node: Node;
  layers: readonly string[];
  readonly deliveries: Map<TypeUrl, Delivery>;
}

/** What is known of one type on one stream. */
class Delivery {
  /** The nonce of the newest response, until it is answered. */
  unanswered: string | undefined = undefined;
  isRejected = false;
  isWaiting = false;

  /** Clients may answer only the newest response. */
  answer(nonce: string): void {
    if (this.unanswered === nonce) this.unanswered = undefined;
  }
}

function send(delivery: Delivery, nonce: string): void {
  delivery.unanswered = nonce;
}

function accept(delivery: Delivery, nonce: string): void {
  delivery.answer(nonce);
  delivery.isRejected = false;
}

function reject(delivery: Delivery, nonce: string): void {
  delivery.answer(nonce);
  delivery.isRejected = true;
}

function hold(delivery: Delivery): void {
  delivery.isWaiting = true;
}

function release(delivery: Delivery): void {
  delivery.isWaiting = false;
}

class Member implements FleetNode {
  node: Node;
  layers: readonly string[];
  build: string;
  readonly streams = new Set<StreamId>();
  #nacked = 0;
  #waiting = 0;
  #pending = 0;

  constructor(node: Node, layers: readonly string[]) {
    this.node = node;
    this.layers = layers;
    this.build = buildOf(node);
  }

  identify(node: Node, layers: readonly string[]): void {
    const isSameBuild = agentOf(node) === agentOf(this.node);
    this.node = node;
    this.layers = layers;
    if (!isSameBuild) this.build = buildOf(node);
  }

  get condition(): NodeCondition {
    if (this.#nacked > 0) return "nacked";
    if (this.#waiting > 0) return "waiting";
    return this.#pending > 0 ? "pending" : "acked";
  }

  add({ isRejected, isWaiting, unanswered }: Delivery, by: 1 | -1): void {
    if (isRejected) this.#nacked += by;
    if (isWaiting) this.#waiting += by;
    if (unanswered !== undefined) this.#pending += by;
  }
}

/** The name and version of a client's program, made printable. */
function buildOf(node: Node): string {
  return printable(agentOf(node).trim(), MAX_BUILD);
}

function agentOf({ userAgentName, userAgentVersion }: Node): string {
  return `${userAgentName} ${userAgentVersion}`;
}

class Group implements NodeGroup {
  total = 0;
  readonly conditions: Record<NodeCondition, number> = { nacked: 0, waiting: 0, pending: 0, acked: 0 };

  add(condition: NodeCondition, by: 1 | -1): void {
    this.total += by;
    this.conditions[condition] += by;
  }

  /** One of its nodes has another condition. */
  move(before: NodeCondition, after: NodeCondition): void {
    this.conditions[before]--;
    this.conditions[after]++;
  }
}

class Groups {
  readonly byName = new Map<string, Group>();

  add(name: string, condition: NodeCondition, by: 1 | -1): void {
    const group = this.byName.get(name) ?? new Group();
    group.add(condition, by);
    if (group.total > 0) this.byName.set(name, group);
    else this.byName.delete(name);
  }

  move(name: string, before: NodeCondition, after: NodeCondition): void {
    this.byName.get(name)?.move(before, after);
  }
}
