import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TypeUrl } from "@xdskit/protocol";
import { afterEach, beforeEach, expect } from "vitest";
import type { FileSource } from "../../src/config/client-config.ts";
import { createFileTransport } from "../../src/transport/file/file-transport.ts";
import type { WatchDirectory } from "../../src/transport/file/path-watch.ts";
import type { ClientStream, Transport } from "../../src/transport/transport.ts";
import { type FakeListener, fakeListener, namesIn } from "./fake-listener.ts";
import { CLUSTER, fileSource, request, testApi } from "./sources.ts";

/** Long enough for the system to tell what it has to tell, and for the stream to make up its mind. */
const LONG_ENOUGH_MS = 700;

export interface Opened {
  readonly stream: ClientStream;
  readonly listener: FakeListener;
}

/** What a test does with files in a directory of its own. */
export interface FollowedFiles {
  /** A path in the directory. */
  at(...names: readonly string[]): string;
  open(path: string, changes?: Partial<FileSource>, type?: TypeUrl, watchDirectory?: WatchDirectory): Opened;
  /** Opens a file and takes what is in it. */
  follow(path: string, changes?: Partial<FileSource>, type?: TypeUrl, watchDirectory?: WatchDirectory): Promise<Opened>;
}

/** A directory for each test of a file, and a transport that is closed after it. */
export function followedFiles(): FollowedFiles {
  let directory: string;
  let transport: Transport<FileSource>;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "xdskit-client-file-"));
  });
  afterEach(async () => {
    await transport.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const open: FollowedFiles["open"] = (path, changes = {}, type = CLUSTER, watchDirectory?) => {
    transport = createFileTransport({ api: testApi(), ...(watchDirectory && { watchDirectory }) });
    const listener = fakeListener();
    const stream = transport.open({ source: fileSource(path, changes), server: undefined, onlyType: type }, listener);
    return { stream, listener };
  };
  return {
    at: (...names) => join(directory, ...names),
    open,
    async follow(path, changes, type, watchDirectory) {
      const opened = open(path, changes, type, watchDirectory);
      await opened.listener.next("opened");
      opened.stream.send(request(type ?? CLUSTER), false);
      await opened.listener.next("response");
      return opened;
    },
  };
}

/** A file with Clusters of these names. */
export function json(...names: readonly string[]): string {
  return JSON.stringify({ version_info: "1", resources: names.map((name) => ({ "@type": CLUSTER, name })) });
}

/** As whoever wants to be understood does it. */
export function replace(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

export async function nextNames({ listener }: Opened): Promise<readonly string[]> {
  return namesIn((await listener.next("response")).bytes);
}

/** Nothing is told, though there was time for it. */
export async function staysSilent({ listener }: Opened): Promise<void> {
  const before = listener.told.length;
  await new Promise((resolve) => setTimeout(resolve, LONG_ENOUGH_MS));
  expect(listener.told.slice(before)).toEqual([]);
}
