import { extname } from "node:path";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import type { FileFormat } from "../../config/client-config.ts";
import {
  decodeUtf8,
  type ReadResponse,
  readJsonResponse,
  readResponseValue,
  readTextResponse,
} from "../json-response.ts";
import { readYaml } from "./yaml-text.ts";

/** The format by the file's extension, ignoring case; an unknown one means JSON (C-FS-04). */
export function formatOf(path: string): FileFormat {
  switch (extname(path).toLowerCase()) {
    case ".pb":
      return "binary";
    case ".pb_text":
    case ".txtpb":
      return "text";
    case ".yaml":
    case ".yml":
      return "yaml";
    default:
      return "json";
  }
}

/**
 * Reads the content of a file as a `DiscoveryResponse` (C-FS-03). Never throws. An empty file is invalid in every
 * format: it is probably being written, and would remove all resources.
 */
export function readResponse(bytes: Uint8Array, format: FileFormat, api: EnvoyApi): ReadResponse {
  if (bytes.length === 0) return { problem: "expected a DiscoveryResponse, got an empty file" };
  if (format === "binary") return readBinary(bytes);
  if (format === "json") return readJsonResponse(bytes, api);
  const text = decodeUtf8(bytes);
  if (text === undefined) return { problem: "expected UTF-8, got other bytes" };
  if (format === "text") return readTextResponse(text, api);
  const yaml = readYaml(text);
  return "problem" in yaml ? yaml : readResponseValue(yaml.value, api);
}

function readBinary(bytes: Uint8Array): ReadResponse {
  try {
    decodeSotwResponse(bytes);
    return { bytes };
  } catch {
    // Binary data gives no useful error text.
    return { problem: "expected an encoded DiscoveryResponse, got other bytes or a part of it" };
  }
}
