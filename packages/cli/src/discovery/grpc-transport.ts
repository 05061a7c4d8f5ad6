import { connectPeer, PeerConnectionError, type PeerStream, type PeerTls, type WirePeer } from "@xdskit/conformance";
import { discoveryMethods, type EnvoyApi, encodeDeltaRequest, encodeSotwRequest } from "@xdskit/envoy-api";
import type { ApiVersion, Node, TypeUrl, Variant } from "@xdskit/protocol";
import { CommandError, exitCode } from "../exit-code.ts";
import { unlessAborted } from "../interruption.ts";
import { connectionHint } from "./connection-hint.ts";
import { describeStatus, isUnreachable } from "./describe-status.ts";
import type { Answer } from "./held.ts";
import { readDeltaResponse, readSotwResponse } from "./response.ts";
import type { Connection, Ending, Interest, Subscription, Transport } from "./transport.ts";

/** How a server is asked over gRPC. */
export interface GrpcTransportOptions {
  readonly api: EnvoyApi;
  /** `host:port`. */
  readonly server: string;
  readonly tls: PeerTls | undefined;
  readonly node: Node;
  readonly variant: Variant;
  readonly apiVersion: ApiVersion;
  /** A stream of its own for the type, instead of the aggregated one. */
  readonly isPerType: boolean;
  readonly interrupted: AbortSignal;
}

/** One stream, in delta or State of the World. */
export function grpcTransport(options: GrpcTransportOptions): Transport {
  return {
    answersWhole: (type) => options.variant === "sotw" && options.api.traits(type)?.isFullState === true,
    connect: async () => connectionOver(await connect(options), options),
  };
}

async function connect({ server, tls, interrupted }: GrpcTransportOptions): Promise<WirePeer> {
  const connecting = connectPeer({ address: server, ...(tls !== undefined && { tls }) });
  try {
    const peer = await unlessAborted(connecting, interrupted);
    if (peer !== undefined) return peer;
  } catch (cause) {
    if (!(cause instanceof PeerConnectionError)) throw cause;
    throw new CommandError(exitCode.unreachable, cause.message, connectionHint(cause, server, tls));
  }
  // Whoever was interrupted does not wait for an answer, be it the last.
  connecting.then(
    (late) => late.close(),
    () => undefined,
  );
  throw new CommandError(exitCode.interrupted, "interrupted");
}

function connectionOver(peer: WirePeer, options: GrpcTransportOptions): Connection {
  return {
    subscribe(interest): Subscription {
      const stream = peer.open(methodOf(interest.type, options));
      stream.send(firstRequest(interest, options));
      const ending = stream.status.then(
        (status): Ending => ({
          reason: `${options.server} ended the stream: ${describeStatus(status)}`,
          isUnreachable: isUnreachable(status),
        }),
      );
      return { answers: readAnswers(stream, interest, options), ending, cancel: () => stream.cancel() };
    },
    close: () => peer.close(),
  };
}

function methodOf(type: TypeUrl, { variant, isPerType, apiVersion }: GrpcTransportOptions): string {
  const onlyType = isPerType ? type : undefined;
  const method = discoveryMethods.find(
    (one) => one.call === variant && one.onlyType === onlyType && one.apiVersion === apiVersion,
  );
  if (method !== undefined) return method.path;
  throw new CommandError(exitCode.usage, `${type} has no ${variant} stream of its own`, "leave --per-type off");
}

function firstRequest({ type, names, held }: Interest, { node, variant, api }: GrpcTransportOptions): Uint8Array {
  if (variant === "sotw") return encodeSotwRequest({ node, typeUrl: type, resourceNames: sotwNames(api, type, names) });
  return encodeDeltaRequest({
    node,
    typeUrl: type,
    resourceNamesSubscribe: names.length === 0 ? ["*"] : names,
    initialResourceVersions: held.versions,
  });
}

/** Every server takes an empty list for all Listeners or Clusters; of other types, all are asked for by name. */
function sotwNames(api: EnvoyApi, type: TypeUrl, names: readonly string[]): readonly string[] {
  return names.length > 0 || api.traits(type)?.isFullState === true ? names : ["*"];
}

async function* readAnswers(
  stream: PeerStream,
  { type, names, held }: Interest,
  { api, variant }: GrpcTransportOptions,
): AsyncIterable<Answer> {
  for await (const message of stream.messages) {
    const answer = held.take(variant === "delta" ? readDeltaResponse(message) : readSotwResponse(message, api));
    const { nonce: responseNonce, version: versionInfo } = answer;
    stream.send(
      variant === "delta"
        ? encodeDeltaRequest({ typeUrl: type, responseNonce })
        : encodeSotwRequest({ typeUrl: type, responseNonce, versionInfo, resourceNames: sotwNames(api, type, names) }),
    );
    yield answer;
  }
}
