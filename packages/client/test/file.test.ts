import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createFileTransport } from "../src/transport/file/file-transport.ts";
import { fakeListener } from "./support/fake-listener.ts";
import { followedFiles, json, nextNames, replace, staysSilent } from "./support/followed-files.ts";
import { CLUSTER, fileSource, request, testApi } from "./support/sources.ts";

const { at, open, follow } = followedFiles();

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
    const opened = await follow(at("cds.json"), { watchedDirectory: at() });
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
    const { listener } = open(at());
    expect((await listener.next("ended")).status.message).toBe(`${at()}: expected a file, got something else`);
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

test("a directory above that of a file is replaced by another: that one is followed", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  for (const [name, cluster] of [
    ["live", "a"],
    ["next", "b"],
  ] as const) {
    mkdirSync(at(name, "conf"), { recursive: true });
    writeFileSync(at(name, "conf", "cds.json"), json(cluster));
  }
  const opened = await follow(at("live", "conf", "cds.json"));
  renameSync(at("live"), at("last"));
  renameSync(at("next"), at("live"));
  vi.advanceTimersByTime(5_000);
  vi.useRealTimers();
  expect(await nextNames(opened)).toEqual(["b"]);
  replace(at("live", "conf", "cds.json"), json("c"));
  expect(await nextNames(opened)).toEqual(["c"]);
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

test("where the system cannot watch, files are looked at", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const opened = await follow(at("cds.json"), {}, CLUSTER, () => {
    throw Object.assign(new Error("no space left for watches"), { code: "ENOSPC" });
  });
  writeFileSync(at("cds.json"), json("b"));
  expect(await nextNames(opened)).toEqual(["b"]);
});

test("an event of an entry that cannot be looked at is no change, and no exception", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const heard: ((event: string, name: string | null) => void)[] = [];
  const opened = await follow(at("cds.json"), { watchedDirectory: at() }, CLUSTER, (directory, listener) => {
    heard.push(listener);
    return watch(directory, () => undefined);
  });
  for (const listener of heard) listener("rename", "x".repeat(300));
  expect(heard).toHaveLength(1);
  await staysSilent(opened);
});

test("B-ADS-07 B-DLT-01 there is no ADS and no delta over files", async () => {
  writeFileSync(at("cds.json"), json("a"));
  const aggregated = fakeListener();
  const transport = createFileTransport({ api: testApi() });
  transport.open({ source: fileSource(at("cds.json")), server: undefined, onlyType: undefined }, aggregated);
  expect((await aggregated.next("ended")).status.code).toBe(statusCode.UNIMPLEMENTED);
  await transport.close();
  const { stream, listener } = await follow(at("cds.json"));
  const initialVersions = { size: 0, key: "", [Symbol.iterator]: () => [][Symbol.iterator]() };
  const { names: _, versionInfo: __, ...common } = request(CLUSTER);
  stream.send({ ...common, kind: "delta", subscribe: ["a"], unsubscribe: [], initialVersions }, false);
  expect((await listener.next("ended")).status.code).toBe(statusCode.UNIMPLEMENTED);
});

test("copies over the file are seen whole", async () => {
  const many = json(...Array.from({ length: 2_000 }, (_, i) => `c${i}`));
  writeFileSync(at("cds.json"), json("a"));
  writeFileSync(at("big"), many);
  const opened = await follow(at("cds.json"));
  copyFileSync(at("big"), at("cds.json"));
  expect((await nextNames(opened)).length).toBe(2_000);
});
