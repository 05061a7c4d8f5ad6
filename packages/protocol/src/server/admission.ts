import type { Choices, ClientChoice, NamedChoice } from "../dialect/choice.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { dialectFor } from "../dialect/presets.ts";
import type { DiscoveryRequest } from "../message/request.ts";
import { type Status, statusCode } from "../message/status.ts";
import { anonymousNode, type Node } from "../node/node.ts";
import type { NodeMapping, Peer } from "../node/node-mapping.ts";
import { messageNameOf, type TypeUrl } from "../resource/type-url.ts";
import type { StreamOpened } from "./contract/event.ts";
import type { ServerMachineOptions } from "./contract/server-machine-options.ts";

/** What a client is taken for. */
export interface Identified {
  readonly node: Node;
  /** What was chosen for it, by whom. */
  readonly choices: Choices;
  readonly dialect: Dialect;
}

/** What a client is taken for, and what it is to see. */
export interface Admitted extends Identified {
  readonly layers: readonly string[];
}

/** Why a client is not served. */
export interface RejectedStream {
  readonly refused: Status;
}

/** Who is served, as what, and where: by the node mapping and the choices that are in force. */
export class Admission {
  readonly #options: Pick<ServerMachineOptions, "traits" | "edition" | "dialect">;
  #nodeMapping: NodeMapping;
  #clients: ClientChoice | undefined;

  constructor(options: Pick<ServerMachineOptions, "traits" | "edition" | "dialect" | "nodeMapping" | "clients">) {
    this.#options = options;
    this.#nodeMapping = options.nodeMapping;
    this.#clients = options.clients;
  }

  /** From now on nodes are placed by this. */
  placeBy(nodeMapping: NodeMapping): void {
    this.#nodeMapping = nodeMapping;
  }

  /** From now on this is chosen for clients that identify themselves. */
  chooseBy(clients: ClientChoice | undefined): void {
    this.#clients = clients;
  }

  identify(named: Node | undefined, peer: Peer, listener: NamedChoice | undefined): Identified {
    const node = named ?? anonymousNode;
    const choices = { server: this.#options, listener, clients: this.#clients?.(node, peer, listener?.name) };
    return { node, choices, dialect: dialectFor(node, choices) };
  }

  /** The layers that a node sees. */
  place(node: Node, peer: Peer): { readonly layers: readonly string[] } | RejectedStream {
    const layers = this.#nodeMapping(node, peer);
    return "refused" in layers ? refuse(statusCode.PERMISSION_DENIED, layers.refused) : { layers };
  }

  /** Looks at the first request of a stream. */
  admit({ peer, listener, needs }: StreamOpened, request: DiscoveryRequest): Admitted | RejectedStream {
    const identified = this.identify(request.node, peer, listener);
    const { node, dialect } = identified;
    if (request.node === undefined && dialect.requireNode) {
      return refuse(statusCode.INVALID_ARGUMENT, "the first request of a stream needs a node");
    }
    const placed = this.place(node, peer);
    if ("refused" in placed) return placed;
    if (needs !== undefined && !dialect[needs]) {
      return refuse(statusCode.UNIMPLEMENTED, `this method is only served where the switch "${needs}" is on`);
    }
    return { ...identified, ...placed };
  }

  /**
   * The type of a request. A per-type stream carries one type for its life, that of its method or its twin, as the first
   * request has it; an aggregated one says it in every request (B-TYP-02, S-TYP-04 to S-TYP-06). `types`: those that were
   * asked for on the stream.
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

/** Whether a later request names another node than the first one did. */
export function isOtherNode(first: Node, { node }: DiscoveryRequest): boolean {
  if (node === undefined || node === first) return false;
  return node.id !== first.id || node.cluster !== first.cluster || node.userAgentName !== first.userAgentName;
}

function refuse(code: number, message: string): RejectedStream {
  return { refused: { code, message } };
}
