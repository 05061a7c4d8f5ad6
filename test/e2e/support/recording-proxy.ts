import { type ClientHttp2Session, connect, createServer, type Http2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { FrameReader } from "@xdskit/conformance";
import { createEnvoyApi } from "@xdskit/envoy-api";
import {
  createRequestReader,
  decodeDeltaResponse,
  decodeSotwResponse,
  findDiscoveryMethod,
} from "@xdskit/envoy-api/internal";
import { parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { DiscoveryRequest } from "@xdskit/protocol/internal";

/** A message between client and server, or a note about what happened beside them. */
export type Said = ServerSaid | ClientSaid | Noted;

/** A response. */
export interface ServerSaid {
  readonly by: "server";
  /** The short type name, such as "cds". */
  readonly type: string;
  /** SotW of a full-state type: missing resources are removed. */
  readonly isWhole: boolean;
  readonly names: readonly string[];
  readonly removed: readonly string[];
  /** The Clusters that its resources refer to. */
  readonly clusters: readonly string[];
  /** ClusterLoadAssignments without endpoints. */
  readonly empty: readonly string[];
}

/** A request: an ACK or NACK, a change of the subscription, or both. */
export interface ClientSaid {
  readonly by: "client";
  readonly type: string;
  readonly answer: "ACK" | "NACK" | undefined;
  readonly asks: readonly string[];
  readonly drops: readonly string[];
}

/** An event beside the streams. */
export interface Noted {
  readonly by: "operator" | "requests";
  readonly text: string;
}

/** A proxy between client and server that forwards every connection and records all messages. */
export interface RecordingProxy extends AsyncDisposable {
  readonly port: number;
  /** Returns and removes the recorded messages. */
  take(): readonly Said[];
  /** The recorded messages since the last `take`. */
  readonly said: readonly Said[];
  note(noted: Noted): void;
}

const api = createEnvoyApi();
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Starts a proxy on a free port. */
export async function startRecordingProxy(targetPort: number): Promise<RecordingProxy> {
  const said: Said[] = [];
  const sessions = new Set<Http2Session>();
  const targets = new Map<Http2Session, ClientHttp2Session>();
  const server = createServer();
  server.on("session", (session) => {
    const target = connect(`http://127.0.0.1:${targetPort}`);
    targets.set(session, target);
    for (const [one, other] of [
      [session, target],
      [target, session],
    ] as const) {
      sessions.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sessions.delete(one);
        other.destroy();
      });
    }
  });
  server.on("stream", (stream, headers) => {
    const target = stream.session === undefined ? undefined : targets.get(stream.session);
    if (target === undefined) throw new Error("a stream without a connection");
    const onward = target.request(headers, { endStream: false });
    const heard = listenTo(String(headers[":path"]), (one) => said.push(one));
    passOn(stream, onward, heard);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    said,
    take: () => said.splice(0),
    note: (noted) => said.push(noted),
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Listener {
  readonly fromClient: (chunk: Buffer) => void;
  readonly fromServer: (chunk: Buffer) => void;
}

function passOn(stream: ServerHttp2Stream, onward: ReturnType<ClientHttp2Session["request"]>, heard: Listener): void {
  stream.on("error", () => onward.destroy());
  onward.on("error", () => stream.destroy());
  stream.on("data", heard.fromClient);
  onward.on("data", heard.fromServer);
  stream.pipe(onward);
  onward.on("response", (answer) => {
    if (!stream.destroyed) stream.respond(answer, { waitForTrailers: true });
    onward.on("trailers", (trailers) => stream.on("wantTrailers", () => stream.sendTrailers(trailers)));
    onward.pipe(stream);
  });
}

/** Decodes both directions of one discovery stream. */
function listenTo(path: string, say: (said: Said) => void): Listener {
  const method = findDiscoveryMethod(path);
  if (method === undefined || method.call === "fetch") throw new Error(`not a discovery stream: ${path}`);
  const { call } = method;
  const requests = createRequestReader(call);
  const frames = { client: new FrameReader(MAX_MESSAGE_BYTES), server: new FrameReader(MAX_MESSAGE_BYTES) };
  const asked = new Asked();
  return {
    fromClient(chunk) {
      for (const message of frames.client.push(chunk)) say(asked.read(requests.read(message), method.onlyType));
    },
    fromServer(chunk) {
      for (const message of frames.server.push(chunk)) say(call === "delta" ? readDelta(message) : readSotw(message));
    },
  };
}

/** Distinguishes ACKs and NACKs from subscription changes: SotW requests repeat the nonce and all names. */
class Asked {
  readonly #names = new Map<string, readonly string[]>();
  readonly #answered = new Map<string, string>();

  read(request: DiscoveryRequest, onlyType: TypeUrl | undefined): ClientSaid {
    const type = shortName(request.type ?? onlyType ?? "");
    const isAnswer = request.nonce !== undefined && this.#answered.get(type) !== request.nonce;
    if (request.nonce !== undefined) this.#answered.set(type, request.nonce);
    const answered = request.error === undefined ? "ACK" : "NACK";
    const common = { by: "client", type, answer: isAnswer ? answered : undefined } as const;
    if (request.kind === "delta") return { ...common, asks: request.subscribe, drops: request.unsubscribe };
    const before = this.#names.get(type) ?? [];
    this.#names.set(type, request.names);
    return {
      ...common,
      asks: request.names.filter((name) => !before.includes(name)),
      drops: before.filter((name) => !request.names.includes(name)),
    };
  }
}

function readDelta(message: Uint8Array): ServerSaid {
  const { typeUrl, resources, removedResources } = decodeDeltaResponse(message);
  const bodies = resources.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
  return { ...readBodies(bodies), type: shortName(typeUrl), isWhole: false, removed: removedResources };
}

function readSotw(message: Uint8Array): ServerSaid {
  const { typeUrl, resources } = decodeSotwResponse(message);
  const type = shortName(typeUrl);
  return { ...readBodies(resources), type, isWhole: type === "cds" || type === "lds", removed: [] };
}

function readBodies(
  bodies: readonly { readonly typeUrl: string; readonly value: Uint8Array }[],
): Pick<ServerSaid, "by" | "names" | "clusters" | "empty"> {
  const read = bodies.flatMap(({ typeUrl, value }) => {
    const type = parseTypeUrl(typeUrl);
    if (type === undefined) return [];
    const { input } = api.readEncodedResource(type, value);
    const { endpoints } = api.toJson(type, value) as { readonly endpoints?: readonly object[] };
    const isEmpty = shortName(type) === "eds" && endpoints === undefined;
    return [{ name: input?.name ?? "?", references: input?.references ?? [], isEmpty }];
  });
  const clusters = read.flatMap(({ references }) => references.filter(({ type }) => shortName(type) === "cds"));
  return {
    by: "server",
    names: read.map(({ name }) => name).sort(),
    clusters: [...new Set(clusters.map(({ name }) => name))].sort(),
    empty: read.filter(({ isEmpty }) => isEmpty).map(({ name }) => name),
  };
}

function shortName(type: string): string {
  return api.types.find((one) => one.type === type)?.shortName ?? type;
}
