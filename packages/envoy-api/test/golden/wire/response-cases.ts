/**
 * Responses with every field, as plain data and as bytes, one line of hexadecimal per field. `json` says the same in
 * protobuf's JSON, from which `@bufbuild/protobuf` must make the same bytes, up to what is newer than the protos it has: those
 * fields stand in `newer`, spelled out by hand from their numbers (requirements 1.4).
 */
import type { DeltaDiscoveryResponseMessage, DiscoveryResponseMessage } from "@xdskit/envoy-api/internal";

export interface ResponseCase<Message> {
  readonly says: string;
  readonly message: Message;
  readonly json: unknown;
  readonly hex: readonly string[];
  readonly newer?: readonly string[];
}

const runtime = "type.googleapis.com/envoy.service.runtime.v3.Runtime";
const runtimeA = { typeUrl: runtime, value: Uint8Array.of(0x0a, 0x01, 0x61) };
/** DynamicParameterConstraints: key "k" exists. */
const constraints = Uint8Array.of(0x0a, 0x05, 0x0a, 0x01, 0x6b, 0x1a, 0x00);
const constraintsJson = { constraint: { key: "k", exists: {} } };

const emptySotw: DiscoveryResponseMessage = {
  versionInfo: "",
  resources: [],
  canary: false,
  typeUrl: "",
  nonce: "",
  controlPlane: undefined,
  resourceErrors: [],
};

const emptyDelta: DeltaDiscoveryResponseMessage = {
  systemVersionInfo: "",
  resources: [],
  typeUrl: "",
  nonce: "",
  removedResources: [],
  controlPlane: undefined,
  removedResourceNames: [],
  resourceErrors: [],
};

const emptyResource = {
  name: "",
  version: "",
  resource: undefined,
  aliases: [],
  ttlMs: undefined,
  doNotCache: false,
  resourceName: undefined,
  metadata: undefined,
};

export const sotwResponseCases: readonly ResponseCase<DiscoveryResponseMessage>[] = [
  { says: "nothing at all", message: emptySotw, json: {}, hex: [] },
  {
    says: "every field",
    message: {
      versionInfo: "v1",
      resources: [runtimeA, { typeUrl: runtime, value: new Uint8Array() }],
      canary: true,
      typeUrl: runtime,
      nonce: "7",
      controlPlane: "cp",
      resourceErrors: [
        {
          resourceName: { name: "x", dynamicParameterConstraints: constraints },
          errorDetail: { code: 7, message: "no", details: [] },
        },
      ],
    },
    json: {
      version_info: "v1",
      resources: [{ "@type": runtime, name: "a" }, { "@type": runtime }],
      canary: true,
      type_url: runtime,
      nonce: "7",
      control_plane: { identifier: "cp" },
    },
    hex: [
      "0a 02 76 31",
      "12 3b 0a 34 74 79 70 65 2e 67 6f 6f 67 6c 65 61 70 69 73 2e 63 6f 6d 2f 65 6e 76 6f 79 2e 73 65 72 76 69 " +
        "63 65 2e 72 75 6e 74 69 6d 65 2e 76 33 2e 52 75 6e 74 69 6d 65 12 03 0a 01 61",
      "12 36 0a 34 74 79 70 65 2e 67 6f 6f 67 6c 65 61 70 69 73 2e 63 6f 6d 2f 65 6e 76 6f 79 2e 73 65 72 76 69 " +
        "63 65 2e 72 75 6e 74 69 6d 65 2e 76 33 2e 52 75 6e 74 69 6d 65",
      "18 01",
      "22 34 74 79 70 65 2e 67 6f 6f 67 6c 65 61 70 69 73 2e 63 6f 6d 2f 65 6e 76 6f 79 2e 73 65 72 76 69 63 65 " +
        "2e 72 75 6e 74 69 6d 65 2e 76 33 2e 52 75 6e 74 69 6d 65",
      "2a 01 37",
      "32 04 0a 02 63 70",
    ],
    newer: ["3a 16 0a 0c 0a 01 78 12 07 0a 05 0a 01 6b 1a 00 12 06 08 07 12 02 6e 6f"],
  },
  {
    says: "a control plane without a name",
    message: { ...emptySotw, controlPlane: "" },
    json: { control_plane: {} },
    hex: ["32 00"],
  },
];

export const deltaResponseCases: readonly ResponseCase<DeltaDiscoveryResponseMessage>[] = [
  { says: "nothing at all", message: emptyDelta, json: {}, hex: [] },
  {
    says: "every field",
    message: {
      systemVersionInfo: "v1",
      resources: [
        {
          name: "a",
          version: "1",
          resource: runtimeA,
          aliases: ["b", "c"],
          ttlMs: 1500,
          doNotCache: true,
          resourceName: { name: "d", dynamicParameterConstraints: constraints },
          metadata: Uint8Array.of(0x0a, 0x05, 0x0a, 0x01, 0x66, 0x12, 0x00),
        },
        { ...emptyResource, name: "gone", aliases: ["gone"] },
        { ...emptyResource, name: "beat", version: "2", ttlMs: 0 },
      ],
      typeUrl: runtime,
      nonce: "7",
      removedResources: ["r", ""],
      controlPlane: "cp",
      removedResourceNames: [{ name: "s" }, { name: "t", dynamicParameterConstraints: constraints }],
      resourceErrors: [{ resourceName: { name: "x" }, errorDetail: { code: 5, message: "", details: [runtimeA] } }],
    },
    json: {
      system_version_info: "v1",
      resources: [
        {
          name: "a",
          version: "1",
          resource: { "@type": runtime, name: "a" },
          aliases: ["b", "c"],
          ttl: "1.5s",
          cache_control: { do_not_cache: true },
          resource_name: { name: "d", dynamic_parameter_constraints: constraintsJson },
          metadata: { filter_metadata: { f: {} } },
        },
        { name: "gone", aliases: ["gone"] },
        { name: "beat", version: "2", ttl: "0s" },
      ],
      type_url: runtime,
      nonce: "7",
      removed_resources: ["r", ""],
      control_plane: { identifier: "cp" },
      removed_resource_names: [{ name: "s" }, { name: "t", dynamic_parameter_constraints: constraintsJson }],
    },
    hex: [
      "0a 02 76 31",
      "12 6e 0a 01 31 12 3b 0a 34 74 79 70 65 2e 67 6f 6f 67 6c 65 61 70 69 73 2e 63 6f 6d 2f 65 6e 76 6f 79 2e " +
        "73 65 72 76 69 63 65 2e 72 75 6e 74 69 6d 65 2e 76 33 2e 52 75 6e 74 69 6d 65 12 03 0a 01 61 1a 01 61 22 " +
        "01 62 22 01 63 32 08 08 01 10 80 ca b5 ee 01 3a 02 08 01 42 0c 0a 01 64 12 07 0a 05 0a 01 6b 1a 00 4a 07 " +
        "0a 05 0a 01 66 12 00",
      "12 0c 1a 04 67 6f 6e 65 22 04 67 6f 6e 65",
      "12 0b 0a 01 32 1a 04 62 65 61 74 32 00",
      "22 34 74 79 70 65 2e 67 6f 6f 67 6c 65 61 70 69 73 2e 63 6f 6d 2f 65 6e 76 6f 79 2e 73 65 72 76 69 63 65 " +
        "2e 72 75 6e 74 69 6d 65 2e 76 33 2e 52 75 6e 74 69 6d 65",
      "2a 01 37",
      "32 01 72",
      "32 00",
      "3a 04 0a 02 63 70",
      "42 03 0a 01 73",
      "42 0c 0a 01 74 12 07 0a 05 0a 01 6b 1a 00",
    ],
    newer: [
      "4a 46 0a 03 0a 01 78 12 3f 08 05 1a 3b 0a 34 74 79 70 65 2e 67 6f 6f 67 6c 65 61 70 69 73 2e 63 6f 6d 2f " +
        "65 6e 76 6f 79 2e 73 65 72 76 69 63 65 2e 72 75 6e 74 69 6d 65 2e 76 33 2e 52 75 6e 74 69 6d 65 12 03 0a 01 61",
    ],
  },
];
