import type { EnvoyApi, FieldProblem, TextProblem } from "@xdskit/envoy-api";

const DISCOVERY_RESPONSE = "envoy.service.discovery.v3.DiscoveryResponse";

/** An encoded `DiscoveryResponse`, or why there is none. */
export type ReadResponse = { readonly bytes: Uint8Array } | { readonly problem: string };

/**
 * Reads a JSON `DiscoveryResponse`, with JSON or proto field names, and `null` for missing values (B-RST-02). Accepts
 * v2, which has the same fields. Never throws; problems do not quote the text.
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
 * Reads an already parsed value in the same way. Unknown fields are ignored, as in encoded messages (B-MSC-09), unless
 * there are no others: that is another message, not a response that removes everything. Changes the value.
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

/** Reads the text format in the same way. */
export function readTextResponse(text: string, api: EnvoyApi): ReadResponse {
  const { value, problems } = api.readText(DISCOVERY_RESPONSE, text);
  const problem = describeProblems(problems);
  return problem === undefined ? readResponseValue(value, api) : { problem };
}

/** Decodes UTF-8 without the byte order mark; undefined for invalid bytes. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // The error has no further details.
    return undefined;
  }
}

/** Own error text, because the parser's quotes the text, which may be a secret. */
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

/** The most mistakes to list; more are usually echoes of the first. */
const MAX_TOLD = 10;

/** The problems of a response in one line, each with its place; undefined if there are only warnings. */
function describeProblems(problems: readonly (FieldProblem | TextProblem)[]): string | undefined {
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return undefined;
  const told = errors.slice(0, MAX_TOLD).map((problem) => `${placeOf(problem)}${problem.message}`);
  const more = errors.length > MAX_TOLD ? `; and ${errors.length - MAX_TOLD} more` : "";
  return `${told.join("; ")}${more}`;
}

function placeOf(problem: FieldProblem | TextProblem): string {
  if ("path" in problem) {
    const path = problem.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
    return path === "" ? "" : `${path.replace(/^\./, "")}: `;
  }
  return problem.line === undefined ? "" : `line ${problem.line}, column ${problem.column ?? 1}: `;
}
