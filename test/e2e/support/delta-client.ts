import { connectPeer, type PeerStream, type WirePeer } from "@xdskit/conformance";
import { type DeltaRequestMessage, decodeDeltaResponse, encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import { until } from "./wait.ts";

const DELTA_ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
export const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
export const ENDPOINTS = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

export interface DeltaClientSettings {
  readonly nodeId: string;
  readonly type: string;
  /** The names to subscribe to. @default wildcard */
  readonly names?: readonly string[];
  /** Names and versions from an earlier stream. */
  readonly held?: ReadonlyMap<string, string>;
  /** How it answers responses. @default "ack" */
  readonly answer?: "ack" | "nack";
  /** Does not read until `read` is called. */
  readonly isDeaf?: boolean;
}

/** A scripted delta client on its own stream, which stores the resources that it receives. */
export interface DeltaClient {
  /** The names and versions that it received. */
  readonly held: ReadonlyMap<string, string>;
  /** Totals of what was received. */
  counts(): { readonly responses: number; readonly resources: number; readonly removed: number };
  /** Sends a literal request, also one that a well-behaved client would not send. */
  send(message: DeltaRequestMessage): void;
  /** Starts reading. */
  read(): void;
  readonly stream: PeerStream;
}

/** Opens a stream and subscribes. */
export function openDeltaClient(peer: WirePeer, settings: DeltaClientSettings): DeltaClient {
  const stream = peer.open(DELTA_ADS);
  const held = new Map(settings.held);
  const counts = { responses: 0, resources: 0, removed: 0 };
  const send = (message: DeltaRequestMessage): void =>
    stream.send(encodeDeltaRequest({ typeUrl: settings.type, ...message }));
  const refusal = settings.answer === "nack" ? { errorDetail: { code: 13, message: "not for me" } } : {};
  const read = async (): Promise<void> => {
    for await (const bytes of stream.messages) {
      const response = decodeDeltaResponse(bytes);
      counts.responses += 1;
      counts.resources += response.resources.length;
      counts.removed += response.removedResources.length;
      for (const resource of response.resources) held.set(resource.name, resource.version);
      for (const name of response.removedResources) held.delete(name);
      send({ responseNonce: response.nonce, ...refusal });
    }
  };
  send({
    node: { ...anonymousNode, id: settings.nodeId },
    resourceNamesSubscribe: settings.names,
    initialResourceVersions: settings.held,
  });
  if (settings.isDeaf !== true) void read();
  return { held, counts: () => ({ ...counts }), send, read: () => void read(), stream };
}

/** Connects as soon as the server listens. */
export async function connectWhenUp(port: number, windowBytes?: number): Promise<WirePeer> {
  const options = { address: `127.0.0.1:${port}`, ...(windowBytes === undefined ? {} : { windowBytes }) };
  const { value } = await until({ says: "the server takes connections", withinMs: 10_000 }, () => connectPeer(options));
  return value;
}
