import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { FileSource } from "../src/config/client-config.ts";
import { createFileTransport } from "../src/transport/file/file-transport.ts";
import type { WatchDirectory } from "../src/transport/file/path-watch.ts";
import type { ClientStream, Transport } from "../src/transport/transport.ts";
import { type FakeListener, fakeListener, namesIn } from "./support/fake-listener.ts";
import { CLUSTER, fileSource, request, SECRET, testApi } from "./support/sources.ts";
import { until } from "./support/until.ts";

/** Long enough for the system to tell what it has to tell, and for the stream to make up its mind. */
const LONG_ENOUGH_MS = 700;

let directory: string;
let transport: Transport<FileSource>;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-client-file-"));
});
afterEach(async () => {
  await transport.close();
  rmSync(directory, { recursive: true, force: true });
});

const at = (...names: readonly string[]): string => join(directory, ...names);

const json = (...names: readonly string[]): string =>
  JSON.stringify({ version_info: "1", resources: names.map((name) => ({ "@type": CLUSTER, name })) });

/** As whoever wants to be understood does it. */
function replace(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

interface Opened {
  readonly stream: ClientStream;
  readonly listener: FakeListener;
}

function open(
  path: string,
  changes: Partial<FileSource> = {},
  type: TypeUrl | undefined = CLUSTER,
  watchDirectory?: WatchDirectory,
): Opened {
  transport = createFileTransport({ api: testApi(), ...(watchDirectory && { watchDirectory }) });
  const listener = fakeListener();
  const stream = transport.open({ source: fileSource(path, changes), server: undefined, onlyType: type }, listener);
  return { stream, listener };
}

/** Opens a file and takes what is in it. */
async function follow(...args: Parameters<typeof open>): Promise<Opened> {
  const opened = open(...args);
  await opened.listener.next("opened");
  opened.stream.send(request(args[2] ?? CLUSTER), false);
  await opened.listener.next("response");
  return opened;
}

const nextNames = async ({ listener }: Opened): Promise<readonly string[]> =>
  namesIn((await listener.next("response")).bytes);

/** Nothing is told, though there was time for it. */
async function staysSilent({ listener }: Opened): Promise<void> {
  const before = listener.told.length;
  await new Promise((resolve) => setTimeout(resolve, LONG_ENOUGH_MS));
  expect(listener.told.slice(before)).toEqual([]);
}

describe("C-FS-03 C-FS-04 the end of the name says how a file is written", () => {
  const value = {
    versionInfo: "7",
    typeUrl: CLUSTER,
    resources: [{ "@type": CLUSTER, name: "a", connectTimeout: "2s" }],
  };
  const yaml = `version_info: "7"
type_url: ${CLUSTER}
resources:
  - "@type": ${CLUSTER}
    name: a
    connect_timeout: 2s
...
`;
  const text = `version_info: "7"
type_url: "${CLUSTER}"
resources { [${CLUSTER}] { name: "a" connect_timeout { seconds: 2 } } }
`;
  const binary = (): Uint8Array =>
    testApi().readMessage("envoy.service.discovery.v3.DiscoveryResponse", value).bytes ?? new Uint8Array();

  test.each([
    ["cds.pb", binary],
    ["cds.PB", binary],
    ["cds.pb_text", () => text],
    ["cds.txtpb", () => text],
    ["cds.yaml", () => yaml],
    ["cds.YML", () => yaml],
    ["cds.json", () => JSON.stringify(value)],
    ["cds.conf", () => JSON.stringify(value)],
    ["cds", () => JSON.stringify(value)],
  ])("%s", async (name, content) => {
    writeFileSync(at(name), content());
    const { stream, listener } = open(at(name));
    stream.send(request(CLUSTER), false);
    expect(Buffer.from((await listener.next("response")).bytes)).toEqual(Buffer.from(binary()));
    expect(listener.kinds).toEqual(["opened", "response"]);
  });
});

describe("E32 C-FS-02 C-FS-09 a change is seen by the watch of its directory, without waiting for a look", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("by a move onto the path", async () => {
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"));
    replace(at("cds.json"), json("b"));
    expect(await nextNames(opened)).toEqual(["b"]);
    replace(at("cds.json"), json("c"));
    expect(await nextNames(opened)).toEqual(["c"]);
  });

  test("by a write into the file", async () => {
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"));
    writeFileSync(at("cds.json"), json("b"));
    expect(await nextNames(opened)).toEqual(["b"]);
  });

  test("by removing it and making it anew", async () => {
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"));
    unlinkSync(at("cds.json"));
    writeFileSync(at("cds.json"), json("b"));
    expect(await nextNames(opened)).toEqual(["b"]);
    expect(opened.listener.kinds).toEqual(["opened", "response", "response"]);
  });

  test("pieces that are written one after the other are one file", async () => {
    writeFileSync(at("cds.yaml"), json("a"));
    const opened = await follow(at("cds.yaml"));
    const lines = ["b", "c", "d"].map((name) => `- {"@type": ${CLUSTER}, name: ${name}}\n`);
    writeFileSync(at("cds.yaml"), "resources:\n");
    for (const line of lines) {
      appendFileSync(at("cds.yaml"), line);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    expect(await nextNames(opened)).toEqual(["b", "c", "d"]);
    expect(opened.listener.kinds).toEqual(["opened", "response", "response"]);
  });

  test("half of a file is not told if the rest follows", async () => {
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"));
    writeFileSync(at("cds.json"), json("b").slice(0, 20));
    await new Promise((resolve) => setTimeout(resolve, 100));
    writeFileSync(at("cds.json"), json("b"));
    expect(await nextNames(opened)).toEqual(["b"]);
    expect(opened.listener.kinds).toEqual(["opened", "response", "response"]);
  });

  test("behind a link, and when another link takes its place", async () => {
    mkdirSync(at("one"));
    mkdirSync(at("two"));
    writeFileSync(at("one", "cds.json"), json("a"));
    writeFileSync(at("two", "cds.json"), json("b"));
    symlinkSync(at("one", "cds.json"), at("cds.json"));
    const opened = await follow(at("cds.json"));
    replace(at("one", "cds.json"), json("a2"));
    expect(await nextNames(opened)).toEqual(["a2"]);
    symlinkSync(at("two", "cds.json"), at("next"));
    renameSync(at("next"), at("cds.json"));
    expect(await nextNames(opened)).toEqual(["b"]);
    replace(at("two", "cds.json"), json("b2"));
    expect(await nextNames(opened)).toEqual(["b2"]);
  });

  test("equal content is told once, and nothing of what lies beside it", async () => {
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"));
    replace(at("cds.json"), json("a"));
    writeFileSync(at("other.json"), json("b"));
    await staysSilent(opened);
  });

  test("E32 with isMoveOnly, only moves count", async () => {
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"), { isMoveOnly: true });
    writeFileSync(at("cds.json"), json("b"));
    await staysSilent(opened);
    replace(at("cds.json"), json("c"));
    expect(await nextNames(opened)).toEqual(["c"]);
  });

  test("C-FS-07 what is wanted is told again if it is other than before", async () => {
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"));
    opened.stream.send(request(CLUSTER, { versionInfo: "1" }), false);
    opened.stream.send(request(CLUSTER, { names: ["a"] }), true);
    expect(await nextNames(opened)).toEqual(["a"]);
    opened.stream.send(request(CLUSTER, { names: ["a"], versionInfo: "1" }), false);
    await staysSilent(opened);
  });

  test("C-CLI-07 what changes while a response is judged is told after it, and only the last of it", async () => {
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"));
    let finish: (() => void) | undefined;
    opened.listener.judge = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    replace(at("cds.json"), json("b"));
    expect(await nextNames(opened)).toEqual(["b"]);
    replace(at("cds.json"), json("c"));
    replace(at("cds.json"), json("d"));
    await staysSilent(opened);
    finish?.();
    expect(await nextNames(opened)).toEqual(["d"]);
    finish?.();
  });
});

describe("C-FS-10 with a watched directory, only what is moved into it counts", () => {
  /** As a volume of Kubernetes changes: a link to a directory is replaced. */
  function swap(generation: string, content: string): void {
    mkdirSync(at(generation));
    writeFileSync(at(generation, "cds.json"), content);
    symlinkSync(generation, at("..data_tmp"));
    renameSync(at("..data_tmp"), at("..data"));
  }

  test("a swap of ..data", async () => {
    swap("..1", json("a"));
    symlinkSync(join("..data", "cds.json"), at("cds.json"));
    const opened = await follow(at("cds.json"), { watchedDirectory: directory });
    swap("..2", json("b"));
    rmSync(at("..1"), { recursive: true });
    expect(await nextNames(opened)).toEqual(["b"]);
    swap("..3", json("c"));
    expect(await nextNames(opened)).toEqual(["c"]);
  });

  test("a swap of ..data is seen without it as well", async () => {
    swap("..1", json("a"));
    symlinkSync(join("..data", "cds.json"), at("cds.json"));
    const opened = await follow(at("cds.json"));
    swap("..2", json("b"));
    expect(await nextNames(opened)).toEqual(["b"]);
    swap("..3", json("c"));
    expect(await nextNames(opened)).toEqual(["c"]);
  });

  test("the file itself is not watched", async () => {
    mkdirSync(at("watched"));
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"), { watchedDirectory: at("watched") });
    replace(at("cds.json"), json("b"));
    writeFileSync(at("cds.json"), json("c"));
    await staysSilent(opened);
    writeFileSync(at("trigger"), "");
    renameSync(at("trigger"), at("watched", "trigger"));
    expect(await nextNames(opened)).toEqual(["c"]);
  });
});

describe("C-FS-11 a file that is not there", () => {
  test.each([
    ["at the start", "cds.json"],
    ["in a directory that is not there", "none/cds.json"],
  ])("%s: that is told as the end", async (_, name) => {
    const { stream, listener } = open(at(name));
    stream.send(request(CLUSTER), false);
    const { status } = await listener.next("ended");
    expect(status).toEqual({ code: statusCode.NOT_FOUND, message: `${at(name)}: there is no such file` });
    expect(listener.kinds).toEqual(["ended"]);
  });

  test("a directory in its place", async () => {
    const { listener } = open(directory);
    expect((await listener.next("ended")).status.message).toBe(`${directory}: expected a file, got something else`);
  });

  test("later: a failed update, and the next one counts", async () => {
    writeFileSync(at("cds.json"), json("a"));
    const opened = await follow(at("cds.json"));
    unlinkSync(at("cds.json"));
    expect(await opened.listener.next("unreadable")).toEqual({
      kind: "unreadable",
      problem: `${at("cds.json")}: there is no such file`,
    });
    writeFileSync(at("cds.json"), json("a"));
    expect(await nextNames(opened)).toEqual(["a"]);
  });

  test("later, with its directory: it is found when both are back", async () => {
    mkdirSync(at("conf"));
    writeFileSync(at("conf", "cds.json"), json("a"));
    const opened = await follow(at("conf", "cds.json"));
    renameSync(at("conf"), at("conf.old"));
    await opened.listener.next("unreadable");
    mkdirSync(at("conf"));
    writeFileSync(at("conf", "cds.json"), json("b"));
    expect(await nextNames(opened)).toEqual(["b"]);
    replace(at("conf", "cds.json"), json("c"));
    expect(await nextNames(opened)).toEqual(["c"]);
  });
});

test("C-FS-06 what cannot be read is told, and what follows counts", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const opened = await follow(at("cds.json"));
  replace(at("cds.json"), json("b").slice(0, 30));
  expect((await opened.listener.next("unreadable")).problem).toMatch(/^.*cds\.json: expected JSON, got a part of it/);
  replace(at("cds.json"), json("b"));
  expect(await nextNames(opened)).toEqual(["b"]);
  expect(opened.listener.kinds).toEqual(["opened", "response", "unreadable", "response"]);
});

test("C-FS-13 entries may be wrapped", async () => {
  const wrapper = { "@type": formatTypeUrl("envoy.service.discovery.v3.Resource"), name: "a", ttl: "1s" };
  const content = { resources: [{ ...wrapper, resource: { "@type": CLUSTER, name: "a" } }] };
  writeFileSync(at("cds.json"), JSON.stringify(content));
  const { stream, listener } = open(at("cds.json"));
  stream.send(request(CLUSTER), false);
  const { bytes } = await listener.next("response");
  expect(decodeSotwResponse(bytes).resources.map(({ typeUrl }) => typeUrl)).toEqual([wrapper["@type"]]);
});

describe("C-FS-16 the files that a Secret names", () => {
  const secret = (data: object): object => ({ "@type": SECRET, name: "s", ...data });
  const tls = (): object => ({
    tlsCertificate: {
      certificateChain: { filename: at("keys", "tls.crt") },
      privateKey: { filename: at("keys", "tls.key") },
    },
  });

  async function followSecret(resource: object): Promise<Opened & { readonly first: Uint8Array }> {
    writeFileSync(at("sds.json"), JSON.stringify({ resources: [resource] }));
    const { stream, listener } = open(at("sds.json"), {}, SECRET);
    stream.send(request(SECRET), false);
    return { stream, listener, first: (await listener.next("response")).bytes };
  }

  const plain = (bytes: Uint8Array): unknown => testApi().toJson(SECRET, bytes);
  const bodies = (response: Uint8Array): readonly Uint8Array[] =>
    decodeSotwResponse(response).resources.map(({ value }) => value);

  beforeEach(() => {
    mkdirSync(at("keys"));
    writeFileSync(at("keys", "tls.crt"), "certificate 1");
    writeFileSync(at("keys", "tls.key"), "key 1");
  });

  test("a key that is replaced makes it another Secret, which says the same", async () => {
    const { first, ...opened } = await followSecret(secret(tls()));
    replace(at("keys", "tls.key"), "key 2");
    const second = (await opened.listener.next("response")).bytes;
    expect(Buffer.from(second).equals(first)).toBe(false);
    expect(bodies(second).map(plain)).toEqual([secret(tls())]);
    expect(bodies(first).map(plain)).toEqual([secret(tls())]);
    expect(Buffer.from(second).includes("key 2")).toBe(false);
    replace(at("keys", "tls.key"), "key 1");
    expect(Buffer.from((await opened.listener.next("response")).bytes).equals(first)).toBe(true);
  });

  test("wrapped", async () => {
    const wrapper = { "@type": formatTypeUrl("envoy.service.discovery.v3.Resource"), name: "s" };
    const { first, ...opened } = await followSecret({ ...wrapper, resource: secret(tls()) });
    writeFileSync(at("keys", "tls.crt"), "certificate 2");
    const second = (await opened.listener.next("response")).bytes;
    expect(Buffer.from(second).equals(first)).toBe(false);
    const [value] = bodies(second);
    const type = formatTypeUrl("envoy.service.discovery.v3.Resource");
    expect(testApi().toJson(type, value ?? new Uint8Array())).toEqual({ ...wrapper, resource: secret(tls()) });
  });

  test("one that comes and goes", async () => {
    const { listener } = await followSecret(secret(tls()));
    unlinkSync(at("keys", "tls.key"));
    await listener.next("response");
    writeFileSync(at("keys", "tls.key"), "key 2");
    await listener.next("response");
    expect(listener.kinds).toEqual(["opened", "response", "response", "response"]);
  });

  test("with a watched directory, what is moved there", async () => {
    const watching = { tlsCertificate: { ...Object.values(tls())[0], watchedDirectory: { path: at("keys") } } };
    const { first: _, ...opened } = await followSecret(secret(watching));
    writeFileSync(at("keys", "tls.key"), "key 2");
    await staysSilent(opened);
    replace(at("keys", "tls.crt"), "certificate 2");
    await opened.listener.next("response");
  });

  test("what names no files is what it was", async () => {
    const inline = { genericSecret: { secret: { inlineString: "x" } } };
    const { first } = await followSecret(secret(inline));
    const { bytes } = testApi().readMessage("envoy.extensions.transport_sockets.tls.v3.Secret", {
      name: "s",
      ...inline,
    });
    expect(bodies(first).map((value) => Buffer.from(value))).toEqual([Buffer.from(bytes ?? new Uint8Array())]);
  });
});

test("where the system cannot watch, files are looked at", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const opened = await follow(at("cds.json"), {}, CLUSTER, () => {
    throw Object.assign(new Error("no space left for watches"), { code: "ENOSPC" });
  });
  writeFileSync(at("cds.json"), json("b"));
  expect(await nextNames(opened)).toEqual(["b"]);
});

test("B-ADS-07 B-DLT-01 there is no ADS and no delta over files", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const aggregated = fakeListener();
  transport = createFileTransport({ api: testApi() });
  transport.open({ source: fileSource(at("cds.json")), server: undefined, onlyType: undefined }, aggregated);
  expect((await aggregated.next("ended")).status.code).toBe(statusCode.UNIMPLEMENTED);
  const { stream, listener } = await follow(at("cds.json"));
  const initialVersions = { size: 0, key: "", [Symbol.iterator]: () => [][Symbol.iterator]() };
  const { names: _, versionInfo: __, ...common } = request(CLUSTER);
  stream.send({ ...common, kind: "delta", subscribe: ["a"], unsubscribe: [], initialVersions }, false);
  expect((await listener.next("ended")).status.code).toBe(statusCode.UNIMPLEMENTED);
});

/** Counts the watches that are open. */
function countWatches(): { readonly watchDirectory: WatchDirectory; readonly open: number } {
  let open = 0;
  return {
    watchDirectory: (path, listener) => {
      open++;
      const watcher = watch(path, listener);
      watcher.once("close", () => open--);
      return watcher;
    },
    get open() {
      return open;
    },
  };
}

test("a request that is sent at once is answered once the stream is open, not before", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const watches = countWatches();
  const { stream, listener } = open(at("cds.json"), {}, CLUSTER, watches.watchDirectory);
  stream.send(request(CLUSTER), false);
  // Reading begins with a watch, and nothing that takes the disk's time can be over yet.
  for (let turns = 0; turns < 20; turns++) await Promise.resolve();
  expect({ open: watches.open, kinds: listener.kinds }).toEqual({ open: 0, kinds: [] });
  expect(namesIn((await listener.next("response")).bytes)).toEqual(["a"]);
  expect(listener.kinds).toEqual(["opened", "response"]);
});

test("what is closed while a response is judged watches nothing any more", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const watches = countWatches();
  const { stream, listener } = await follow(at("cds.json"), {}, CLUSTER, watches.watchDirectory);
  let finish: (() => void) | undefined;
  listener.judge = () =>
    new Promise((resolve) => {
      finish = resolve;
    });
  replace(at("cds.json"), json("b"));
  await listener.next("response");
  replace(at("cds.json"), json("c"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  stream.close();
  finish?.();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect({ open: watches.open, kinds: listener.kinds }).toEqual({ open: 0, kinds: ["opened", "response", "response"] });
});

test("what is closed watches nothing and says nothing any more, whenever it is closed", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const watches = countWatches();
  for (const [index, waitMs] of [0, 1, 2, 5, 20, 60].entries()) {
    const opened = await follow(at("cds.json"), {}, CLUSTER, watches.watchDirectory);
    replace(at("cds.json"), json(`${index}`));
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    opened.stream.close();
    const { length } = opened.listener.told;
    await until("all watches are closed", () => watches.open === 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect({ open: watches.open, told: opened.listener.told.length }).toEqual({ open: 0, told: length });
  }
});

test("copies over the file are seen whole", async () => {
  const many = json(...Array.from({ length: 2_000 }, (_, i) => `c${i}`));
  writeFileSync(at("cds.json"), json("a"));
  writeFileSync(at("big"), many);
  const opened = await follow(at("cds.json"));
  copyFileSync(at("big"), at("cds.json"));
  expect((await nextNames(opened)).length).toBe(2_000);
});
