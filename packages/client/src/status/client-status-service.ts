import type { handleUnaryCall, Server, ServerDuplexStream } from "@grpc/grpc-js";
import { decodeClientStatusRequest, WireError } from "@xdskit/envoy-api";
import { type ApiVersion, type Status, statusCode } from "@xdskit/protocol";
import type { OwnStatus } from "./own-status.ts";

/** Clients of one process, by what tells them apart. */
export type ScopedClients = Readonly<Record<string, OwnStatus>>;

/**
 * Adds the client status service (CSDS) of v3 and v2 to a server of the program's own, before it is bound: `Fetch` and `Stream`, which has an answer for
 * each request (C-CSD-03). Whoever may call that server sees what is held, but for secrets. Several clients are told apart by their `client_scope`. One answer is
 * made at a time, whoever asks.
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

/** Never rejects. Nobody waits for the answer any more once the signal is aborted. */
type Answerer = (request: Uint8Array, signal: AbortSignal) => Promise<Answer>;

/** A client is one node: it cannot choose among nodes, and says so (A40). */
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
    // Nobody but whoever asked would hear of it, and it must not end the process.
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
      // Whoever asks faster than it reads is asked to wait.
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
    // Whoever asked is gone.
    call.on("error", () => {});
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
