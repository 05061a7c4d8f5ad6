import { Agent as HttpAgent, type RequestOptions, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { PeerTls } from "@xdskit/conformance";

/** A server that JSON is posted to. */
export interface HttpPoster {
  /** Rejects with the system's error when there is no answer. */
  post(path: string, body: unknown, options: PostOptions): Promise<HttpAnswer>;
  close(): void;
}

export interface PostOptions {
  readonly signal: AbortSignal;
  /** How long the answer may take; the server is told, so that it does not hold a poll for longer. */
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** Such as `Not Found`. */
  readonly statusText: string;
  readonly body: string;
}

/** Posts over HTTP/1.1, by one connection that is kept (B-RST-01). */
export function createHttpPoster(address: string, tls: PeerTls | undefined): HttpPoster {
  const { hostname, port } = new URL(`http://${address}`);
  const host = hostname.replace(/^\[|\]$/g, "");
  const limits = { keepAlive: true, maxSockets: 1 };
  const agent = tls === undefined ? new HttpAgent(limits) : new HttpsAgent({ ...limits, ...tlsOptions(tls, host) });
  const request = tls === undefined ? requestHttp : requestHttps;
  return {
    post: (path, body, { signal, timeoutMs }) => {
      const text = JSON.stringify(body);
      const headers = {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
        "x-envoy-expected-rq-timeout-ms": timeoutMs,
      };
      const target = { host, port: port === "" ? 80 : Number(port), path, method: "POST", headers, agent, signal };
      return exchange(request, { ...target, timeout: timeoutMs }, text);
    },
    close: () => agent.destroy(),
  };
}

function tlsOptions({ ca, cert, key, serverName }: PeerTls, host: string): object {
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    servername: serverName ?? (isIP(host) === 0 ? host : ""),
  };
}

function exchange(request: typeof requestHttp, options: RequestOptions, text: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode: status = 0, statusMessage: statusText = "" } = response;
        resolve({ status, statusText, body: Buffer.concat(chunks).toString("utf8") });
      });
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${options.timeout} ms`)));
    sent.on("error", reject);
    sent.end(text);
  });
}
