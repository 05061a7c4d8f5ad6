import { extname } from "node:path";
import { decodeSotwResponse, type EnvoyApi } from "@xdskit/envoy-api";
import type { FileFormat } from "../../config/client-config.ts";
import {
  decodeUtf8,
  type ReadResponse,
  readJsonResponse,
  readResponseValue,
  readTextResponse,
} from "../json-response.ts";
import { readYaml } from "./yaml-text.ts";

/** By the end of its name, whatever its case; what is not known is JSON (C-FS-04). */
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
 * Reads the content of a file as a `DiscoveryResponse` (C-FS-03). Never throws. A file without content is none in any format:
 * it is one that is just being written, and would delete everything.
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
    // Whatever is wrong with bytes that are not for people: there is nothing to say but that.
    return { problem: "expected an encoded DiscoveryResponse, got other bytes or a part of it" };
  }
}
