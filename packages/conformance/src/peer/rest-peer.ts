import { Agent, type IncomingMessage, request } from "node:http";

/** The response to a poll. */
export interface RestResponse {
  readonly status: number;
  readonly body: string;
}

/** An HTTP/1.1 client for REST polling. */
export interface RestPeer {
  /** Posts JSON. Rejects if the connection is lost or the signal is aborted. */
  post(path: string, body: unknown, signal: AbortSignal): Promise<RestResponse>;
  close(): void;
}

/** Creates a client that connects on demand and reuses connections. */
export function createRestPeer(address: string): RestPeer {
  const { hostname, port } = new URL(`http://${address}`);
  const agent = new Agent({ keepAlive: true });
  return {
    post: (path, body, signal) =>
      new Promise((resolve, reject) => {
        const text = JSON.stringify(body);
        const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
        const outgoing = request({ host: hostname, port, agent, method: "POST", path, headers, signal }, (incoming) => {
          readText(incoming).then((read) => resolve({ status: incoming.statusCode ?? 0, body: read }), reject);
        });
        outgoing.once("error", reject);
        outgoing.end(text);
      }),
    close: () => agent.destroy(),
  };
}

async function readText(incoming: IncomingMessage): Promise<string> {
  let text = "";
  incoming.setEncoding("utf8");
  for await (const chunk of incoming) text += String(chunk);
  return text;
}
