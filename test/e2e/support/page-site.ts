import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { closing } from "./closing.ts";
import { root } from "./peers.ts";
import { until } from "./wait.ts";

/** A message of a page: a line of a story, or its end. */
interface Told {
  readonly story: string;
  readonly line?: string;
  readonly outcome?: unknown;
  readonly failure?: string;
}

/** A page and the files that it may fetch, on loopback. */
export interface PageSite extends AsyncDisposable {
  readonly url: string;
  /** The lines that the page reported in a story. */
  lines(story: string): readonly string[];
  /** The outcome of a story. Throws the page's error if it failed. */
  outcome(story: string, withinMs: number): Promise<unknown>;
}

/** A script for browsers, and the results of bundling it. */
export interface Bundle {
  readonly code: string;
  /** Imports that are left to the browser. */
  readonly imports: readonly string[];
  /** Warnings of the bundler, such as unresolved modules. */
  readonly warnings: readonly string[];
}

/** Bundles like a user's bundler: built packages by name, without polyfills for Node. */
export async function bundleForBrowsers(entry: string): Promise<Bundle> {
  const warnings: string[] = [];
  const onLog = (_level: string, { message }: { readonly message: string }): void => void warnings.push(message);
  const bundle = await rolldown({ input: join(root, entry), platform: "browser", external: ["/plays.js"], onLog });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  await bundle.close();
  return { code: output[0].code, imports: output[0].imports, warnings };
}

/**
 * Serves scripts by path, and a page that starts `/page.js`. Forwards discovery requests to a management server, under
 * the page's own origin.
 */
export async function startPageSite(scripts: Readonly<Record<string, string>>, xdsPort: number): Promise<PageSite> {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "/";
    const [file, script] = [files[path], scripts[path]];
    if (file !== undefined) response.writeHead(200, file.headers).end(file.content());
    else if (script !== undefined) response.writeHead(200, { "content-type": "text/javascript" }).end(script);
    else if (path === "/told") {
      told.push(JSON.parse(await bodyOf(request)) as Told);
      response.writeHead(204).end();
    } else if (path.startsWith("/v3/discovery:")) await passOn(request, response, xdsPort);
    else response.writeHead(404).end();
  };
  const close = closing(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    lines: (story) => told.flatMap((one) => (one.story === story && one.line !== undefined ? [one.line] : [])),
    async outcome(story, withinMs) {
      const { value } = await until({ says: `the page tells the end of "${story}"`, withinMs }, () =>
        told.find((one) => (one.story === story && one.line === undefined) || one.story === PAGE),
      );
      if (value.failure !== undefined) throw new Error(`"${value.story}" failed in the browser: ${value.failure}`);
      return value.outcome;
    },
    [Symbol.asyncDispose]: close,
  };
}

const HTML = `<!doctype html><meta charset="utf-8"><title>xdskit</title><link rel="icon" href="data:,">
<style>body { font: 15px sans-serif } pre { margin: 0 } .done b { color: green } .failed b { color: red }</style>
<body><h1>xdskit in a browser</h1><script src="/watch.js"></script><script type="module" src="/page.js"></script>`;

/** The story name for errors outside the scripts, such as one that cannot be loaded. */
const PAGE = "page";
const WATCH = `
function tell(failure) {
  void fetch("/told", { method: "POST", body: JSON.stringify({ story: "${PAGE}", failure }) });
}
addEventListener("error", (event) => tell(event.message ?? "a script could not be loaded"), true);
addEventListener("unhandledrejection", (event) => tell(String(event.reason)));
`;

/** Allows only our own scripts, and no `eval`. */
const POLICY = "default-src 'self'; style-src 'unsafe-inline'; img-src data:";

const files: Readonly<Record<string, { headers: Record<string, string>; content: () => string | Buffer }>> = {
  "/": { headers: { "content-type": "text/html", "content-security-policy": POLICY }, content: () => HTML },
  "/watch.js": { headers: { "content-type": "text/javascript" }, content: () => WATCH },
  "/descriptors.binpb": {
    headers: { "content-type": "application/octet-stream", "content-encoding": "br" },
    content: () => readFileSync(join(root, "packages/envoy-api/gen/descriptors.binpb.br")),
  },
};

async function passOn(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: await bodyOf(request),
  });
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
  response.end(Buffer.from(await answer.arrayBuffer()));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
