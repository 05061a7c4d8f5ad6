/**
 * Requests with every field, as plain data and as bytes, one line of hexadecimal per field. `json` says the same in
 * protobuf's JSON, from which `@bufbuild/protobuf` must make the same bytes.
 */
import type { DeltaRequestMessage, SotwRequestMessage } from "@xdskit/envoy-api/internal";
import type { Node } from "@xdskit/protocol";

export interface RequestCase<Message> {
  readonly says: string;
  readonly message: Message;
  readonly json: unknown;
  readonly hex: readonly string[];
}

const cluster = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

const node: Node = {
  id: "n",
  cluster: "c",
  metadata: { a: 1.5, b: "x", c: true, d: null, e: { f: [] }, g: [false, -0.5, "", {}] },
  locality: { region: "r", zone: "z", subZone: "s" },
  userAgentName: "envoy",
  userAgentVersion: "1.39.0",
  clientFeatures: ["f1", "f2"],
};

const nodeJson = {
  id: "n",
  cluster: "c",
  metadata: { a: 1.5, b: "x", c: true, d: null, e: { f: [] }, g: [false, -0.5, "", {}] },
  locality: { region: "r", zone: "z", sub_zone: "s" },
  user_agent_name: "envoy",
  user_agent_version: "1.39.0",
  client_features: ["f1", "f2"],
};

export const sotwRequestCases: readonly RequestCase<SotwRequestMessage>[] = [
  { says: "nothing at all", message: {}, json: {}, hex: [] },
  {
    says: "every field",
    message: {
      versionInfo: "v1",
      node,
      resourceNames: ["a", "", "ä"],
      typeUrl: cluster,
      responseNonce: "7",
      errorDetail: {
        code: 13,
        message: "no",
        details: [
          { typeUrl: "type.googleapis.com/envoy.service.runtime.v3.Runtime", value: Uint8Array.of(0x0a, 1, 0x61) },
        ],
      },
      resourceLocators: [{ name: "l", dynamicParameters: { k: "v", "": "" } }, { name: "m" }],
    },
    json: {
      version_info: "v1",
      node: nodeJson,
      resource_names: ["a", "", "ä"],
      type_url: cluster,
      response_nonce: "7",
      error_detail: {
        code: 13,
        message: "no",
        details: [{ "@type": "type.googleapis.com/envoy.service.runtime.v3.Runtime", name: "a" }],
      },
      resource_locators: [{ name: "l", dynamic_parameters: { k: "v", "": "" } }, { name: "m" }],
    },
    hex: [
      "0a 02 76 31",
      "12 88 01 0a 01 6e 12 01 63 1a 5e 0a 0e 0a 01 61 12 09 11 00 00 00 00 00 00 f8 3f 0a 08 0a 01 62 12 03 1a " +
        "01 78 0a 07 0a 01 63 12 02 20 01 0a 07 0a 01 64 12 02 08 00 0a 10 0a 01 65 12 0b 2a 09 0a 07 0a 01 66 12 " +
        "02 32 00 0a 1e 0a 01 67 12 19 32 17 0a 02 20 00 0a 09 11 00 00 00 00 00 00 e0 bf 0a 02 1a 00 0a 02 2a 00 " +
        "22 09 0a 01 72 12 01 7a 1a 01 73 32 05 65 6e 76 6f 79 3a 06 31 2e 33 39 2e 30 52 02 66 31 52 02 66 32",
      "1a 01 61",
      "1a 00",
      "1a 02 c3 a4",
      "22 33 74 79 70 65 2e 67 6f 6f 67 6c 65 61 70 69 73 2e 63 6f 6d 2f 65 6e 76 6f 79 2e 63 6f 6e 66 69 67 2e " +
        "63 6c 75 73 74 65 72 2e 76 33 2e 43 6c 75 73 74 65 72",
      "2a 01 37",
      "32 43 08 0d 12 02 6e 6f 1a 3b 0a 34 74 79 70 65 2e 67 6f 6f 67 6c 65 61 70 69 73 2e 63 6f 6d 2f 65 6e 76 " +
        "6f 79 2e 73 65 72 76 69 63 65 2e 72 75 6e 74 69 6d 65 2e 76 33 2e 52 75 6e 74 69 6d 65 12 03 0a 01 61",
      "3a 11 0a 01 6c 12 06 0a 01 6b 12 01 76 12 04 0a 00 12 00",
      "3a 03 0a 01 6d",
    ],
  },
  {
    says: "a refusal that says nothing",
    message: { errorDetail: { code: 0, message: "" } },
    json: { error_detail: {} },
    hex: ["32 00"],
  },
  {
    says: "a refusal with a negative code",
    message: { errorDetail: { code: -1, message: "" } },
    json: { error_detail: { code: -1 } },
    hex: ["32 0b 08 ff ff ff ff ff ff ff ff ff 01"],
  },
];

export const deltaRequestCases: readonly RequestCase<DeltaRequestMessage>[] = [
  { says: "nothing at all", message: {}, json: {}, hex: [] },
  {
    says: "every field",
    message: {
      node,
      typeUrl: cluster,
      resourceNamesSubscribe: ["*", "a"],
      resourceNamesUnsubscribe: ["b"],
      initialResourceVersions: [
        ["a", "1"],
        ["b", ""],
      ],
      responseNonce: "7",
      errorDetail: { code: 3, message: "no" },
      resourceLocatorsSubscribe: [{ name: "l", dynamicParameters: { k: "v" } }],
      resourceLocatorsUnsubscribe: [{ name: "m" }],
    },
    json: {
      node: nodeJson,
      type_url: cluster,
      resource_names_subscribe: ["*", "a"],
      resource_names_unsubscribe: ["b"],
      initial_resource_versions: { a: "1", b: "" },
      response_nonce: "7",
      error_detail: { code: 3, message: "no" },
      resource_locators_subscribe: [{ name: "l", dynamic_parameters: { k: "v" } }],
      resource_locators_unsubscribe: [{ name: "m" }],
    },
    hex: [
      "0a 88 01 0a 01 6e 12 01 63 1a 5e 0a 0e 0a 01 61 12 09 11 00 00 00 00 00 00 f8 3f 0a 08 0a 01 62 12 03 1a " +
        "01 78 0a 07 0a 01 63 12 02 20 01 0a 07 0a 01 64 12 02 08 00 0a 10 0a 01 65 12 0b 2a 09 0a 07 0a 01 66 12 " +
        "02 32 00 0a 1e 0a 01 67 12 19 32 17 0a 02 20 00 0a 09 11 00 00 00 00 00 00 e0 bf 0a 02 1a 00 0a 02 2a 00 " +
        "22 09 0a 01 72 12 01 7a 1a 01 73 32 05 65 6e 76 6f 79 3a 06 31 2e 33 39 2e 30 52 02 66 31 52 02 66 32",
      "12 33 74 79 70 65 2e 67 6f 6f 67 6c 65 61 70 69 73 2e 63 6f 6d 2f 65 6e 76 6f 79 2e 63 6f 6e 66 69 67 2e " +
        "63 6c 75 73 74 65 72 2e 76 33 2e 43 6c 75 73 74 65 72",
      "1a 01 2a",
      "1a 01 61",
      "22 01 62",
      "2a 06 0a 01 61 12 01 31",
      "2a 05 0a 01 62 12 00",
      "32 01 37",
      "3a 06 08 03 12 02 6e 6f",
      "42 0b 0a 01 6c 12 06 0a 01 6b 12 01 76",
      "4a 03 0a 01 6d",
    ],
  },
];
