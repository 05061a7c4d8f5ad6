import { decodeDeltaResponse, decodeSotwResponse, encodeDeltaRequest, encodeDeltaResponse, encodeSotwRequest, encodeSotwResponse } from "@xdskit/envoy-api/internal";
import { describe, expect, test } from "vitest";
import { encodeWithProtobufEs } from "../../support/discovery-protos.ts";
import { deltaRequestCases, sotwRequestCases } from "./request-cases.ts";
import { deltaResponseCases, sotwResponseCases } from "./response-cases.ts";

const bare = (lines: readonly string[]): string => lines.join("").replaceAll(" ", "");
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytesOf = (lines: readonly string[]): Uint8Array => Buffer.from(bare(lines), "hex");
const packageName = "envoy.service.discovery.v3";

describe("a DiscoveryRequest with", () => {
  for (const { says, message, json, hex } of sotwRequestCases) {
    test(says, () => {
      expect({
        ours: hexOf(encodeSotwRequest(message)),
        theirs: hexOf(encodeWithProtobufEs(`${packageName}.DiscoveryRequest`, json)),
      }).toEqual({ ours: bare(hex), theirs: bare(hex) });
    });
  }
});

describe("a DeltaDiscoveryRequest with", () => {
  for (const { says, message, json, hex } of deltaRequestCases) {
    test(says, () => {
      expect({
        ours: hexOf(encodeDeltaRequest(message)),
        theirs: hexOf(encodeWithProtobufEs(`${packageName}.DeltaDiscoveryRequest`, json)),
      }).toEqual({ ours: bare(hex), theirs: bare(hex) });
    });
  }
});

describe("a DiscoveryResponse with", () => {
  for (const { says, message, json, hex, newer = [] } of sotwResponseCases) {
    test(says, () => {
      expect({
        ours: hexOf(encodeSotwResponse(message)),
        theirs: hexOf(encodeWithProtobufEs(`${packageName}.DiscoveryResponse`, json)),
        read: decodeSotwResponse(bytesOf([...hex, ...newer])),
      }).toEqual({ ours: bare([...hex, ...newer]), theirs: bare(hex), read: message });
    });
  }
});

describe("a DeltaDiscoveryResponse with", () => {
  for (const { says, message, json, hex, newer = [] } of deltaResponseCases) {
    test(says, () => {
      expect({
        ours: hexOf(encodeDeltaResponse(message)),
        theirs: hexOf(encodeWithProtobufEs(`${packageName}.DeltaDiscoveryResponse`, json)),
        read: decodeDeltaResponse(bytesOf([...hex, ...newer])),
      }).toEqual({ ours: bare([...hex, ...newer]), theirs: bare(hex), read: message });
    });
  }
});
