import { type Metadata, Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { discoveryMethods } from "@xdskit/envoy-api/internal";
import { until } from "./until.ts";

type BytesCall = ServerDuplexStream<Buffer, Uint8Array>;

/** One call that a client made. */
export interface ScriptedCall {
  readonly path: string;
  readonly metadata: Metadata;
  /** All requests so far. */
  readonly received: readonly Uint8Array[];
  readonly isOver: boolean;
  /** The request of that place, from 0; waits for it. */
  request(index: number): Promise<Uint8Array>;
  send(bytes: Uint8Array): void;
  /** Ends it with a status. */
  end(code: number, details: string): void;
}

/** A server that does what a test tells it to, right or wrong. */
export interface ScriptedGrpc {
  readonly port: number;
  readonly calls: readonly ScriptedCall[];
  /** The call of that place, from 0; waits for it. */
  call(index: number): Promise<ScriptedCall>;
  close(): void;
}

/** Listens at a port, a free one unless told, and serves every discovery method. */
export async function startScriptedGrpc(
  port: number = 0,
  credentials: ServerCredentials = ServerCredentials.createInsecure(),
): Promise<ScriptedGrpc> {
  const server = new Server({ "grpc.max_send_message_length": -1 });
  const calls: ScriptedCall[] = [];
  for (const { path } of discoveryMethods) {
    server.register(
      path,
      (call: BytesCall) => calls.push(scripted(path, call)),
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes: Buffer) => bytes,
      "bidi",
    );
  }
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, given) => (error ? reject(error) : resolve(given)));
  });
  return {
    port: bound,
    calls,
    async call(index) {
      await until(`call ${index} came`, () => calls.length > index);
      return itemAt(calls, index);
    },
    close: () => server.forceShutdown(),
  };
}

function scripted(path: string, call: BytesCall): ScriptedCall {
  const received: Uint8Array[] = [];
  let isOver = false;
  call.on("data", (bytes: Buffer) => received.push(new Uint8Array(bytes)));
  call.on("end", () => call.end());
  call.on("cancelled", () => {
    isOver = true;
  });
  call.on("error", () => {
    isOver = true;
  });
  return {
    path,
    metadata: call.metadata,
    received,
    get isOver() {
      return isOver;
    },
    async request(index) {
      await until(`request ${index} of ${path} came`, () => received.length > index);
      return itemAt(received, index);
    },
    send: (bytes) => void call.write(bytes),
    end: (code, details) => void call.emit("error", { code, details }),
  };
}

function itemAt<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`nothing at ${index}`);
  return item;
}
