import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contentDigest, type ResponseFormat } from "@xdskit/envoy-api";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { createResource } from "@xdskit/protocol";
import { createServer, XdsError } from "@xdskit/server";
import { describe, expect, test, vi } from "vitest";
import { testApi } from "../support/test-server.ts";
import {
  both,
  cluster,
  endpoints,
  filesBelow,
  gone,
  listener,
  parseResponse,
  put,
  read,
  readResponse,
  routes,
  secret,
  startExport,
  temporaryDirectory,
  tlsFrom,
} from "./file-world.ts";

/** The names of the resources in a file. */
function namesIn(path: string): readonly string[] {
  return readResponse(path, "yaml").resources.map(({ name }) => name);
}

const formats: readonly ResponseFormat[] = ["yaml", "json", "pb", "pb_text"];

describe.each(formats)("as %s", (format) => {
  test("S-FS-15 every file is a DiscoveryResponse with version and type that holds the same resources", async () => {
    using out = temporaryDirectory();
    const { writing } = await startExport({ directory: out.path, format });
    await using _ = writing;
    const all = [
      cluster("on", {
        alt_stat_name: "yes",
        connect_timeout: "0.25s",
        metadata: { filter_metadata: { "a:b": { n: 1e21 } } },
      }),
      endpoints("on", 1),
      routes("r", "on"),
      listener('l "\n\u{1F600}', "r", tlsFrom("s")),
      secret("s", "KEY\nof two lines"),
    ];
    writing.commit(put(...all));
    expect(await writing.whenInSync()).toBe(5);
    const files = ["cds", "eds/on", "lds", "rds/r", "sds/s", "srds"].map((path) => `${path}.${format}`);
    expect(filesBelow(out.path)).toEqual(files);
    const found = files.flatMap((path) => {
      const { versionInfo, typeUrl, resources } = readResponse(join(out.path, path), format);
      expect(versionInfo).toMatch(/^[\w-]{16}$/);
      for (const { type } of resources) expect(type).toBe(typeUrl);
      return resources.map(({ type, name, bytes }) => ({ type, name, bytes: Buffer.from(bytes).toString("hex") }));
    });
    const wanted = all.map(({ type, name, bytes }) => ({ type, name, bytes: Buffer.from(bytes).toString("hex") }));
    expect(new Set(found)).toEqual(new Set(wanted));
  });

  test("S-FS-15 the version changes if and only if the content does, and only then is the file touched", async () => {
    using out = temporaryDirectory();
    const { writing, changes } = await startExport({ directory: out.path, format });
    await using _ = writing;
    const path = join(out.path, `cds.${format}`);
    const look = async (): Promise<{ version: string; inode: number }> => {
      await writing.whenInSync();
      return { version: readResponse(path, format).versionInfo, inode: statSync(path).ino };
    };
    writing.commit(put(cluster("a"), endpoints("a", 1)));
    const first = await look();
    writing.commit(put(endpoints("a", 2)));
    expect(await look()).toEqual(first);
    writing.commit(put(cluster("a", { alt_stat_name: "b" })));
    const second = await look();
    expect(second.version).not.toBe(first.version);
    writing.commit(put(cluster("a")));
    expect((await look()).version).toBe(first.version);
    await writing.close();
    changes.length = 0;
    const again = await startExport({ directory: out.path, format });
    again.writing.commit(put(cluster("a"), endpoints("a", 2)));
    await again.writing.whenInSync();
    await again.writing.close();
    expect(again.changes).toEqual([]);
  });

  test("S-FS-14 a reader that loops over 1000 rewrites never fails to parse", async () => {
    using out = temporaryDirectory("in memory");
    const { writing, changes, problems } = await startExport({ directory: out.path, format, settleMs: 0 });
    await using _ = writing;
    const padding = "x".repeat(20_000);
    writing.commit(put(cluster("a", { alt_stat_name: padding }), endpoints("a", 1)));
    await writing.whenInSync();
    const path = join(out.path, `cds.${format}`);
    let seen: Buffer = Buffer.alloc(0);
    const versions = new Set<string>();
    const look = (): void => {
      const content = readFileSync(path);
      if (content.equals(seen)) return;
      seen = content;
      const { versionInfo, resources } = parseResponse(content, format);
      expect(resources[0]?.bytes.length).toBeGreaterThan(18_000);
      versions.add(versionInfo);
    };
    // With four forms, a thousand of them.
    for (let round = 1; round <= 250; round++) {
      const before = changes.length;
      writing.commit(put(cluster("a", { alt_stat_name: padding.slice(round) })));
      while (changes.length === before) {
        look();
        await new Promise((resolve) => setImmediate(resolve));
      }
      look();
    }
    expect({ problems, isEachSeen: versions.size >= 250 }).toEqual({ problems: [], isEachSeen: true });
  }, 60_000);
});

test("B-ACK-16 what depends on a file is written when its readers had time to take it", async () => {
  using out = temporaryDirectory();
  const settleMs = 150;
  const { writing } = await startExport({ directory: out.path, settleMs });
  await using _ = writing;
  writing.commit(put(cluster("x"), endpoints("x", 1), routes("r", "x"), listener("l", "r")));
  await writing.whenInSync();
  const at = new Map<string, number>();
  writing.on("files-written", ({ written, removed }) => {
    for (const path of [...written, ...removed]) at.set(path, performance.now());
  });
  writing.commit(put(cluster("y"), endpoints("y", 2), routes("r", "y")));
  await writing.whenInSync();
  const passed = (at.get("rds/r.yaml") ?? 0) - (at.get("cds.yaml") ?? Number.POSITIVE_INFINITY);
  expect(passed).toBeGreaterThanOrEqual(settleMs - 1);
});

test("B-GEN-01 every type but those of delta has its files, in v3 and in v2", async () => {
  using out = temporaryDirectory();
  const api = testApi();
  const types = api.types.filter(({ kind, shortName }) => shortName !== "" && kind !== "vhds" && kind !== "leds");
  const bytes = Buffer.from("\n\u0003one");
  for (const apiVersion of ["v3", "v2"] as const) {
    const urls = types.flatMap(({ type, v2Twin, shortName }) => {
      const url = apiVersion === "v3" ? type : v2Twin;
      return url === undefined ? [] : [[shortName, url] as const];
    });
    const directory = join(out.path, apiVersion);
    const { writing } = await startExport({ directory, format: "pb", apiVersion });
    writing.commit(put(...urls.map(([, type]) => createResource({ type, name: "one", bytes }, contentDigest))));
    await writing.whenInSync();
    await writing.close();
    const found = urls.map(([shortName, url]) => {
      const path = api.traits(url)?.isFullState === true ? `${shortName}.pb` : `${shortName}/one.pb`;
      const { typeUrl, resources } = decodeSotwResponse(readFileSync(join(directory, path)));
      return [shortName, typeUrl, ...resources.map(({ typeUrl: each, value }) => [each, Buffer.from(value)])];
    });
    expect(found).toEqual(urls.map(([shortName, url]) => [shortName, url, [url, bytes]]));
  }
});

test("a cluster is there before a route to it, and goes after it; nothing is touched that did not change", async () => {
  using out = temporaryDirectory();
  const { writing, changes } = await startExport({ directory: out.path, rewriteSources: true });
  await using _ = writing;
  writing.commit(put(cluster("x"), endpoints("x", 1), routes("r", "x"), listener("l", "r")));
  await writing.whenInSync();
  expect(changes).toEqual(["+cds.yaml +eds/x.yaml +lds.yaml +rds/r.yaml +srds.yaml"]);
  changes.length = 0;
  writing.commit(both(put(cluster("y"), endpoints("y", 2), routes("r", "y")), gone(cluster("x"), endpoints("x", 1))));
  await writing.whenInSync();
  expect(changes).toEqual(["+cds.yaml +eds/y.yaml", "+rds/r.yaml", "+cds.yaml", "-eds/x.yaml"]);
});

test("a listener under a new name with its own routes and cluster takes the place of the former one in one step", async () => {
  using out = temporaryDirectory();
  const { writing } = await startExport({ directory: out.path });
  await using _ = writing;
  writing.commit(put(cluster("x"), endpoints("x", 1), routes("old", "x"), listener("old", "old")));
  await writing.whenInSync();
  const held: (readonly string[])[] = [];
  writing.on("files-written", ({ written }) => {
    if (written.includes("lds.yaml")) held.push(namesIn(join(out.path, "lds.yaml")));
  });
  const arrives = put(cluster("y"), endpoints("y", 2), routes("new", "y"), listener("new", "new"));
  const leaves = gone(cluster("x"), endpoints("x", 1), routes("old", "x"), listener("old", "old"));
  writing.commit(both(arrives, leaves));
  await writing.whenInSync();
  expect(held).toEqual([["new"]]);
  expect(filesBelow(out.path)).toEqual(["cds.yaml", "eds/y.yaml", "lds.yaml", "rds/new.yaml", "srds.yaml"]);
});

test("what was deleted while the node was refused goes once it is admitted again", async () => {
  using out = temporaryDirectory();
  const { writing, problems } = await startExport({ directory: out.path });
  await using _ = writing;
  writing.commit(put(cluster("x"), endpoints("x", 1), routes("r", "x"), listener("a", "r"), listener("b", "r")));
  await writing.whenInSync();
  writing.setNodeMapping(() => ({ refused: "not now" }));
  writing.commit(gone(listener("b", "r")));
  writing.setNodeMapping(() => ["base"]);
  await vi.waitFor(() => expect(namesIn(join(out.path, "lds.yaml"))).toEqual(["a"]), { timeout: 20_000 });
  expect(problems).toEqual(["the stream of the writer was ended: not now"]);
});

test("what a writer that was killed left is replaced in that order too", async () => {
  using out = temporaryDirectory();
  const first = await startExport({ directory: out.path, rewriteSources: true });
  first.writing.commit(put(cluster("x"), endpoints("x", 1), routes("r", "x"), listener("l", "r")));
  await first.writing.whenInSync();
  await first.writing.close();
  writeFileSync(join(out.path, "eds", ".x.yaml.0.xds-tmp"), "half");
  const { writing, changes } = await startExport({ directory: out.path, rewriteSources: true });
  await using _ = writing;
  writing.commit(put(cluster("y"), endpoints("y", 2), routes("r", "y"), listener("l", "r")));
  await writing.whenInSync();
  expect(changes).toEqual(["+cds.yaml +eds/y.yaml", "+rds/r.yaml", "+cds.yaml", "-eds/x.yaml"]);
  expect(readdirSync(join(out.path, "eds"))).toEqual(["y.yaml"]);
});

test("what does not exist is an empty file while something names it", async () => {
  using out = temporaryDirectory();
  const { writing } = await startExport({ directory: out.path, format: "json", rewriteSources: true });
  await using _ = writing;
  writing.commit(put(listener("l", "none"), routes("r", "x")));
  await writing.whenInSync();
  const type = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
  const empty = { typeUrl: type, resources: [] };
  expect(readResponse(join(out.path, "rds/none.json"), "json")).toMatchObject(empty);
  writing.commit(both(put(listener("l", "r")), gone(routes("r", "x"))));
  await writing.whenInSync();
  expect(filesBelow(out.path)).toEqual(["cds.json", "lds.json", "rds/r.json", "srds.json"]);
  expect(readResponse(join(out.path, "rds/r.json"), "json")).toMatchObject(empty);
});

test("sources are pointed at the files, through every Any, and what cannot come from one is told", async () => {
  using out = temporaryDirectory();
  const { writing } = await startExport({ directory: out.path, format: "json", rewriteSources: true, symlinks: true });
  await using _ = writing;
  const told: unknown[] = [];
  writing.on("files-source", ({ name, path, file }) => told.push([name, path, file]));
  const vhds = { vhds: { config_source: { ads: {}, resource_api_version: "V3" } } };
  const table = read({ "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", name: "R/1", ...vhds });
  writing.commit(
    put(listener("l", "R/1", tlsFrom("s")), table, secret("s", "key"), cluster("c", { alt_stat_name: "z" })),
  );
  await writing.whenInSync();
  const manager = "filter_chains[0].filters[0].typed_config";
  const socket = "filter_chains[0].transport_socket.typed_config.common_tls_context";
  const file = readdirSync(join(out.path, "rds"))[0] ?? "";
  expect(file).toMatch(/^r_1~[0-9a-f]{32}\.json$/);
  expect(new Set(told)).toEqual(
    new Set([
      ["c", "eds_cluster_config.eds_config", join(out.path, "eds/c.json")],
      ["l", `${manager}.rds.config_source`, join(out.path, "rds", file)],
      ["l", `${socket}.tls_certificate_sds_secret_configs[0].sds_config`, join(out.path, "sds/s.json")],
      ["R/1", "vhds.config_source", undefined],
    ]),
  );
  const text = readFileSync(join(out.path, "lds.json"), "utf8");
  expect(text).not.toContain('"ads"');
  expect(JSON.parse(text)).toMatchObject({
    resources: [
      {
        filterChains: [
          {
            filters: [
              {
                typedConfig: {
                  rds: {
                    configSource: {
                      resourceApiVersion: "V3",
                      pathConfigSource: { path: join(out.path, "rds", file), watchedDirectory: { path: out.path } },
                    },
                  },
                },
              },
            ],
          },
        ],
      },
    ],
  });
});

test("files with secrets are for their owner only, wherever the secret stands", async () => {
  using out = temporaryDirectory();
  for (const symlinks of [false, true]) {
    const directory = join(out.path, `${symlinks}`);
    const { writing } = await startExport({ directory, symlinks });
    const tls = {
      name: "tls",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        common_tls_context: {
          tls_certificates: [{ certificate_chain: { inline_string: "c" }, private_key: { inline_string: "k" } }],
        },
      },
    };
    writing.commit(put(secret("s", "key"), cluster("c", { transport_socket: tls }), endpoints("c", 1)));
    await writing.whenInSync();
    const modes = ["sds/s", "cds", "eds/c"].map((path) => statSync(join(directory, `${path}.yaml`)).mode & 0o077);
    expect(modes).toEqual([0, 0, 0o044]);
    await writing.close();
  }
});

test("generations behind a link: each swap is whole, and old ones go", async () => {
  using out = temporaryDirectory();
  const { writing, changes } = await startExport({ directory: out.path, symlinks: true, rewriteSources: true });
  writing.commit(put(cluster("x"), endpoints("x", 1), routes("r", "x"), listener("l", "r")));
  await writing.whenInSync();
  const before = statSync(join(out.path, "lds.yaml")).ino;
  writing.commit(both(put(cluster("y"), endpoints("y", 2), routes("r", "y")), gone(cluster("x"), endpoints("x", 1))));
  await writing.whenInSync();
  expect(changes.slice(1)).toEqual(["+cds.yaml +eds/y.yaml", "+rds/r.yaml", "+cds.yaml", "-eds/x.yaml"]);
  expect(statSync(join(out.path, "lds.yaml")).ino).toBe(before);
  expect(filesBelow(out.path)).toEqual(["cds.yaml", "eds/y.yaml", "lds.yaml", "rds/r.yaml", "srds.yaml"]);
  await writing.close();
  expect(readdirSync(out.path).filter((name) => /^\.\.\d/.test(name))).toHaveLength(1);
});

test("a directory that was written without links is not turned into one with links", async () => {
  using out = temporaryDirectory();
  const first = await startExport({ directory: out.path });
  first.writing.commit(put(cluster("x"), endpoints("x", 1)));
  await first.writing.whenInSync();
  await first.writing.close();
  const before = readdirSync(out.path);
  const { writing } = await startExport({ directory: out.path, symlinks: true });
  await using _ = writing;
  const told = new Promise<string>((resolve) => {
    writing.on("files-problem", ({ message }) => resolve(message));
  });
  writing.commit(put(cluster("x"), endpoints("x", 1)));
  const where = join(out.path, "eds");
  expect(await told).toBe(`expected a link at ${where}, got a folder: empty the directory, or write to another one`);
  expect(readdirSync(out.path)).toEqual(before);
});

test("a failure is told, changes nothing, and is tried again", async () => {
  using out = temporaryDirectory();
  const { writing, problems } = await startExport({ directory: out.path, rewriteSources: true });
  await using _ = writing;
  writing.commit(put(cluster("x"), endpoints("x", 1), routes("r", "x"), listener("l", "r")));
  await writing.whenInSync();
  const before = readFileSync(join(out.path, "cds.yaml"), "utf8");
  // A file where a folder has to be: nobody can write below it, whoever he is.
  rmSync(join(out.path, "eds"), { recursive: true });
  writeFileSync(join(out.path, "eds"), "in the way");
  writing.commit(put(cluster("y"), endpoints("y", 2), routes("r", "y")));
  await new Promise<void>((resolve) => {
    writing.on("files-problem", () => resolve());
  });
  expect(readFileSync(join(out.path, "cds.yaml"), "utf8")).toBe(before);
  expect(problems.length).toBeGreaterThan(0);
  rmSync(join(out.path, "eds"));
  await writing.whenInSync();
  expect(filesBelow(out.path)).toEqual(["cds.yaml", "eds/x.yaml", "eds/y.yaml", "lds.yaml", "rds/r.yaml", "srds.yaml"]);
});

test.each([false, true])(
  "a directory that is taken away is written anew with the next change (links: %s)",
  async (symlinks) => {
    using out = temporaryDirectory();
    const directory = join(out.path, "deep", "out");
    const { writing } = await startExport({ directory, symlinks });
    await using _ = writing;
    writing.commit(put(cluster("x"), endpoints("x", 1), cluster("y"), endpoints("y", 1)));
    await writing.whenInSync();
    const before = filesBelow(directory);
    expect(before).toEqual(expect.arrayContaining(["cds.yaml", "eds/x.yaml", "eds/y.yaml"]));
    for (const [round, removed] of [directory, join(directory, "eds")].entries()) {
      rmSync(removed, { recursive: true });
      writing.commit(put(endpoints("x", 2 + round)));
      await writing.whenInSync();
      expect(filesBelow(directory)).toEqual(before);
    }
  },
);

test("a second writer is refused while the first one lives", async () => {
  using out = temporaryDirectory();
  const { writing } = await startExport({ directory: out.path });
  const failure = await startExport({ directory: out.path }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(XdsError);
  expect(failure).toMatchObject({ code: "FILES_FAILED" });
  await writing.close();
  const next = await startExport({ directory: out.path });
  await next.writing.close();
});

test("names lead nowhere, collide nowhere and are never too long", async () => {
  using out = temporaryDirectory();
  const names = [
    "a",
    "A",
    "../../a",
    "..",
    ".",
    "a/b",
    "a\\b",
    "a\u0000b",
    "x".repeat(500),
    "é",
    "con:",
    "a~b",
    "-",
    "%41",
    "a b",
  ];
  const { writing } = await startExport({ directory: join(out.path, "out") });
  await using _ = writing;
  writing.commit(put(...names.map((name) => routes(name, "c"))));
  await writing.whenInSync();
  const files = readdirSync(join(out.path, "out", "rds"));
  expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length);
  for (const file of files) expect(file).toMatch(/^[\w~-][\w.~-]{0,119}$/);
  expect(readdirSync(out.path)).toEqual(["out"]);
});

test("a server writes files beside its port, from the same order", async () => {
  using out = temporaryDirectory();
  const server = createServer({
    api: testApi(),
    files: [
      { directory: join(out.path, "one"), node: { id: "n1" } },
      { directory: join(out.path, "two"), format: "pb" },
    ],
    nodeMapping: ({ id }) => (id === "n1" ? ["node/n1", "base"] : ["base"]),
    requireNode: false,
  });
  await using _ = server;
  await server.listen();
  const written = new Set<string>();
  const done = new Promise<void>((resolve) => {
    server.on("files-written", ({ directory }) => {
      written.add(directory);
      if (existsSync(join(out.path, "one", "lds.yaml")) && existsSync(join(out.path, "two", "lds.pb"))) resolve();
    });
  });
  server.commit({
    changes: [
      { layer: "base", puts: [cluster("a"), endpoints("a", 1)] },
      { layer: "node/n1", puts: [cluster("own"), endpoints("own", 1)] },
    ],
  });
  await done;
  const names = (file: string, format: ResponseFormat): readonly string[] =>
    readResponse(join(out.path, file), format).resources.map(({ name }) => name);
  expect(names("one/cds.yaml", "yaml")).toEqual(["a", "own"]);
  expect(names("two/cds.pb", "pb")).toEqual(["a"]);
});

test("what the form cannot hold is told, and pb holds it", async () => {
  using out = temporaryDirectory();
  const unknown = cluster("c", {
    metadata: { typed_filter_metadata: { x: { "@type": "type.googleapis.com/of.nobody.Here", value: "AQID" } } },
  });
  for (const [format, expected] of [
    ["json", 1],
    ["pb", 0],
    ["pb_text", 0],
  ] as const) {
    const { writing } = await startExport({ directory: join(out.path, format), format });
    const told: string[] = [];
    writing.on("files-unfaithful", ({ message }) => told.push(message));
    writing.commit(put(unknown, endpoints("c", 1)));
    await writing.whenInSync();
    await writing.close();
    expect(told).toHaveLength(expected);
  }
});

test("options that are no good are told all at once", () => {
  const files = [{ directory: "" }, { directory: "a", settleMs: -1 }, { directory: "./a" }];
  expect(() => createServer({ api: testApi(), files })).toThrow(/files\[0\].*files\[1\].*files\[2\]/);
});

test("a directory that cannot be made keeps a server from starting", async () => {
  using out = temporaryDirectory();
  writeFileSync(join(out.path, "file"), "");
  const server = createServer({ api: testApi(), files: [{ directory: join(out.path, "file", "out") }] });
  await using _ = server;
  await expect(server.listen()).rejects.toMatchObject({ code: "FILES_FAILED" });
});
