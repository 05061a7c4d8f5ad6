import type { EnvoyApi } from "@xdskit/envoy-api";
import { describeProblems } from "./problem-text.ts";

const DISCOVERY_RESPONSE = "envoy.service.discovery.v3.DiscoveryResponse";

/** An encoded `DiscoveryResponse`, or why there is none. */
export type ReadResponse = { readonly bytes: Uint8Array } | { readonly problem: string };

/**
 * Reads a `DiscoveryResponse` that is written as JSON, with the names of JSON or of the proto file, and `null` for what is not
 * there (B-RST-02). Takes that of v2 as well, whose fields are the same. Never throws; what is told holds nothing of the text.
 */
export function readJsonResponse(bytes: Uint8Array, api: EnvoyApi): ReadResponse {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { problem: "expected UTF-8, got other bytes" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: jsonProblem(error, text) };
  }
  return readResponseValue(value, api);
}

/**
 * The same for a value that was read from some text. Fields that are not known are passed over, as those of an encoded message
 * are (B-MSC-09), but not if nothing else is there: that is another message, and not one that deletes everything. Changes the value.
 */
export function readResponseValue(value: unknown, api: EnvoyApi): ReadResponse {
  const first = api.readMessage(DISCOVERY_RESPONSE, value);
  const unknown = first.problems.filter(({ code }) => code === "FIELD_UNKNOWN");
  for (const { path } of unknown) removeAt(value, path);
  const hasMore = unknown.length > 0 && Object.keys(value ?? {}).length > 0;
  const { bytes, problems } = hasMore ? api.readMessage(DISCOVERY_RESPONSE, value) : first;
  return bytes === undefined
    ? { problem: describeProblems(problems) ?? "expected a DiscoveryResponse, got something else" }
    : { bytes };
}

function removeAt(value: unknown, path: readonly (string | number)[]): void {
  const parent = path.slice(0, -1).reduce(childOf, value);
  const key = path.at(-1);
  if (typeof parent === "object" && parent !== null && key !== undefined) Reflect.deleteProperty(parent, key);
}

function childOf(value: unknown, key: string | number): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** The same for the text format. */
export function readTextResponse(text: string, api: EnvoyApi): ReadResponse {
  const { value, problems } = api.readText(DISCOVERY_RESPONSE, text);
  const problem = describeProblems(problems);
  return problem === undefined ? readResponseValue(value, api) : { problem };
}

/** Without a byte order mark; undefined for bytes that are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // It has nothing to say but that.
    return undefined;
  }
}

/** In our words, because those of the parser quote the text, which may be a secret. */
function jsonProblem(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : "";
  if (text.trim() === "") return "expected JSON, got nothing";
  if (message.includes("end of JSON input") || message.includes("Unterminated")) {
    return "expected JSON, got a part of it: the end is missing";
  }
  const position = / at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return "expected JSON, got something else";
  const before = text.slice(0, Number(position));
  const line = before.split("\n").length;
  return `line ${line}, column ${before.length - before.lastIndexOf("\n")}: expected JSON, got something else`;
}
