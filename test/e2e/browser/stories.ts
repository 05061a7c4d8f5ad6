import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import type { Variant } from "@xdskit/protocol";
import type { WatchEvent } from "@xdskit/protocol/internal";
import { cluster, endpoints, listener, routes } from "../support/resource.ts";
import { Conversation } from "./conversation.ts";
import { PollingClient } from "./polls.ts";

/** The part of a browser's navigator that is used here. */
declare const navigator: { readonly userAgent: string };

/** The stories of the page by name, run in order; `tell` reports a line at once. */
export const stories: Readonly<Record<string, (tell: (line: string) => void) => unknown>> = {
  surroundings: () => ({
    browser: /Chrome/.test(navigator.userAgent),
    ofNode: ["Buffer", "process", "require", "global", "setImmediate"].filter((name) => name in globalThis),
  }),
  "state of the world": async () => converse(await browserApi(), "sotw"),
  delta: async () => converse(await browserApi(), "delta"),
  decoding: async () => decode(await browserApi()),
  plays,
  polls: async (tell) => poll(await browserApi(), tell),
};

/** The conformance kit is a separate script, because it is not published. */
async function plays(): Promise<unknown> {
  const script = "/plays.js";
  const { playAll } = (await import(script)) as typeof import("./plays.ts");
  return playAll();
}

/** Loads the descriptors; the browser decompresses them because of `content-encoding: br`. */
async function browserApi(): Promise<EnvoyApi> {
  const answer = await fetch("/descriptors.binpb");
  return createEnvoyApi({ descriptors: [new Uint8Array(await answer.arrayBuffer())] });
}

/** A Listener and everything that it refers to is added, changed, NACKed and removed. */
export function converse(api: EnvoyApi, variant: Variant): readonly string[] {
  const conversation = new Conversation(api, variant);
  const mesh = [
    listener({ name: "in", port: 8080, routes: "table" }),
    routes("table", [{ cluster: "web" }]),
    cluster({ name: "web" }),
    endpoints("web", [8081]),
  ];
  conversation.publish(mesh);
  conversation.follow("lds", "in");
  conversation.publish([routes("table", [{ cluster: "shop" }]), cluster({ name: "shop" }), endpoints("shop", [8082])]);
  conversation.publish([cluster({ name: "shop", more: { connect_timeout: "0s" } })]);
  conversation.publish([cluster({ name: "shop", connectTimeoutMs: 2000 })]);
  conversation.publish([], [{ type: "lds", name: "in" }]);
  return conversation.said;
}

/** Reads, validates and prints a resource, and finds its references. */
export function decode(api: EnvoyApi): unknown {
  const value = {
    ...endpoints("web", [8081]),
    endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: "::1", port_value: 1 } } } }] }],
  };
  const { input, problems } = api.readResource(value);
  if (input === undefined) return problems;
  const { type, name, bytes } = input;
  const secret = api.readResource({
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
    name: "key",
    generic_secret: { secret: { inline_bytes: "c2VjcmV0" } },
  }).input;
  const named = api.readResource(cluster({ name: "web", more: { connect_timeout: "0s" } })).input;
  return {
    name,
    problems,
    json: api.toJson(type, bytes),
    text: api.toText(type, bytes),
    secret: secret && [
      api.holdsSecret(secret.type, secret.bytes),
      api.toJson(secret.type, secret.bytes),
      api.toJson(secret.type, secret.bytes, { redact: true }),
    ],
    rules: named && api.validate(named.type, named.bytes),
    needs: named && api.dependencies(named.type, named.bytes),
  };
}

async function poll(api: EnvoyApi, tell: (line: string) => void): Promise<readonly string[]> {
  const told: string[] = [];
  const client = new PollingClient(api, "cds", "page", (news) => {
    told.push(wordsOf(news));
    tell(wordsOf(news));
    if (news.kind === "absent") client.stop();
  });
  await client.watch("*");
  return told;
}

function wordsOf(news: WatchEvent): string {
  switch (news.kind) {
    case "recovered":
    case "synced":
      return news.kind;
    case "failed":
      return `${news.name} ${news.why}: ${news.error.message}`;
    case "absent":
      return `${news.name} ${news.why}`;
    default:
      return `${news.name} ${news.kind}`;
  }
}
