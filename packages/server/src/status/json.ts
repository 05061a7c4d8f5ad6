import { setImmediate as turn } from "node:timers/promises";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { type ApiVersion, formatTypeUrl, type Peer, type Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { ClientStatus } from "./client-status.ts";

// The v2 messages are a subset of the v3 ones, with the same names.
const REQUEST = "envoy.service.status.v3.ClientStatusRequest";
const RESPONSE = formatTypeUrl("envoy.service.status.v3.ClientStatusResponse");

/** Resources converted to JSON at a time; then other work runs. */
const RESOURCES_IN_TURN = 50;

/**
 * Client status over REST (`POST /v3/discovery:client_status`): takes the parsed JSON body, with either spelling of
 * names, and returns canonical JSON text or the status that rejects it.
 */
export async function answerClientStatusJson(
  status: ClientStatus,
  api: Pick<EnvoyApi, "readMessage" | "toJson">,
  version: ApiVersion,
  body: unknown,
  peer: Peer,
): Promise<{ readonly text: string } | Status> {
  const { bytes, problems } = api.readMessage(REQUEST, body);
  if (bytes === undefined) {
    const message = problems.map(({ path, message: says }) => `${path.join(".")}: ${says}`).join("; ");
    return { code: statusCode.INVALID_ARGUMENT, message: `the request is malformed: ${message}` };
  }
  const clients = await status.answerInParts(version, bytes, peer, RESOURCES_IN_TURN);
  if ("code" in clients) return clients;
  const configs: string[] = [];
  for (const parts of clients) {
    const config = new ConfigText();
    for (const part of parts) {
      config.add((Object(api.toJson(RESPONSE, Buffer.concat(part))) as StatusAnswer).config?.[0] ?? {});
      await turn();
    }
    configs.push(config.finish());
  }
  return { text: configs.length === 0 ? "{}\n" : `{"config":[${configs.join(",")}]}\n` };
}

/** `ClientStatusResponse` as JSON, with the fields that are merged from parts. */
interface StatusAnswer {
  readonly config?: readonly ClientConfig[];
}

interface ClientConfig {
  readonly node?: unknown;
  readonly xdsConfig?: readonly (Readonly<Record<string, unknown>> & { readonly status?: string })[];
  readonly genericXdsConfigs?: readonly unknown[];
  readonly clientScope?: string;
}

/** Statuses of a type in v2, worst first: a type has the worst status of its resources. */
const WORST_FIRST = ["ERROR", "STALE", "NOT_SENT", "SYNCED", "UNKNOWN"];

/** Builds the JSON text of one client's configuration from consecutive parts. */
class ConfigText {
  #head: ClientConfig | undefined;
  readonly #generic: string[] = [];
  /** Status and list entries by field of the type, such as `clusterConfig`. */
  readonly #types = new Map<string, { status: string; readonly lists: Map<string, string[]> }>();

  add(part: ClientConfig): void {
    this.#head ??= { ...part, xdsConfig: [], genericXdsConfigs: [] };
    for (const entry of part.genericXdsConfigs ?? []) this.#generic.push(JSON.stringify(entry));
    for (const { status = "UNKNOWN", ...ofType } of part.xdsConfig ?? []) {
      for (const [field, dump] of Object.entries(ofType)) this.#addType(field, status, Object(dump) as object);
    }
  }

  finish(): string {
    const { node, clientScope } = this.#head ?? {};
    const types = [...this.#types].sort(([one], [other]) => placeOf(one) - placeOf(other));
    const fields = [
      ["node", node === undefined ? undefined : JSON.stringify(node)],
      ["xdsConfig", types.length === 0 ? undefined : `[${types.map(formatType).join(",")}]`],
      ["genericXdsConfigs", this.#generic.length === 0 ? undefined : `[${this.#generic.join(",")}]`],
      ["clientScope", clientScope === undefined ? undefined : JSON.stringify(clientScope)],
    ];
    return `{${fields.flatMap(([name, text]) => (text === undefined ? [] : [`"${name}":${text}`])).join(",")}}`;
  }

  #addType(field: string, status: string, dump: object): void {
    const type = this.#types.get(field) ?? { status, lists: new Map<string, string[]>() };
    this.#types.set(field, type);
    if (WORST_FIRST.indexOf(status) < WORST_FIRST.indexOf(type.status)) type.status = status;
    for (const [name, entries] of Object.entries(dump)) {
      const list = type.lists.get(name) ?? [];
      type.lists.set(name, list);
      if (Array.isArray(entries)) for (const entry of entries) list.push(JSON.stringify(entry));
    }
  }
}

/** Position among the fields of `PerXdsConfig`. */
function placeOf(field: string): number {
  return ["listenerConfig", "clusterConfig", "routeConfig", "scopedRouteConfig"].indexOf(field);
}

function formatType([field, { status, lists }]: readonly [
  string,
  { readonly status: string; readonly lists: ReadonlyMap<string, readonly string[]> },
]): string {
  const texts = [...lists].map(([name, entries]) => `"${name}":[${entries.join(",")}]`);
  const word = status === "UNKNOWN" ? "" : `"status":"${status}",`;
  return `{${word}"${field}":{${texts.join(",")}}}`;
}
