import type { handleUnaryCall, Server, ServerDuplexStream } from "@grpc/grpc-js";
import { decodeClientStatusRequest, WireError } from "@xdskit/envoy-api/internal";
import type { ApiVersion, Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { OwnStatus } from "./own-status.ts";

/** The clients of one process by scope. */
export type ScopedClients = Readonly<Record<string, OwnStatus>>;

/**
 * Adds the client status discovery service (CSDS) in v3 and v2 to your gRPC server, before it is bound: `Fetch`, and
 * `Stream` with one response for each request (C-CSD-03). Every caller of that server sees all held resources, secrets
 * redacted. `client_scope` tells several clients apart. Only one response is built at a time.
 */
export function addClientStatusService(server: Server, clients: OwnStatus | ScopedClients): void {
  const scoped = isClient(clients) ? [["", clients] as const] : Object.entries(clients);
  let last: Promise<unknown> = Promise.resolve();
  for (const apiVersion of ["v3", "v2"] as const) {
    const service = `/envoy.service.status.${apiVersion}.ClientStatusDiscoveryService`;
    const answer: Answerer = (request, signal) => {
      const made = last.then(() => answerTo(request, { apiVersion, signal }, scoped));
      last = made;
      return made;
    };
    server.register(`${service}/FetchClientStatus`, fetchWith(answer), asBuffer, (bytes) => bytes, "unary");
    server.register(`${service}/StreamClientStatus`, streamWith(answer), asBuffer, (bytes) => bytes, "bidi");
  }
}

function isClient(clients: OwnStatus | ScopedClients): clients is OwnStatus {
  return typeof clients.encodeStatus === "function";
}

type Answer = { readonly kind: "response"; readonly bytes: Uint8Array } | { readonly kind: "refusal"; status: Status };

/** Never rejects. An aborted signal means that the caller no longer waits. */
type Answerer = (request: Uint8Array, signal: AbortSignal) => Promise<Answer>;

/** A client is one node: it rejects a request that selects nodes (A40). */
async function answerTo(
  request: Uint8Array,
  asked: { readonly apiVersion: ApiVersion; readonly signal: AbortSignal },
  clients: readonly (readonly [scope: string, client: OwnStatus])[],
): Promise<Answer> {
  try {
    const { nodeMatchers, excludeResourceContents } = decodeClientStatusRequest(request);
    if (nodeMatchers.length > 0) return refusal("node_matchers: expected none, this client tells of itself only");
    const answers: Uint8Array[] = [];
    for (const [scope, client] of clients) {
      asked.signal.throwIfAborted();
      answers.push(await client.encodeStatus({ ...asked, scope, excludeResourceContents }));
    }
    return { kind: "response", bytes: Buffer.concat(answers) };
  } catch (error) {
    if (error instanceof WireError) return refusal(`not a client status request: ${error.message}`);
    // Only the caller sees the error; it must not end the process.
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "refusal", status: { code: statusCode.INTERNAL, message } };
  }
}

function refusal(message: string): Answer {
  return { kind: "refusal", status: { code: statusCode.INVALID_ARGUMENT, message } };
}

function fetchWith(answer: Answerer): handleUnaryCall<Uint8Array, Uint8Array> {
  return (call, done) => {
    const gone = new AbortController();
    call.once("cancelled", () => gone.abort());
    void answer(call.request, gone.signal).then((answered) => {
      if (answered.kind === "response") done(null, answered.bytes);
      else done({ code: answered.status.code, details: answered.status.message });
    });
  };
}

function streamWith(answer: Answerer): (call: ServerDuplexStream<Uint8Array, Uint8Array>) => void {
  return (call) => {
    const gone = new AbortController();
    call.once("cancelled", () => gone.abort());
    call.on("data", (request: Uint8Array) => {
      // Backpressure: a caller that sends faster than it reads has to wait.
      call.pause();
      void answer(request, gone.signal).then((answered) => {
        if (gone.signal.aborted) return;
        if (answered.kind === "refusal") {
          call.emit("error", { code: answered.status.code, details: answered.status.message });
        } else if (call.write(answered.bytes)) call.resume();
        else call.once("drain", () => call.resume());
      });
    });
    call.on("end", () => call.end());
    // The caller is gone.
    call.on("error", () => {});
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
