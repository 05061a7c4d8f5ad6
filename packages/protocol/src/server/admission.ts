import { type AccessGrant, type AccessPolicy, openAccess, wholeGrant } from "../access/access-policy.ts";
import type { EntryPoint } from "../access/access-rules.ts";
import type { Choices, ClientChoice, NamedChoice } from "../dialect/choice.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { dialectFor } from "../dialect/presets.ts";
import type { DiscoveryRequest } from "../message/request.ts";
import { type Status, statusCode } from "../message/status.ts";
import { anonymousNode, type Node } from "../node/node.ts";
import { layersFor, mayConcern, type NodeMapping, type NodeMappingRejection, type Peer } from "../node/node-mapping.ts";
import { messageNameOf, type TypeUrl } from "../resource/type-url.ts";
import type { StreamOpened, TransactionCommitted } from "./contract/event.ts";
import type { ServerMachineOptions } from "./contract/server-machine-options.ts";

/** How the server identifies a client. */
export interface Identified {
  readonly node: Node;
  /** The overrides that apply to the client, by where they come from. */
  readonly choices: Choices;
  readonly dialect: Dialect;
}

/** The layers that a node sees, and what it may have of them. */
export interface Placed {
  readonly layers: readonly string[];
  readonly grant: AccessGrant;
}

/** An identified client, with what it sees. */
export interface Admitted extends Identified, Placed {}

/** The status with which a client is rejected. */
export interface RejectedStream {
  readonly refused: Status;
  /** Why it may not be the node that it claims to be, for the operator. */
  readonly denied?: string;
}

/** Decides which clients are served, with which dialect and layers, by the node mapping and the overrides in force. */
export class Admission {
  readonly #options: Pick<ServerMachineOptions, "traits" | "edition" | "dialect">;
  readonly #layerExists: (layer: string) => boolean;
  #nodeMapping: NodeMapping;
  #clients: ClientChoice | undefined;
  #access: AccessPolicy;

  constructor(
    options: Pick<ServerMachineOptions, "traits" | "edition" | "dialect" | "nodeMapping" | "clients" | "access">,
    layerExists: (layer: string) => boolean,
  ) {
    this.#options = options;
    this.#layerExists = layerExists;
    this.#nodeMapping = options.nodeMapping;
    this.#clients = options.clients;
    this.#access = options.access ?? openAccess;
  }

  /** Who may have what. */
  get access(): AccessPolicy {
    return this.#access;
  }

  /** Replaces what is given. */
  replace({ nodeMapping, access, clients }: Omit<TransactionCommitted, "kind" | "transaction">): void {
    this.#nodeMapping = nodeMapping ?? this.#nodeMapping;
    this.#access = access ?? this.#access;
    // Streams that have identified themselves keep theirs.
    this.#clients = clients ?? this.#clients;
  }

  /** Whether the layers of a node may be others once these came into being or went. */
  dependsOn(layers: ReadonlySet<string>, node: Node): boolean {
    return typeof this.#nodeMapping !== "function" && mayConcern(layers, node);
  }

  identify(named: Node | undefined, peer: Peer, listener: NamedChoice | undefined): Identified {
    const node = named ?? anonymousNode;
    const choices = { server: this.#options, listener, clients: this.#clients?.(node, peer, listener?.name) };
    return { node, choices, dialect: dialectFor(node, choices) };
  }

  /** The layers of a node, or why the node mapping rejects it. */
  layersOf(node: Node, peer: Peer): readonly string[] | NodeMappingRejection {
    return layersFor(this.#nodeMapping, { node, peer }, this.#layerExists);
  }

  /** What a node sees. */
  place(node: Node, peer: Peer, entryPoint: EntryPoint): Placed | RejectedStream {
    const layers = this.layersOf(node, peer);
    if ("refused" in layers) return refuse(statusCode.PERMISSION_DENIED, layers.refused);
    if (peer.isInProcess === true) return { layers, grant: wholeGrant };
    const grant = this.#access.grant({ entryPoint, peer, node }, layers);
    if (!("denied" in grant)) return { layers, grant };
    return { refused: nodeDenied(peer, node), denied: grant.denied };
  }

  /** Admits or rejects a stream by its first request. */
  admit(opened: StreamOpened, request: DiscoveryRequest): Admitted | RejectedStream {
    const { peer, listener, needs } = opened;
    const identified = this.identify(request.node, peer, listener);
    const { node, choices, dialect } = identified;
    if (request.node === undefined && dialect.requireNode) {
      return refuse(statusCode.INVALID_ARGUMENT, "the first request of a stream needs a node");
    }
    const placed = this.place(node, peer, entryPointOf(opened));
    if ("refused" in placed) return placed;
    if (needs !== undefined && !dialect[needs]) {
      return refuse(statusCode.UNIMPLEMENTED, `this method is only served where the switch "${needs}" is on`);
    }
    return { node, choices, dialect, layers: placed.layers, grant: placed.grant };
  }

  /**
   * The type of a request. A per-type stream carries one type for its life: its method's type or that type's twin, as
   * its first request says. On an aggregated stream every request names its type (B-TYP-02, S-TYP-04 to S-TYP-06).
   * `types`: the types requested on the stream so far.
   */
  typeOf(
    { onlyType }: StreamOpened,
    { type }: DiscoveryRequest,
    types: ReadonlyMap<TypeUrl, unknown> | undefined,
  ): TypeUrl | RejectedStream {
    if (onlyType === undefined) {
      return type ?? refuse(statusCode.INVALID_ARGUMENT, "a request on an aggregated stream needs a type_url");
    }
    const [carried] = types?.keys() ?? [];
    const asked = type ?? carried ?? onlyType;
    const twin = this.#options.traits(onlyType)?.twin;
    if (asked !== onlyType && asked !== twin) {
      const served = [onlyType, ...(twin === undefined ? [] : [twin])].map(messageNameOf).join(" or ");
      return refuse(statusCode.INVALID_ARGUMENT, `this method serves ${served}, not ${messageNameOf(asked)}`);
    }
    if (carried === undefined || carried === asked) return asked;
    const message = `this stream carries ${messageNameOf(carried)} for its life, not ${messageNameOf(asked)}`;
    return refuse(statusCode.INVALID_ARGUMENT, message);
  }
}

/** How a client of a stream came in. */
export function entryPointOf({ onlyType, isFetch = false }: Pick<StreamOpened, "onlyType" | "isFetch">): EntryPoint {
  if (isFetch) return "fetch";
  return onlyType === undefined ? "ads" : "stream";
}

/** The status for a client that may not be the node that it claims to be. */
export function nodeDenied(peer: Peer, { id }: Node): Status {
  return { code: deniedCode(peer), message: `this client may not be node "${id}" here` };
}

/** Another certificate may help who has none. */
export function deniedCode({ certificate }: Peer): number {
  return certificate === undefined ? statusCode.UNAUTHENTICATED : statusCode.PERMISSION_DENIED;
}

/** The status for a client that asks for one type only and may not have it. */
export function typeDenied(type: TypeUrl): Status {
  return { code: statusCode.PERMISSION_DENIED, message: `this client may not have ${messageNameOf(type)} here` };
}

/** Whether a later request names another node than the first request did. */
export function isOtherNode(first: Node, node: Node): boolean {
  return node.id !== first.id || node.cluster !== first.cluster || node.userAgentName !== first.userAgentName;
}

function refuse(code: number, message: string): RejectedStream {
  return { refused: { code, message } };
}
