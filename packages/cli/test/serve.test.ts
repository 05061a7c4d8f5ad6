import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function site(files: Readonly<Record<string, string>>): Promise<Site> {
  const made = await Site.make(files);
  cleanups.push(() => made.remove());
  return made;
}

async function serve(
  where: Site,
  flags: readonly string[] = [],
  options: { readonly isTerminal?: boolean } = {},
): Promise<Serving> {
  const serving = await Serving.start(where, flags, options);
  cleanups.push(() => serving.stop());
  return serving;
}

describe("xds serve", () => {
  test("serves a directory and every change of it, and stops when told to", async () => {
    const where = await site({ "clusters.yaml": clusters("one", "two") });
    const serving = await serve(where);
    await until("it is ready", () => serving.isReady());
    const { code, stdout } = await serving.xds("get", "cds");
    expect(code).toBe(0);
    expect(parseAllDocuments(stdout).map((document) => document.toJS().name)).toEqual(["one", "two"]);

    await where.write("clusters.yaml", clusters("one", "three"));
    await until("the change is in force", () => serving.logged("loaded").length === 2);
    expect((await serving.xds("get", "cds", "-o", "table", "--sotw")).stdout).toMatch(/^NAME .*\none .*\nthree .*\n$/);
    expect(await serving.stop()).toBe(0);
    expect(serving.logged("stopping")).toMatchObject([{ signal: "SIGTERM" }]);
    expect(serving.logged("stopped")).toHaveLength(1);
  });

  test("files that lose and get back resources are named with both numbers", async () => {
    const where = await site({ "a.yaml": clusters("zero"), "b.yaml": clusters("one", "two", "three") });
    const serving = await serve(where);
    await until("it is ready", () => serving.isReady());
    const loads = (): readonly unknown[] =>
      serving.logged("loaded").map(({ resources, recounted }) => ({ resources, recounted }));
    await where.write("b.yaml", clusters("one"));
    await until("the first part is in force", () => loads().length === 2);
    await where.write("b.yaml", clusters("one", "two", "three"));
    await until("the rest is in force", () => loads().length === 3);
    await rm(join(where.directory, "a.yaml"));
    await until("a file is gone", () => loads().length === 4);
    expect(loads()).toEqual([
      { resources: 4, recounted: undefined },
      { resources: 2, recounted: ["b.yaml: 3 to 1"] },
      { resources: 4, recounted: ["b.yaml: 1 to 3"] },
      { resources: 3, recounted: ["a.yaml: 1 to 0"] },
    ]);
  });

  test("a directory of more than 128 KiB is read by a thread, which ends with the server", async () => {
    const names = Array.from({ length: 2000 }, (_, index) => `cluster-${index}`);
    const where = await site({ "clusters.yaml": clusters(...names) });
    const threads: Worker[] = [];
    const note = (thread: Worker): void => {
      threads.push(thread);
    };
    process.on("worker", note);
    const serving = await serve(where);
    await until("it is ready", () => serving.isReady());
    process.off("worker", note);
    expect(threads).toHaveLength(1);
    const exits = Promise.all(threads.map((thread) => once(thread, "exit")));
    const { stdout } = await serving.xds("get", "cds");
    expect(parseAllDocuments(stdout).map((document) => document.toJS().name)).toEqual(names.sort());
    await where.write("more.yaml", clusters("one"));
    await until("the change is in force", () => serving.logged("loaded").length === 2);
    expect(serving.logged("loaded")).toMatchObject([
      { resources: 2000 },
      { resources: 2001, recounted: ["more.yaml: 0 to 1"] },
    ]);
    expect(await serving.stop()).toBe(0);
    await exits;
  });

  test("a start with problems serves no client until they are fixed", async () => {
    const where = await site({ "good.yaml": clusters("one"), "bad.yaml": '"@type": nothing\n' });
    const serving = await serve(where);
    await until("the load has failed", () => serving.logged("load-failed").length === 1);
    expect(serving.logged("load-failed")).toMatchObject([
      { level: "error", errors: 1, in_force: "nothing: no client is served until the errors are fixed" },
    ]);
    expect(serving.logged("problem")).toMatchObject([{ file: "bad.yaml", line: 1, level: "error" }]);
    expect(await serving.isReady()).toBe(false);
    const { state, problems } = (await serving.ask("/api/v1/source")) as {
      state: string;
      problems: { file: string }[];
    };
    expect([state, problems[0]?.file]).toEqual(["failed", "bad.yaml"]);
    const refused = await serving.xds("get", "cds");
    expect([refused.code, refused.stdout]).toEqual([69, ""]);
    expect(refused.stderr).toMatch(/^xds: 127\.0\.0\.1:\d+: not ready: no c/);

    await where.write("bad.yaml", clusters("two"));
    await until("it is mended", () => serving.isReady());
    expect((await serving.xds("get", "cds", "two")).code).toBe(0);
  });

  test("one bad file later: the last valid configuration stays in force, and is reported to", async () => {
    const where = await site({ "clusters.yaml": clusters("one"), "more.yaml": clusters("two") });
    const serving = await serve(where);
    await until("it is ready", () => serving.isReady());
    await where.write("more.yaml", `${clusters("two")}  nmae: x\n`);
    await where.write("clusters.yaml", clusters("one", "three"));
    await until("the load has failed", () => serving.logged("load-failed").length > 0);
    expect(serving.logged("load-failed").at(-1)).toMatchObject({
      in_force: "the last published configuration, revision 1",
    });
    expect(await serving.isReady()).toBe(true);
    expect((await serving.xds("get", "cds", "-o", "table")).stdout).not.toContain("three");
    expect((await serving.xds("validate", where.directory)).code).toBe(1);
    expect(serving.logged("corrected")).toEqual([]);
    await where.write("more.yaml", clusters("two"));
    await until("it is corrected", () => serving.logged("corrected").length === 1);
  });

  test("a directory without resources is served only if allowed", async () => {
    const where = await site({});
    const strict = await serve(where);
    await until("the load has failed", () => strict.logged("load-failed").length === 1);
    expect(await strict.isReady()).toBe(false);
    const lenient = await serve(where, ["--allow-empty"]);
    await until("it is ready", () => lenient.isReady());
  });

  test("in a terminal, problems are shown with their line and the next commands are suggested", async () => {
    const where = await site({ "clusters.yaml": clusters("one") });
    const serving = await serve(where, ["--no-color"], { isTerminal: true });
    await until("commands are suggested", () => serving.io.stdout.text.includes("Try"));
    const suggested = [...serving.io.stdout.text.matchAll(/^ {2}xds (.*?) +#/gm)].map(([, line]) => line ?? "");
    const commands = ["get", "watch", "status", "wait", "nodes", "deliveries", "bootstrap"];
    expect(suggested.map((line) => line.split(" ")[0])).toEqual(commands);
    // They work as they are printed.
    const results = await Promise.all(
      suggested
        .filter((line) => !line.startsWith("watch"))
        .map((line) => serving.xds(...line.replace(/ > .*/, "").split(" "))),
    );
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
    await where.write("clusters.yaml", `${clusters("one")}  nmae: x\n`);
    await until("the problem is shown", () => serving.io.stderr.text.includes("load"));
    await until("the problem is shown", () => serving.io.stderr.text.includes("clusters.yaml:3:3: error:"));
    expect(serving.io.stderr.text).toContain("     3 |   nmae: x");
  });

  test("the start says who may have what, and what insecure opens", async () => {
    const where = await site({ "clusters.yaml": clusters("one") });
    const open = ["--listen", "0.0.0.0:0", "--insecure", "--admin", "0.0.0.0:0"];
    const text = await serve(where, ["--no-color", ...open], { isTerminal: true });
    await until("the table is shown", () => text.io.stdout.text.includes("admin API"));
    expect(text.io.stdout.text.split("\n").slice(0, 5)).toEqual([
      "Access in force:",
      "  clients on loopback   everything",
      "  clients elsewhere     everything, Secrets and the layers of single nodes too: insecure is set",
      "  client status         loopback",
      "  admin API             everybody reads: insecure is set",
    ]);
    for (const code of ["SECRETS_EXPOSED", "ADMIN_EXPOSED"]) expect(text.io.stderr.text).toContain(`[${code}]`);

    const piped = await serve(where, open);
    expect(piped.logged("access")).toMatchObject([
      {
        loopback: "everything",
        elsewhere: "everything, Secrets and the layers of single nodes too: insecure is set",
        client_status: "loopback",
        admin: "everybody reads: insecure is set",
      },
    ]);
    const exposed = piped.logged("warning").filter(({ code }) => String(code).endsWith("_EXPOSED"));
    expect(exposed.map(({ code }) => code)).toEqual(["SECRETS_EXPOSED", "ADMIN_EXPOSED"]);
    expect(piped.io.stdout.text).toBe("");
  });

  test("the start counts rules, and warns of nothing that is closed", async () => {
    const rules = '[{ identities: ["spiffe://prod/*"] }]';
    const where = await site({ "clusters.yaml": clusters("one"), "xdskit.yaml": `access: { rules: ${rules} }\n` });
    const serving = await serve(where, ["--listen", "0.0.0.0:0"]);
    expect(serving.logged("access")).toMatchObject([
      {
        loopback: "everything",
        elsewhere: "by 1 rule of access",
        client_status: "loopback, others by the rules",
        admin: "loopback",
      },
    ]);
    // The directory may have been loaded by now, and has a warning of its own.
    expect(serving.logged("warning").filter(({ code }) => String(code).endsWith("_EXPOSED"))).toEqual([]);
  });

  test("settings come from flags, variables and the file; the file's changes wait for a restart", async () => {
    const where = await site({ "clusters.yaml": clusters("one"), "xdskit.yaml": "limits: { max-streams: 7 }\n" });
    const serving = await serve(where, ["--max-connections", "9"]);
    await until("it is ready", () => serving.isReady());
    const { limits } = (await serving.ask("/api/v1/server")) as { limits: { name: string; value: number }[] };
    expect(limits).toContainEqual({ name: "maxStreams", value: 7, used: 0, hits: 0 });
    expect(limits.find(({ name }) => name === "maxConnections")).toMatchObject({ value: 9 });
    await where.write("xdskit.yaml", "limits: { max-streams: 8 }\n");
    await until("it is said", () => serving.logged("settings-changed").length === 1);
    expect(serving.logged("settings-changed")).toMatchObject([
      { settings: "limits.max-streams", apply_with: "restart" },
    ]);
  });

  test("an emptied settings file leaves the access rules in force, and the log says when they end", async () => {
    const rules = "access: { loopback: rules, rules: [{ name: all, identities: [loopback] }] }\n";
    const where = await site({ "clusters.yaml": clusters("one"), "xdskit.yaml": rules });
    const serving = await serve(where);
    await until("it is ready", () => serving.isReady());
    await where.write("xdskit.yaml", "");
    await until("it is refused", () => serving.logged("load-failed").length === 1);
    expect(serving.logged("problem")).toMatchObject([{ code: "FILE_EMPTY", file: "xdskit.yaml" }]);
    expect(serving.logged("access-rules-removed")).toEqual([]);
    await where.write("xdskit.yaml", "{}\n");
    await until("it is said", () => serving.logged("access-rules-removed").length === 1);
  });

  test("listeners and clients have editions and switches; rules for clients need no restart, listeners do", async () => {
    const rule = (edition: string): string => `clients:\n  - { match: { id: "edge-*" }, edition: ${edition} }\n`;
    const listeners = 'listeners:\n  - { address: "127.0.0.1:0", edition: 2018, switches: { orderLimit: 5s } }\n';
    const settings = `switches: { staleNonce: honour-names }\n${listeners}`;
    const where = await site({ "clusters.yaml": clusters("one"), "xdskit.yaml": settings + rule("2020") });
    const serving = await serve(where, ["--switch", "deltaMissing.rds=none"]);
    await until("it is ready", () => serving.isReady());
    const [{ more_addresses: other }] = serving.logged("serving") as [{ more_addresses: string }];
    const editionOf = async (node: string, server: string): Promise<string> => {
      const io = new CapturedIo({ env: { XDS_SERVER: server } });
      const watching = run(["watch", "cds", "--node", node], io);
      await until("the watch has its answer", () => io.stdout.text.includes("name: one"));
      const { stdout } = await serving.xds("nodes", node);
      io.interrupt("SIGINT");
      await watching;
      return /^edition +(.*)$/m.exec(stdout)?.[1] ?? stdout;
    };
    const global = "staleNonce=honour-names (server), deltaMissing.rds=none (server)";
    expect(await editionOf("n", serving.address)).toBe(`current (the default), ${global}`);
    expect(await editionOf("o", other)).toBe(`2018 (listener ${other}), orderLimit=5s (listener ${other}), ${global}`);
    expect(await editionOf("edge-1", serving.address)).toBe(`2020 (clients[0]), ${global}`);
    await where.write("xdskit.yaml", settings + rule("2021"));
    await until("it is read", () => serving.logged("loaded").length === 2);
    expect(await editionOf("edge-2", serving.address)).toBe(`2021 (clients[0]), ${global}`);
    expect(serving.logged("settings-changed")).toEqual([]);
    await where.write("xdskit.yaml", `switches: { staleNonce: honour-names }\n${rule("2021")}`);
    await until("it is said", () => serving.logged("settings-changed").length === 1);
    expect(serving.logged("settings-changed")).toMatchObject([{ settings: "listeners" }]);
    await where.write("xdskit.yaml", rule("1999"));
    await until("it is refused", () => serving.logged("load-failed").length === 1);
    expect(await editionOf("edge-3", serving.address)).toBe(`2021 (clients[0]), ${global}`);
  });

  test("a mistake in the settings keeps it from starting: the defaults are not what was asked for", async () => {
    const text = "tls: { cert: a.crt, key: a.key }\nlimits: { max-streams: many }\n";
    const where = await site({ "clusters.yaml": clusters("one"), "xdskit.yaml": text });
    const io = new CapturedIo();
    const code = await run(["serve", where.directory, "--listen", "127.0.0.1:0", "--admin", "off"], io);
    expect(code).toBe(1);
    expect(io.stderr.text).toContain("xdskit.yaml:2:24: error: expected a whole number");
    expect(io.stderr.text).not.toContain("listening");
  });

  test("a settings file that cannot be read keeps it from starting, too", async () => {
    const text = "tls: { cert: a.crt, key: a.key }\nlisten: [\n";
    const where = await site({ "clusters.yaml": clusters("one"), "xdskit.yaml": text });
    const io = new CapturedIo();
    const code = await run(["serve", where.directory, "--listen", "127.0.0.1:0", "--admin", "off"], io);
    expect(code).toBe(1);
    expect(io.stderr.text).toMatch(/xdskit\.yaml:\d+:\d+: error: /);
    expect(io.stderr.text).not.toContain("listening");
  });

  test("a mistake in the groups says nothing about listening: no client is served until it is fixed", async () => {
    const text = "groups: [{ name: edge, mach: {} }]\nlimits: { max-streams: 7 }\n";
    const where = await site({ "clusters.yaml": clusters("one"), "xdskit.yaml": text });
    const serving = await serve(where);
    await until("the load has failed", () => serving.logged("load-failed").length === 1);
    expect(await serving.isReady()).toBe(false);
    const { limits } = (await serving.ask("/api/v1/server")) as { limits: unknown };
    expect(limits).toContainEqual({ name: "maxStreams", value: 7, used: 0, hits: 0 });
  });

  test("an address that is taken is an operator's mistake", async () => {
    const where = await site({ "clusters.yaml": clusters("one") });
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => new Promise((resolve) => taken.close(resolve)));
    const bound = taken.address();
    const port = typeof bound === "object" ? bound?.port : undefined;
    const io = new CapturedIo();
    const code = await run(["serve", where.directory, "--listen", `127.0.0.1:${port}`, "--admin", "off"], io);
    expect([code, io.stderr.text.includes("EADDRINUSE")]).toEqual([1, true]);
    // The thread that reads meanwhile must not keep the process running.
    await where.write("clusters.yaml", clusters(...Array.from({ length: 2_000 }, (_, index) => `cluster-${index}`)));
    const started = once(process, "worker") as Promise<[Worker]>;
    const again = run(["serve", where.directory, "--listen", `127.0.0.1:${port}`, "--admin", "off"], io);
    const [thread] = await started;
    const exit = once(thread, "exit");
    expect(await again).toBe(1);
    await exit;
  });

  test("nodes and deliveries tell who refused what", async () => {
    const where = await site({ "clusters.yaml": clusters("one") });
    const serving = await serve(where);
    await until("it is ready", () => serving.isReady());
    const node = await serving.connect("edge-1");
    await until("it is acked", async () => (await serving.xds("wait", "--timeout", "0s")).code === 0);
    expect((await serving.xds("nodes")).stdout).toMatch(/\nedge-1 .* base +cds:acked\n/);
    expect((await serving.xds("nodes", "nobody")).code).toBe(1);
    expect(JSON.parse((await serving.xds("deliveries", "-o", "json", "--node", "edge-1")).stdout)).toMatchObject({
      total: 1,
      items: [{ node: "edge-1", shortName: "cds", state: "acked" }],
    });
    await node.close();
  });
});

test("an interruption ends what only reads at once", async () => {
  const where = await site({ "clusters.yaml": clusters("one") });
  const io = new CapturedIo();
  const validating = run(["validate", where.directory], io);
  io.interrupt();
  expect([await validating, io.stdout.text]).toEqual([130, ""]);
});

describe("xds get and xds watch", () => {
  test("a name that is not there is told, in both variants and on a stream of its own", async () => {
    const serving = await serve(await site({ "clusters.yaml": clusters("one") }));
    await until("it is ready", () => serving.isReady());
    for (const flags of [[], ["--sotw"], ["--per-type"], ["--per-type", "--sotw"]]) {
      const { code, stdout, stderr } = await serving.xds("get", "cds", "one", "none", "--timeout", "2s", ...flags);
      expect([flags, code, stderr]).toEqual([flags, 1, 'xds: there is no resource "none" of type cds\n']);
      expect(parse(stdout)).toMatchObject({ name: "one" });
    }
    const nothing = await serving.xds("get", "rds", "--timeout", "300ms");
    expect([nothing.code, nothing.stdout]).toEqual([1, ""]);
  });

  test("secrets are not shown unless asked for", async () => {
    const secret = [
      '"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
      "name: key",
      "tls_certificate: { private_key: { inline_string: hunter2 } }",
      "",
    ].join("\n");
    const serving = await serve(await site({ "secret.yaml": secret }));
    await until("it is ready", () => serving.isReady());
    expect((await serving.xds("get", "sds")).stdout).not.toContain("hunter2");
    expect((await serving.xds("get", "sds", "--show-secrets")).stdout).toContain("hunter2");
    expect(await serving.ask("/api/v1/resources?body=true")).toMatchObject({ total: 1 });
    expect(JSON.stringify(await serving.ask("/api/v1/resources?body=true"))).not.toContain("hunter2");
    expect(serving.io.stderr.text).not.toContain("hunter2");
  });

  test.each([["--delta"], ["--sotw"]])("watch %s tells every change, and comes back after a break", async (variant) => {
    const where = await site({ "clusters.yaml": clusters("one", "two") });
    const serving = await serve(where);
    await until("it is ready", () => serving.isReady());
    const io = new CapturedIo();
    const watching = run(["watch", "cds", "-o", "json", variant, "--server", serving.address], io);
    const events = (): string[] =>
      io.stdout.text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
        .map(({ event, name }) => `${event} ${name}`);
    await until("it has both", () => events().length === 2);
    await where.write("clusters.yaml", clusters("two"));
    await until("the removal is told", () => events().includes("removed one"));

    await serving.stop();
    const again = await serve(where, ["--listen", serving.address]);
    await until("it is ready", () => again.isReady());
    await where.write("clusters.yaml", clusters("two", "three"));
    await until("the addition is told", () => events().includes("put three"));
    expect(io.stderr.text).toMatch(
      /^xds: 127\.0\.0\.1:\d+: this server is .*, trying again\n(.*, trying again\n)*xds: 127\.0\.0\.1:\d+ answers again\n$/,
    );
    io.interrupt();
    expect(await watching).toBe(130);
  });
});

describe("xds get --v2", () => {
  test("asks by the methods of v2, on each kind of stream", async () => {
    const cluster = "type.googleapis.com/envoy.api.v2.Cluster";
    const where = await site({ "old.yaml": `"@type": ${cluster}\nname: old\n` });
    const serving = await serve(where);
    await until("it is ready", () => serving.isReady());
    const stdout = `---\n"@type": ${cluster}\nname: old\n`;
    for (const flags of [[], ["--sotw"], ["--per-type"], ["--sotw", "--per-type"]]) {
      expect(await serving.xds("get", "cds", "--v2", ...flags)).toEqual({ code: 0, stdout, stderr: "" });
    }
    const url = await serving.xds("get", cluster, "--v2", "--per-type");
    expect([url.code, url.stdout]).toEqual([0, stdout]);
  });

  test("does not ask for what v2 never had", async () => {
    const io = new CapturedIo();
    expect([await run(["get", "ecds", "--v2"], io), io.stderr.text]).toEqual([
      2,
      "xds: there is no ecds in v2\nhint: leave --v2 off\n",
    ]);
  });
});
