import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";
import { Command } from "commander";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RawPeer } from "../../server/test/support/raw-peer.ts";
import { commands } from "../src/command-line/commands.ts";
import type { Output } from "../src/io.ts";
import { type Colors, chooseColors } from "../src/output/color.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { until } from "./serving.ts";

// Secrets that nobody may ever see are planted wherever configuration, clients and mistakes may hold one. Then everything
// that a server says or writes is searched for them.

const command = fileURLToPath(new URL("../bin/xds.js", import.meta.url));
const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const PATIENCE_MS = 240_000;
const type = (name: string): string => `type.googleapis.com/${name}`;
const SECRET = "envoy.extensions.transport_sockets.tls.v3.Secret";
const TLS = "envoy.extensions.transport_sockets.tls.v3";

/** Every planted secret, by what must not be found of it. */
const canaries = new Map<string, string>();

/** A private key in PEM. A line from its middle is searched for, which survives any quoting. */
function key(where: string): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const line = pem.split("\n")[2];
  if (line === undefined) throw new Error("a key has more lines");
  canaries.set(line, `the key of ${where}`);
  return pem;
}

function word(where: string): string {
  const text = `canary-${where.replaceAll(" ", "-")}-0f7c`;
  canaries.set(text, where);
  return text;
}

let directory: string;
let temporary: string;
let state: string;
beforeEach(() => {
  [directory, temporary, state] = ["site", "tmp", "state"].map((name) =>
    mkdtempSync(join(tmpdir(), `xds-canary-${name}-`)),
  ) as [string, string, string];
});
const started: ChildProcess[] = [];
const peers: RawPeer[] = [];
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close();
  for (const child of started.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  for (const one of [directory, temporary, state]) rmSync(one, { recursive: true, force: true });
});

interface Ran {
  readonly child: ChildProcess;
  readonly output: () => string;
}

function xds(...argv: readonly string[]): Ran {
  const env = { ...process.env, TMPDIR: temporary, XDG_STATE_HOME: temporary, NO_COLOR: "1" };
  const child = spawn(process.execPath, [command, ...argv], { env, cwd: temporary });
  started.push(child);
  let text = "";
  for (const output of [child.stdout, child.stderr])
    output.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
  return { child, output: () => text };
}

/** Everything that another command writes; of one that runs until it is interrupted, what it writes at first. */
async function said(...argv: readonly string[]): Promise<string> {
  const io = new CapturedIo({ cwd: temporary, env: { NO_COLOR: "1" } });
  const ended = run(argv, io);
  if (argv[0] === "watch") {
    await until("xds watch prints", () => io.stdout.text !== "");
    io.interrupt();
  }
  return `${await ended}\n${io.stdout.text}${io.stderr.text}`;
}

/** What is run of each command, in every format in which it prints resources; nothing of those that print none. */
function linesOf(address: string, admin: string): Readonly<Record<string, readonly (readonly string[])[]>> {
  const at = ["--server", address];
  const formats = ["json", "yaml"];
  return {
    get: [
      ...["lds", "cds", "rds", "sds"].flatMap((kind) => formats.map((format) => ["get", kind, ...at, "-o", format])),
      ["get", "sds", "tls", "by-path", "generic", "tickets", ...at],
      ["get", "lds", "--node", "edge-1", "--admin", admin],
    ],
    watch: formats.map((format) => ["watch", "sds", ...at, "-o", format]),
    dump: [
      ["dump", ...at, "-o", "-"],
      ["dump", ...at, "-o", join(temporary, "out", "dump")],
    ],
    history: [["history", "--admin", admin, "-o", "json"]],
    show: ["1", "2", "1..2", "head"].map((which) => ["show", which, "--admin", admin]),
    diff: [
      ["diff", `http://${admin}`, directory],
      ["diff", `http://${admin}`, "node:edge-1", "--admin", admin, "-o", "json"],
    ],
    plan: [
      ["plan", directory, "--admin", admin, "--fields"],
      ["plan", directory, "--admin", admin, "-o", "json"],
    ],
    status: [
      ["status", "--admin", admin],
      ["status", "--admin", admin, "-o", "json"],
    ],
    nodes: [
      ["nodes", "--admin", admin],
      ["nodes", "--admin", admin, "-o", "json"],
    ],
    deliveries: [
      ["deliveries", "--admin", admin],
      ["deliveries", "--admin", admin, "-o", "json"],
    ],
    loads: [["loads", "--admin", admin]],
    top: [["top", "--admin", admin]],
    validate: [
      ["validate", directory],
      ["validate", directory, "-o", "json"],
    ],
    publish: [["publish", directory, "--store", `file:${join(temporary, "store")}`]],
    // Its log is searched.
    serve: [],
    // Its files are for an Envoy, which needs the secrets.
    export: [],
    // Its files are those of the ledger, which is searched.
    store: [],
    ...{ check: [], wait: [], approve: [], reject: [], rollback: [], access: [], bootstrap: [], completion: [] },
  };
}

test("every command is searched for planted secrets, or prints no resources", () => {
  const program = new Command();
  const perform = (): Promise<void> => Promise.resolve();
  const colorsOf = (output: Output): Colors => chooseColors(output, {}, "never");
  for (const add of commands)
    add(program, { io: new CapturedIo(), colorsOf, perform, performUntilInterrupted: perform });
  const names = program.commands.map((command) => command.name());
  expect(Object.keys(linesOf("", "")).sort()).toEqual(names.sort());
});

function write(name: string, content: object | string): void {
  writeFileSync(join(directory, name), typeof content === "string" ? content : JSON.stringify(content));
}

const socketWith = (context: string, common: object): object => ({
  name: "envoy.transport_sockets.tls",
  typed_config: { "@type": type(`${TLS}.${context}`), common_tls_context: common },
});
const certificateWith = (pem: string): object => ({
  certificate_chain: { inline_string: "not looked at" },
  private_key: { inline_string: pem },
});
const metadataWith = (secret: string): object => ({
  filter_metadata: { a: { password: secret, nested: [{ api_key: secret }] } },
});

function writeSite(round: string): void {
  write("by-path.pem", key(`a file that a Secret names, ${round}`));
  write("secrets.json", [
    {
      ...{ "@type": type(SECRET), name: "tls" },
      tls_certificate: {
        ...certificateWith(key(`a Secret, ${round}`)),
        password: { inline_string: word(`passphrase ${round}`) },
      },
    },
    { "@type": type(SECRET), name: "by-path", generic_secret: { secret: { filename: "by-path.pem" } } },
    { "@type": type(SECRET), name: "generic", generic_secret: { secret: { inline_string: word(`generic ${round}`) } } },
    {
      ...{ "@type": type(SECRET), name: "tickets" },
      session_ticket_keys: {
        keys: [{ inline_bytes: Buffer.from(word(`ticket ${round}`).padEnd(80, ".")).toString("base64") }],
      },
    },
  ]);
  const configured = {
    "@type": type("xds.type.v3.TypedStruct"),
    type_url: type("example.Unknown"),
    value: { client_secret: word(`client_secret ${round}`), deep: [{ password: word(`struct password ${round}`) }] },
  };
  const manager = {
    "@type": type("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
    stat_prefix: "a",
    rds: { route_config_name: "routes", config_source: { ads: {}, resource_api_version: "V3" } },
    http_filters: [
      { name: "own", typed_config: configured },
      { name: "router", typed_config: { "@type": type("envoy.extensions.filters.http.router.v3.Router") } },
    ],
  };
  write("listeners.json", [
    {
      ...{ "@type": type("envoy.config.listener.v3.Listener"), name: "inline" },
      address: { socket_address: { address: "127.0.0.1", port_value: 10_000 } },
      metadata: metadataWith(word(`listener metadata ${round}`)),
      filter_chains: [
        {
          filters: [{ name: "hcm", typed_config: manager }],
          transport_socket: socketWith("DownstreamTlsContext", {
            tls_certificates: [certificateWith(key(`a Listener, ${round}`))],
          }),
        },
      ],
    },
  ]);
  write("clusters.json", [
    {
      ...{ "@type": type("envoy.config.cluster.v3.Cluster"), name: "upstream", connect_timeout: "1s" },
      metadata: metadataWith(word(`cluster metadata ${round}`)),
      transport_socket: socketWith("UpstreamTlsContext", {
        tls_certificates: [certificateWith(key(`a Cluster, ${round}`))],
      }),
    },
  ]);
  const route = { match: { prefix: "/" }, route: { cluster: "upstream" } };
  const authorization = { header: { key: "authorization", value: `Bearer ${word(`header ${round}`)}` } };
  write("routes.json", [
    {
      ...{ "@type": type("envoy.config.route.v3.RouteConfiguration"), name: "routes" },
      request_headers_to_add: [authorization],
      virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }],
    },
  ]);
}

/** Subscribes to everything as a client whose own words hold secrets, too, and NACKs with one. Returns what it was sent. */
async function subscribe(address: string): Promise<string> {
  const [host = "", port = ""] = address.split(":");
  const peer = await RawPeer.connect({ host, port: Number(port) });
  peers.push(peer);
  const call = peer.open(ADS);
  const node = { ...anonymousNode, id: "edge-1", metadata: { password: word("node metadata") } };
  const wanted = {
    "envoy.config.cluster.v3.Cluster": [],
    "envoy.config.listener.v3.Listener": [],
    "envoy.config.route.v3.RouteConfiguration": ["routes"],
    [SECRET]: ["tls", "by-path", "generic", "tickets"],
  };
  let received = "";
  for (const [name, resourceNames] of Object.entries(wanted)) {
    call.send(encodeSotwRequest({ node, typeUrl: formatTypeUrl(name), resourceNames }));
    const bytes = Buffer.from(await call.next(30_000));
    received += bytes.toString("latin1");
    const nonce = /\d+$/.exec(bytes.toString("latin1"))?.[0] ?? "";
    const isRefused = name === "envoy.config.listener.v3.Listener";
    const errorDetail = { code: 3, message: `bad certificate: ${key("a NACK")}` };
    call.send(
      encodeSotwRequest({
        ...{
          node,
          typeUrl: formatTypeUrl(name),
          resourceNames,
          responseNonce: nonce,
          versionInfo: isRefused ? "" : "1",
        },
        ...(isRefused && { errorDetail }),
      }),
    );
  }
  return received;
}

/** The texts in which a canary may hide: as it is, and in base64 at each of its three alignments. */
function disguises(canary: string): readonly string[] {
  const encoded = [0, 1, 2].map((shift) => {
    const text = Buffer.from("\0".repeat(shift) + canary)
      .toString("base64")
      .replace(/=+$/, "");
    // The first and the last group of four depend on what is beside it.
    return text.slice(4, -4);
  });
  return [canary, ...encoded, ...encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** What is found of the planted secrets, each with where it was planted. */
function foundIn(text: string): readonly string[] {
  return [...canaries].flatMap(([canary, where]) =>
    disguises(canary).some((one) => text.includes(one)) ? [where] : [],
  );
}

/** The content of a file, unpacked too if it is packed. */
function readings(bytes: Buffer): string {
  const unpacked = [gunzipSync, inflateSync, inflateRawSync].map((unpack) => {
    try {
      return unpack(bytes).toString("latin1");
    } catch {
      return "";
    }
  });
  return [bytes.toString("latin1"), ...unpacked].join("\n");
}

function filesBelow(root: string): readonly string[] {
  const entries = readdirSync(root, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

/** Every answer of every route that reads, with each of its options. */
async function askEverything(admin: string): Promise<ReadonlyMap<string, string>> {
  const fill: Readonly<Record<string, readonly string[]>> = {
    ...{
      number: ["1", "2", "head"],
      revision: ["1", "2"],
      from: ["0"],
      to: ["2"],
      node: ["edge-1"],
      at: ["2"],
      body: ["true"],
    },
    ...{ type: ["lds", "sds", "cds", "rds"], name: ["inline", "tls", "upstream", "routes"], fields: ["true"] },
  };
  const { paths } = (await (await fetch(`http://${admin}/api/v1/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
  };
  const answers = new Map<string, string>();
  const ask = async (target: string): Promise<void> => {
    const abort = AbortSignal.timeout(target.startsWith("/api/v1/events") ? 2_000 : 30_000);
    const response = await fetch(`http://${admin}${target}`, { signal: abort });
    let text = `${response.status}\n`;
    try {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString("latin1");
    } catch {
      // A feed never ends.
    }
    answers.set(target, text);
  };
  for (const [path, { get }] of Object.entries(paths)) {
    if (get === undefined) continue;
    const targets = path.includes("{number}")
      ? (fill["number"] ?? []).map((number) => path.replace("{number}", number))
      : [path.replace("{revision}", "2")];
    const known = (get.parameters ?? []).filter((one) => one.in === "query" && fill[one.name] !== undefined);
    for (const target of targets) {
      await ask(target);
      for (const each of [0, 1, 2, 3]) {
        const query = known.map(({ name }) => `${name}=${fill[name]?.[each] ?? fill[name]?.[0] ?? ""}`);
        if (query.length > 0) await ask(`${target}?${query.join("&")}`);
      }
      const all = known.filter(({ name }) => name !== "type" && name !== "name" && name !== "node");
      await ask(`${target}?${all.map(({ name }) => `${name}=${fill[name]?.[0] ?? ""}`).join("&")}`);
    }
  }
  return answers;
}

test("no planted secret is in anything that a server says or writes", { timeout: PATIENCE_MS }, async () => {
  mkdirSync(join(temporary, "out"));
  writeSite("first");
  const flags = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--state-dir", state, "--log-level", "debug"];
  const serving = xds("serve", directory, ...flags, "--log-format", "json");
  const log = serving.output;
  const addresses = /"address":"(127[\d.:]+)".*?"admin":"(127[\d.:]+)"/;
  await until("it is ready", () => addresses.test(log()) && log().includes('"event":"ready"'));
  const [, address = "", admin = ""] = addresses.exec(log()) ?? [];

  // It does serve them: a search that finds nothing means something only then.
  const sent = await subscribe(address);
  expect(foundIn(sent).length, "secrets that a client is sent").toBeGreaterThanOrEqual(10);

  writeSite("second");
  const commits = (): number => log().split('"event":"committed"').length - 1;
  await until("the edit is in force", () => commits() >= 2);
  // Mistakes beside secrets: of syntax, of form, and a key where no key belongs.
  const broken = key("a file with a mistake");
  write(
    "broken.yaml",
    `- "@type": ${type(SECRET)}\n  name: b\n  generic_secret: { secret: { inline_string: ${JSON.stringify(broken)} }\n  : :\n`,
  );
  await until("it is told", () => log().includes("broken.yaml"));
  write("broken.yaml", [
    {
      "@type": type(SECRET),
      name: "b",
      tls_certificate: { private_key: { inline_string: [key("a list")] } },
    },
    { "@type": type(SECRET), name: key("a name"), generic_secret: { secret: { filename: key("a path") } } },
  ]);
  const loads = (): number => log().split('"event":"load-').length - 1;
  await until("these are told", () => loads() >= 1 && /broken\.yaml.*inline_string/.test(log()));

  const outputs = new Map(await askEverything(admin));
  expect([...outputs.values()].filter((text) => text.startsWith("200")).length).toBeGreaterThan(40);
  const csds = await fetch(`http://${address}/v3/discovery:client_status`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body: "{}" },
  });
  outputs.set("client status", await csds.text());
  expect(outputs.get("client status")).toContain("edge-1");
  for (const lines of Object.values(linesOf(address, admin)))
    for (const argv of lines) outputs.set(`xds ${argv.join(" ")}`, await said(...argv));
  serving.child.kill("SIGTERM");
  await once(serving.child, "close");
  outputs.set("the log", log());
  for (const root of [state, temporary])
    for (const file of filesBelow(root)) outputs.set(file, readings(readFileSync(file)));
  expect(filesBelow(state).length, "files of the state directory").toBeGreaterThan(1);

  const leaks = [...outputs]
    .map(([where, text]) => [where, foundIn(text)] as const)
    .filter(([, found]) => found.length > 0);
  expect(leaks).toEqual([]);
});
