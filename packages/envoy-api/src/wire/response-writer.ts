/**
 * Writes `DiscoveryResponse`s to files, in each format that Envoy reads (S-FS-15). Each resource is formatted once, and
 * not again when another one in the file changes.
 */
import { create, type DescMessage } from "@bufbuild/protobuf";
import type { TypeUrl } from "@xdskit/protocol";
import type { Schema } from "../descriptor/schema.ts";
import type { Content } from "../format/content.ts";
import { formatText } from "../format/text-format.ts";
import { formatYamlItem } from "../format/yaml-writer.ts";
import { encodeSotwResponse } from "./response.ts";

/** The format of a file, named like its extension, by which Envoy recognises it. */
export type ResponseFormat = "yaml" | "json" | "pb" | "pb_text";

/** Creates file contents in one format. */
export interface ResponseWriter {
  /**
   * Formats one resource for a file.
   *
   * @throws {MalformedMessageError} if the bytes are not such a message
   */
  resource(type: TypeUrl, bytes: Uint8Array): Uint8Array;
  /** Returns the parts of a whole file, to be written one after another. */
  response(
    head: { readonly versionInfo: string; readonly typeUrl: TypeUrl },
    resources: readonly Uint8Array[],
  ): readonly Uint8Array[];
}

type JsonPrinter = (type: TypeUrl, bytes: Uint8Array) => unknown;

/** Creates a writer; `printJson` prints a resource with `@type`. */
export function createResponseWriter(format: ResponseFormat, schema: Schema, printJson: JsonPrinter): ResponseWriter {
  switch (format) {
    case "pb":
      return binaryWriter;
    case "pb_text":
      return textWriter(schema);
    case "json":
      return jsonWriter(printJson);
    case "yaml":
      return yamlWriter(printJson);
  }
}

const encoder = new TextEncoder();

const binaryWriter: ResponseWriter = {
  resource: (typeUrl, value) => encodeSotwResponse({ resources: [{ typeUrl, value }] }),
  response: (head, resources) => [encodeSotwResponse(head), ...resources],
};

function jsonWriter(printJson: JsonPrinter): ResponseWriter {
  return {
    resource: (type, bytes) => encoder.encode(JSON.stringify(printJson(type, bytes), undefined, 2)),
    response: ({ versionInfo, typeUrl }, resources) => {
      const head = `"versionInfo": ${JSON.stringify(versionInfo)},\n"typeUrl": ${JSON.stringify(typeUrl)},`;
      const parts: Uint8Array[] = [encoder.encode(`{\n${head}\n"resources": [`)];
      for (const resource of resources) parts.push(encoder.encode(parts.length === 1 ? "\n" : ",\n"), resource);
      return [...parts, encoder.encode("\n]\n}\n")];
    },
  };
}

function yamlWriter(printJson: JsonPrinter): ResponseWriter {
  return {
    resource: (type, bytes) => encoder.encode(formatYamlItem(printJson(type, bytes) as never, 0)),
    response: ({ versionInfo, typeUrl }, resources) => {
      const head = `versionInfo: ${JSON.stringify(versionInfo)}\ntypeUrl: ${JSON.stringify(typeUrl)}\n`;
      return [encoder.encode(`${head}resources:${resources.length === 0 ? " []" : ""}\n`), ...resources];
    },
  };
}

function textWriter(schema: Schema): ResponseWriter {
  const any = requireAny(schema);
  return {
    resource: (typeUrl, value) => {
      const content = create(any) as Content;
      content["typeUrl"] = typeUrl;
      content["value"] = value;
      const lines = formatText(any, content, schema).trimEnd().split("\n");
      return encoder.encode(`resources {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`);
    },
    response: ({ versionInfo, typeUrl }, resources) => {
      const head = `version_info: ${JSON.stringify(versionInfo)}\ntype_url: ${JSON.stringify(typeUrl)}\n`;
      return [encoder.encode(head), ...resources];
    },
  };
}

function requireAny(schema: Schema): DescMessage {
  const any = schema.message("google.protobuf.Any");
  if (any === undefined) throw new Error("the descriptors lack google.protobuf.Any");
  return any;
}
