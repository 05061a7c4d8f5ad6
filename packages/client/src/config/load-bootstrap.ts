import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { type EnvoyApi, MalformedMessageError } from "@xdskit/envoy-api";
import { formatTypeUrl } from "@xdskit/protocol";
import { isObject } from "@xdskit/protocol/internal";
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

/** A bootstrap: its file, its text, or its value. */
export type BootstrapInput =
  /** `.pb` is binary, `.pb_text` the text format, any other extension YAML or JSON. */
  | { readonly path: string; readonly form?: BootstrapForm }
  /** YAML or JSON; `file` is its name in problems. */
  | { readonly text: string; readonly file?: string; readonly form?: BootstrapForm }
  /** A JSON value. */
  | { readonly value: unknown; readonly form?: BootstrapForm };

/**
 * The kind of bootstrap.
 * @default "grpc" with `xds_servers`, otherwise "envoy"
 */
export type BootstrapForm = "envoy" | "grpc";

/** The result of loading a bootstrap. */
export interface LoadedBootstrap {
  /** Undefined after an error. */
  readonly config?: ClientConfig;
  /** All problems, in the order of the text. */
  readonly problems: readonly ConfigProblem[];
}

/**
 * Loads an Envoy bootstrap (v3 or v2, in any of Envoy's formats) or a gRPC bootstrap (C-CFG-01 to C-CFG-09). Does not
 * throw: every problem is returned, with its position.
 */
export function loadBootstrap(input: BootstrapInput, options: ConfigOptions): LoadedBootstrap {
  const document = documentFrom(input, options.api);
  if (document.problems.length > 0) return { problems: document.problems };
  const problems = new Problems();
  const config = readBootstrap({ value: document.value, path: [] }, input.form, options, problems);
  const located = problems.all.map((problem) => document.locate(problem));
  // A stable sort: equal positions keep their order.
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

/** Own text, shorter than the system's, which repeats the path. */
function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "expected a file, got a directory";
  return `expected a file that can be read: ${messageOf(error)}`;
}

const names = { v3: "envoy.config.bootstrap.v3.Bootstrap", v2: "envoy.config.bootstrap.v2.Bootstrap" } as const;

/** Both versions share field numbers, so only decoding as v2 shows v2 fields. */
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

/** Parsing as v3 ignores fields that v3 removed, so v2 is tried first here too. */
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
