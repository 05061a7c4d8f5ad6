import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { type EnvoyApi, MalformedMessageError } from "@xdskit/envoy-api";
import { formatTypeUrl } from "@xdskit/protocol";
import { isObject } from "../argument.ts";
import type { ConfigProblem } from "../error.ts";
import {
  type BootstrapDocument,
  documentOf,
  failed,
  messageOf,
  parseBootstrap,
  textProblem,
} from "./bootstrap-document.ts";
import { versionOfBootstrap } from "./bootstrap-version.ts";
import type { ClientConfig } from "./client-config.ts";
import type { ConfigOptions } from "./config-defaults.ts";
import { readEnvoyBootstrap } from "./envoy-bootstrap.ts";
import { readGrpcBootstrap } from "./grpc-bootstrap.ts";
import type { Place } from "./place.ts";
import { Problems } from "./problems.ts";

/** A bootstrap: its file, its text, or what it says. */
export type BootstrapInput =
  /** `.pb` is binary, `.pb_text` the text format, everything else YAML or JSON. */
  | { readonly path: string; readonly form?: BootstrapForm }
  /** YAML or JSON; `file` is how it is called in problems. */
  | { readonly text: string; readonly file?: string; readonly form?: BootstrapForm }
  /** A JSON value. */
  | { readonly value: unknown; readonly form?: BootstrapForm };

/** Whose bootstrap it is. Unless set, one with `xds_servers` is gRPC's. */
export type BootstrapForm = "envoy" | "grpc";

/** What became of a bootstrap. */
export interface LoadedBootstrap {
  /** Undefined after an error. */
  readonly config?: ClientConfig;
  /** All mistakes, in the order in which they stand. */
  readonly problems: readonly ConfigProblem[];
}

/**
 * Reads an Envoy bootstrap (v3 or v2, in any of Envoy's formats) or one of gRPC (C-CFG-01 to C-CFG-09). Does not throw: whatever is
 * wrong is told, with its place.
 */
export function loadBootstrap(input: BootstrapInput, options: ConfigOptions): LoadedBootstrap {
  const document = documentFrom(input, options.api);
  if (document.problems.length > 0) return { problems: document.problems };
  const problems = new Problems();
  const config = readBootstrap({ value: document.value, path: [] }, input.form, options, problems);
  const located = problems.all.map((problem) => document.locate(problem));
  // Equal lines keep their order.
  located.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  return { problems: located, ...(config !== undefined && !problems.hasErrors && { config }) };
}

function readBootstrap(
  bootstrap: Place,
  form: BootstrapForm | undefined,
  options: ConfigOptions,
  problems: Problems,
): ClientConfig | undefined {
  if (!isObject(bootstrap.value)) {
    problems.error([], "expected an object: the bootstrap of an Envoy, or of a gRPC client");
    return undefined;
  }
  const isOfGrpc = form === undefined ? Object.hasOwn(bootstrap.value, "xds_servers") : form === "grpc";
  return isOfGrpc ? readGrpcBootstrap(bootstrap, options, problems) : readEnvoyBootstrap(bootstrap, options, problems);
}

function documentFrom(input: BootstrapInput, api: EnvoyApi): BootstrapDocument {
  if ("value" in input) return documentOf(input.value, undefined);
  if ("text" in input) return parseBootstrap(input.text, input.file);
  try {
    switch (extname(input.path).toLowerCase()) {
      case ".pb":
        return readBinary(new Uint8Array(readFileSync(input.path)), input.path, api);
      case ".pb_text":
        return readTextFormat(readFileSync(input.path, "utf8"), input.path, api);
      default:
        return parseBootstrap(readFileSync(input.path, "utf8"), input.path);
    }
  } catch (error) {
    return failed(textProblem(whyUnreadable(error), input.path));
  }
}

/** In our words where they are shorter than those of the system, which repeat the path. */
function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "expected a file, got a directory";
  return `expected a file that can be read: ${messageOf(error)}`;
}

const names = { v3: "envoy.config.bootstrap.v3.Bootstrap", v2: "envoy.config.bootstrap.v2.Bootstrap" } as const;

/** Both versions have the same numbers, so what is of v2 shows only once it was read as that. */
function readBinary(bytes: Uint8Array, path: string, api: EnvoyApi): BootstrapDocument {
  const readAs = (message: string): unknown => plain(api.toJson(formatTypeUrl(message), bytes, { names: "proto" }));
  try {
    const old = readAs(names.v2);
    return documentOf(versionOfBootstrap(old) === "v2" ? old : readAs(names.v3), path);
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    return failed(textProblem(error.message, path));
  }
}

/** What v3 has no more it passes over in silence, so here too v2 is tried first. */
function readTextFormat(text: string, path: string, api: EnvoyApi): BootstrapDocument {
  const old = plain(api.readText(names.v2, text).value);
  if (versionOfBootstrap(old) === "v2") return documentOf(old, path);
  const { value, problems } = api.readText(names.v3, text);
  if (value !== undefined) return documentOf(plain(value), path);
  const [problem] = problems;
  const { line, column, message = "expected a bootstrap in the text format", hint } = problem ?? {};
  const position = { ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
  return failed(textProblem(message, path, position, hint));
}

function plain(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => key !== "@type")) : value;
}
