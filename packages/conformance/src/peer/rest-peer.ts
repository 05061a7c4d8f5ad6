import { Agent, type IncomingMessage, request } from "node:http";

/** What a poll was answered with. */
export interface RestResponse {
  readonly status: number;
  readonly body: string;
}

/** A client over HTTP/1.1 to any server that is polled. */
export interface RestPeer {
  /** Posts JSON. Rejects if the connection is lost first, or the poll is given up. */
  post(path: string, body: unknown, signal: AbortSignal): Promise<RestResponse>;
  close(): void;
}

/** Makes connections when they are needed, and keeps them. */
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
