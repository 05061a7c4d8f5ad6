// Loads the built package where there is nothing but the language, as in a browser or an edge worker, and plays a conversation
// between its server's half and its client's half. Run with --experimental-vm-modules; prints what the client was told.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createContext, SourceTextModule } from "node:vm";

const built = process.argv[2];
const said = [];
const context = createContext({ tell: (line) => said.push(line) }, { codeGeneration: { strings: false } });
const modules = new Map();

function load(path) {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const module = new SourceTextModule(readFileSync(path, "utf8"), { context, identifier: path });
  modules.set(path, module);
  return module;
}

const story = new SourceTextModule(
  `
  import { anonymousNode, createResource } from "protocol/index.js";
  import { ClientMachine, ServerMachine, clientDialect, opaqueTraits } from "protocol/internal.js";
  const type = "type.googleapis.com/example.Thing";
  const digest = (parts) => BigInt(parts.join("/").length);
  const server = new ServerMachine({ digest, traits: () => undefined, nodeMapping: () => ["base"] });
  const client = new ClientMachine({ traits: opaqueTraits, node: { ...anonymousNode, id: "browser" } });
  const bytes = Uint8Array.of(1, 2, 3);
  const puts = [createResource({ type, name: "a", bytes }, digest)];
  server.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts }] } });
  let nowMs = 0;
  function hear(event) {
    for (const effect of client.on(event, { nowMs: ++nowMs, chance: 0.5 })) perform(effect);
  }
  function perform(effect) {
    if (effect.kind === "open-stream") {
      const { stream } = effect;
      const peer = { address: "" };
      server.on({ kind: "stream-opened", stream, variant: "delta", onlyType: undefined, apiVersion: "v3", peer, connection: 1 });
      hear({ kind: "stream-opened", stream });
    } else if (effect.kind === "send-request") {
      server.on({ kind: "request-received", stream: effect.stream, request: effect.request });
      for (const { kind, stream, body, nonce } of server.next(10)) if (kind === "send") answer(stream, body, nonce);
    } else if (effect.kind === "notify") tell(effect.news.kind + " " + effect.news.name);
  }
  function answer(stream, body, nonce) {
    const resources = body.segments.flatMap(({ puts }) => puts);
    const removed = body.segments.flatMap((segment) => segment.removed);
    const response = { kind: "delta", type, nonce, resources, removed, errors: [], problems: [], systemVersion: "" };
    hear({ kind: "response-received", stream, response });
  }
  const source = {
    id: "s", access: "stream", variant: "delta", isAggregated: true, servers: 1, failover: "cycle", nodeIn: "first-request",
    absenceMs: 15000, backOff: { baseMs: 1, maxMs: 1 }, rateLimit: undefined, dialect: clientDialect(),
  };
  hear({ kind: "source-added", source });
  hear({ kind: "watch-started", watch: 1, source: "s", type, term: "a" });
  hear({ kind: "watch-started", watch: 2, source: "s", type, term: "b" });
  `,
  { context, identifier: "story" },
);
await story.link((specifier, { identifier }) =>
  load(
    specifier.startsWith("protocol/")
      ? resolve(built, specifier.slice("protocol/".length))
      : resolve(dirname(identifier), specifier),
  ),
);
await story.evaluate();
console.log(JSON.stringify(said));
