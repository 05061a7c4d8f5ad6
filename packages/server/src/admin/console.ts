import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FileAnswer } from "./route.ts";

/** The path of the console. */
export const CONSOLE_PATH = "/console/";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Nothing but the console's own files and the admin API; no inline scripts or styles, no frames, no HTML from text. */
const policy = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "connect-src"].map((kind) => `${kind} 'self'`),
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const headers: Readonly<Record<string, string>> = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** The files of the console, read and compressed once. */
export class ConsoleFiles {
  #files: Promise<ReadonlyMap<string, FileAnswer>> | undefined;

  /** The file at a path below `/console/`; undefined: there is none. */
  async at(path: string): Promise<FileAnswer | undefined> {
    this.#files ??= readFiles();
    return (await this.#files).get(path === CONSOLE_PATH ? `${CONSOLE_PATH}index.html` : path);
  }
}

/** Where the build of `@xdskit/console` is, beside `src` and `dist`; undefined in a bundle, which does not know where it is from. */
function builtConsole(): URL | undefined {
  const here: string | undefined = import.meta.url;
  return here === undefined || here === "" ? undefined : new URL("../../console/", here);
}

/** Only what was built is served, so that no path can lead elsewhere. */
async function readFiles(): Promise<ReadonlyMap<string, FileAnswer>> {
  const built = builtConsole();
  if (built === undefined) return new Map();
  // Sources that were compiled without the build of the console.
  const found = await readdir(built, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = await Promise.all(
    found.flatMap((entry) => {
      const contentType = contentTypes[extname(entry.name)];
      if (!entry.isFile() || contentType === undefined) return [];
      const path = `${entry.parentPath}/${entry.name}`.slice(fileURLToPath(built).length).replace(/^\/+/, "");
      return [readConsoleFile(built, path, contentType)];
    }),
  );
  return new Map(files);
}

async function readConsoleFile(built: URL, path: string, contentType: string): Promise<readonly [string, FileAnswer]> {
  const body = await readFile(new URL(path, built));
  // The names of assets contain a digest of their content.
  const caching = path.startsWith("assets/") ? { "cache-control": "private, max-age=31536000, immutable" } : {};
  return [
    CONSOLE_PATH + path,
    {
      kind: "file",
      headers: { ...headers, ...caching, "content-type": contentType },
      body,
      compressed: await promisify(gzip)(body, { level: 9 }),
    },
  ];
}
