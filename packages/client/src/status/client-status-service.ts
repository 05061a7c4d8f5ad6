import type { handleUnaryCall, Server, ServerDuplexStream } from "@grpc/grpc-js";
import { decodeClientStatusRequest, WireError } from "@xdskit/envoy-api";
import { type ApiVersion, type Status, statusCode } from "@xdskit/protocol";

/** How a client is to tell of itself. */
export interface OwnStatusOptions {
  /** `v3` unless given. v2 knows Listeners, Clusters, routes and scopes only, and nothing of what was asked for and is not there (B-CSD-05). */
  readonly apiVersion?: ApiVersion;
  /** What tells the clients of one process apart (A71). */
  readonly scope?: string;
  /** Only names, versions and how they stand (B-CSD-04). */
  readonly excludeResourceContents?: boolean;
}

/** What can tell of itself: a client. */
export interface OwnStatus {
  /** An encoded `ClientStatusResponse` with one `ClientConfig`. Several, one behind the other, are the response of several clients. */
  encodeStatus(options?: OwnStatusOptions): Uint8Array;
}

/** Clients of one process, by what tells them apart. */
export type ScopedClients = Readonly<Record<string, OwnStatus>>;

/**
 * Adds the client status service (CSDS) of v3 and v2 to a server of the program's own, before it is bound: `Fetch` and `Stream`, which has an answer for
 * each request (C-CSD-03). Whoever may call that server sees what is held, but for secrets. Several clients are told apart by their `client_scope`.
 */
export function addClientStatusService(server: Server, clients: OwnStatus | ScopedClients): void {
  const scoped = isClient(clients) ? [["", clients] as const] : Object.entries(clients);
  for (const apiVersion of ["v3", "v2"] as const) {
    const service = `/envoy.service.status.${apiVersion}.ClientStatusDiscoveryService`;
    const answer = (request: Uint8Array): Answer => answerTo(request, apiVersion, scoped);
    server.register(`${service}/FetchClientStatus`, fetchWith(answer), asBuffer, (bytes) => bytes, "unary");
    server.register(`${service}/StreamClientStatus`, streamWith(answer), asBuffer, (bytes) => bytes, "bidi");
  }
}

function isClient(clients: OwnStatus | ScopedClients): clients is OwnStatus {
  return typeof clients.encodeStatus === "function";
}

type Answer = { readonly kind: "response"; readonly bytes: Uint8Array } | { readonly kind: "refusal"; status: Status };

/** A client is one node: it cannot choose among nodes, and says so (A40). */
function answerTo(
  request: Uint8Array,
  apiVersion: ApiVersion,
  clients: readonly (readonly [scope: string, client: OwnStatus])[],
): Answer {
  try {
    const { nodeMatchers, excludeResourceContents } = decodeClientStatusRequest(request);
    if (nodeMatchers.length > 0) return refusal("node_matchers: expected none, this client tells of itself only");
    const answers = clients.map(([scope, client]) =>
      client.encodeStatus({ apiVersion, scope, excludeResourceContents }),
    );
    return { kind: "response", bytes: Buffer.concat(answers) };
  } catch (error) {
    if (error instanceof WireError) return refusal(`not a client status request: ${error.message}`);
    // Nobody but whoever asked would hear of it, and it must not end the process.
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "refusal", status: { code: statusCode.INTERNAL, message } };
  }
}

function refusal(message: string): Answer {
  return { kind: "refusal", status: { code: statusCode.INVALID_ARGUMENT, message } };
}

function fetchWith(answer: (request: Uint8Array) => Answer): handleUnaryCall<Uint8Array, Uint8Array> {
  return ({ request }, done) => {
    const answered = answer(request);
    if (answered.kind === "response") done(null, answered.bytes);
    else done({ code: answered.status.code, details: answered.status.message });
  };
}

function streamWith(
  answer: (request: Uint8Array) => Answer,
): (call: ServerDuplexStream<Uint8Array, Uint8Array>) => void {
  return (call) => {
    call.on("data", (request: Uint8Array) => {
      const answered = answer(request);
      if (answered.kind === "refusal") {
        call.emit("error", { code: answered.status.code, details: answered.status.message });
        return;
      }
      // Whoever asks faster than it reads is asked to wait.
      if (call.write(answered.bytes)) return;
      call.pause();
      call.once("drain", () => call.resume());
    });
    call.on("end", () => call.end());
    // Whoever asked is gone.
    call.on("error", () => {});
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
