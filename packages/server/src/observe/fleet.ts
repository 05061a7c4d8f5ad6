import type { Node } from "@xdskit/protocol";
import type { StreamId } from "@xdskit/protocol/internal";
import type { ConditionCounter, DeliveryTimes, StreamTimes } from "./deliveries.ts";
import type { NodeCondition } from "./node-condition.ts";
import { printable } from "./printable.ts";
import type { ObservedTelemetry } from "./telemetry.ts";

/** How long the name of a build may be, in UTF-16 code units. */
const MAX_BUILD = 128;
const NONE: readonly string[] = [];

export type ConditionCounts = Readonly<Record<NodeCondition, number>>;

/** The layers of a group of nodes begin with it. */
const GROUP_LAYER = "group/";

/** The nodes that share a cluster, a group or a build. */
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
 * The connected nodes by id, with their conditions counted by cluster, group and build. Kept as reports come, at a constant
 * cost for each, so that counting 20,000 nodes costs nothing when somebody asks.
 */
export class Fleet {
  readonly #streams = new Map<StreamId, FleetStream>();
  readonly #nodes = new Map<string, Member>();
  readonly #all = new Group();
  readonly #clusters = new Groups();
  readonly #groups = new Groups();
  readonly #builds = new Groups();
  readonly #deliveries: Pick<DeliveryTimes, "stream">;
  #sorted: readonly string[] | undefined;
  #changes = 0;

  constructor(telemetry: ObservedTelemetry, deliveries: Pick<DeliveryTimes, "stream">) {
    this.#deliveries = deliveries;
    telemetry.observe("node-connected", ({ stream, node, layers }) => this.#identify(stream, node, layers));
    telemetry.observe("node-moved", ({ stream, node, layers }) => this.#identify(stream, node, layers));
    telemetry.observe("stream-closed", ({ stream }) => this.#forget(stream));
    telemetry.observe("poller-forgotten", ({ stream }) => this.#forget(stream));
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

  /** The nodes by the groups that their layers are of; one that is in several counts in each. */
  get groups(): ReadonlyMap<string, NodeGroup> {
    return this.#groups.byName;
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
    const stream = this.#streams.get(id) ?? this.#meet(id, node, layers);
    if (stream === undefined) return;
    stream.node = node;
    stream.layers = layers;
    if (stream.member?.node.id !== node.id) this.#leave(id, stream);
    let member = this.#nodes.get(node.id);
    if (member === undefined) {
      member = new Member(node, layers, this.#moved);
      this.#nodes.set(node.id, member);
      this.#sorted = undefined;
    } else {
      this.#count(member, -1);
      member.identify(node, layers);
    }
    if (stream.member === undefined) {
      member.streams.add(id);
      stream.times.countWith(member);
    }
    stream.member = member;
    this.#count(member);
  }
  /** Undefined: no such stream was opened. */
  #meet(id: StreamId, node: Node, layers: readonly string[]): FleetStream | undefined {
    const times = this.#deliveries.stream(id);
    if (times === undefined) return undefined;
    const stream = { member: undefined, node, layers, times };
    this.#streams.set(id, stream);
    return stream;
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
    stream.times.countWith(undefined);
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

  /** A member has another condition. */
  readonly #moved = ({ node, groups, build }: Member, before: NodeCondition, after: NodeCondition): void => {
    this.#changes++;
    this.#all.move(before, after);
    this.#clusters.move(node.cluster, before, after);
    for (const group of groups) this.#groups.move(group, before, after);
    this.#builds.move(build, before, after);
  };

  #count(member: Member, by: 1 | -1 = 1): void {
    const { condition } = member;
    this.#changes++;
    this.#all.add(condition, by);
    this.#clusters.add(member.node.cluster, condition, by);
    for (const group of member.groups) this.#groups.add(group, condition, by);
    this.#builds.add(member.build, condition, by);
  }
}

interface FleetStream {
  /** The node it belongs to. */
  member: Member | undefined;
  /** What it said of that node, and where it is mapped to. */
  node: Node;
  layers: readonly string[];
  readonly times: StreamTimes;
}

type Moved = (member: Member, before: NodeCondition, after: NodeCondition) => void;

class Member implements FleetNode, ConditionCounter {
  node: Node;
  layers: readonly string[];
  groups: readonly string[];
  build: string;
  readonly streams = new Set<StreamId>();
  readonly #moved: Moved;
  /** The types of its streams. */
  readonly #types: Record<NodeCondition, number> = { nacked: 0, waiting: 0, pending: 0, acked: 0 };

  constructor(node: Node, layers: readonly string[], moved: Moved) {
    this.node = node;
    this.layers = layers;
    this.groups = groupsOf(layers);
    this.build = buildOf(node);
    this.#moved = moved;
  }

  identify(node: Node, layers: readonly string[]): void {
    const isSameBuild = agentOf(node) === agentOf(this.node);
    this.node = node;
    if (layers !== this.layers) this.groups = groupsOf(layers);
    this.layers = layers;
    if (!isSameBuild) this.build = buildOf(node);
  }

  /** The worst of its types counts. */
  get condition(): NodeCondition {
    const { nacked, waiting, pending } = this.#types;
    if (nacked > 0) return "nacked";
    if (waiting > 0) return "waiting";
    return pending > 0 ? "pending" : "acked";
  }

  add(condition: NodeCondition, by: 1 | -1): void {
    this.#types[condition] += by;
  }

  move(before: NodeCondition, after: NodeCondition): void {
    const was = this.condition;
    this.#types[before]--;
    this.#types[after]++;
    const { condition } = this;
    if (condition !== was) this.#moved(this, was, condition);
  }
}

function groupsOf(layers: readonly string[]): readonly string[] {
  const groups = layers.filter((layer) => layer.startsWith(GROUP_LAYER));
  return groups.length === 0 ? NONE : groups.map((layer) => layer.slice(GROUP_LAYER.length));
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
