import { connectPeer, type PeerStream, type WirePeer } from "@xdskit/conformance";
import { decodeDeltaResponse, encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, type Node } from "@xdskit/protocol";

const DELTA_ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const STREAMS_PER_CONNECTION = 250;

const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ENDPOINTS = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const LISTENER = "type.googleapis.com/envoy.config.listener.v3.Listener";
const ROUTE = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
const SECRET = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/** How a node answers a response: with an ACK, not at all, or with a NACK for this reason. */
export type Answer = "ack" | "silence" | { readonly nack: string };

export interface FleetSettings {
  readonly port: number;
  readonly nodes: readonly Partial<Node>[];
  /** The routes that each listener refers to, by the listener's name. */
  readonly routesOf: (listener: string) => readonly string[];
  readonly secrets?: readonly string[];
}

/** Nodes that subscribe as Envoy does, on few connections. */
export interface SimulatedFleet extends AsyncDisposable {
  /** The answer of a node to its next responses. @default "ack" */
  answers: (nodeId: string, type: string) => Answer;
}

/** Connects all nodes; each subscribes to all listeners and clusters, and to what these refer to. */
export async function startFleet({ port, nodes, routesOf, secrets = [] }: FleetSettings): Promise<SimulatedFleet> {
  const peers: WirePeer[] = [];
  const fleet: SimulatedFleet = {
    answers: () => "ack",
    async [Symbol.asyncDispose]() {
      await Promise.all(peers.map((peer) => peer.close()));
    },
  };
  for (const [index, node] of nodes.entries()) {
    if (index % STREAMS_PER_CONNECTION === 0) peers.push(await connectPeer({ address: `127.0.0.1:${port}` }));
    const stream = peers.at(-1)?.open(DELTA_ADS);
    if (stream !== undefined) void follow(stream, { ...anonymousNode, ...node });
  }
  return fleet;

  async function follow(stream: PeerStream, node: Node): Promise<void> {
    const known = new Map<string, Set<string>>();
    const send = (message: Parameters<typeof encodeDeltaRequest>[0]): void => stream.send(encodeDeltaRequest(message));
    const subscribe = (typeUrl: string, names: readonly string[]): void => {
      const before = known.get(typeUrl) ?? new Set();
      const added = names.filter((name) => !before.has(name));
      if (added.length === 0) return;
      known.set(typeUrl, new Set([...before, ...added]));
      send({ typeUrl, resourceNamesSubscribe: added });
    };
    send({ node, typeUrl: CLUSTER });
    send({ typeUrl: LISTENER });
    subscribe(SECRET, secrets);
    for await (const bytes of stream.messages) {
      const { typeUrl, nonce, resources } = decodeDeltaResponse(bytes);
      const answer = fleet.answers(node.id, typeUrl);
      if (answer === "silence") continue;
      const errorDetail = answer === "ack" ? {} : { errorDetail: { code: 3, message: answer.nack } };
      send({ typeUrl, responseNonce: nonce, ...errorDetail });
      if (answer !== "ack") continue;
      const names = resources.map(({ name }) => name);
      if (typeUrl === CLUSTER) subscribe(ENDPOINTS, names);
      if (typeUrl === LISTENER) subscribe(ROUTE, names.flatMap(routesOf));
    }
  }
}
