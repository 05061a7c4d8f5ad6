import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import type { Variant } from "@xdskit/protocol";
import type { WatchEvent } from "@xdskit/protocol/internal";
import { cluster, endpoints, listener, routes } from "../support/resource.ts";
import { Conversation } from "./conversation.ts";
import { PollingClient } from "./polls.ts";

/** As much of a browser as is used here. */
declare const navigator: { readonly userAgent: string };

/** What happens in the page, one after the other, each under its name; a string that is handed to `tell` is told at once. */
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

/** The conformance kit is a script of its own: it is no part of what is published. */
async function plays(): Promise<unknown> {
  const script = "/plays.js";
  const { playAll } = (await import(script)) as typeof import("./plays.ts");
  return playAll();
}

/** The descriptors are a file of the package; the browser unpacks it, because it is served with `content-encoding: br`. */
async function browserApi(): Promise<EnvoyApi> {
  const answer = await fetch("/descriptors.binpb");
  return createEnvoyApi({ descriptors: [new Uint8Array(await answer.arrayBuffer())] });
}

/** A Listener with all that it leads to comes, changes, is refused and goes. */
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

/** A resource is read, validated, printed, and looked through for what it needs. */
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
