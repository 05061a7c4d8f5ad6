import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource } from "@xdskit/source";
import { expect, test } from "vitest";
import { temporaryDirectory, write } from "./support/temporary-directory.ts";

const api = createEnvoyApi();

function listener(name: string, socketAddress: string): string {
  return `---
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: ${JSON.stringify(name)}
address: { socket_address: { ${socketAddress} } }
default_filter_chain: { filters: [] }
`;
}

const PORT_80 = "address: 127.0.0.1, port_value: 80";
const API = `---
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: grpc
address: { socket_address: { ${PORT_80} } }
api_listener: { api_listener: { "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, rds: { route_config_name: r, config_source: { ads: {}, resource_api_version: V3 } } } }
`;
const groups = (...names: readonly string[]): string =>
  `groups: [${names.map((name) => `{ name: ${name}, match: { id: ${name} } }`).join(", ")}]\n`;

async function found(directory: string): Promise<readonly unknown[]> {
  const { problems } = await createDirectorySource({ directory, api }).load();
  return problems
    .filter(({ code }) => code === "LISTENER_ADDRESS_DUPLICATE")
    .map(({ severity, file, line, message, related }) => [severity, `${file}:${line}`, message, related]);
}

test.each<[string, Readonly<Record<string, string>>, readonly unknown[]]>([
  [
    "in one layer",
    { "a.yaml": listener("a", PORT_80), "b.yaml": listener("b", PORT_80) },
    [
      [
        "warning",
        "b.yaml:4",
        'Listener "b" has the address 127.0.0.1:80 of Listener "a": Envoy refuses the second',
        { file: "a.yaml", line: 4, column: 39 },
      ],
    ],
  ],
  [
    "one of a group and one of all",
    {
      "a.yaml": listener("a", 'address: "::1", port_value: 80'),
      "groups/g/b.yaml": listener("b", 'address: "::1", port_value: 80'),
      "xdskit.yaml": groups("g"),
    },
    [
      [
        "warning",
        "groups/g/b.yaml:4",
        'Listener "b" has the address [::1]:80 of Listener "a": Envoy refuses the second',
        { file: "a.yaml", line: 4, column: 39 },
      ],
    ],
  ],
  [
    "of UDP",
    {
      "a.yaml": `${listener("a", `${PORT_80}, protocol: UDP`)}${listener("b", `protocol: UDP, ${PORT_80}`)}`,
    },
    [
      [
        "warning",
        "a.yaml:9",
        'Listener "b" has the address 127.0.0.1:80 (UDP) of Listener "a": Envoy refuses the second',
        { file: "a.yaml", line: 4, column: 39 },
      ],
    ],
  ],
])("two listeners with one address: %s", async (_, files, expected) => {
  expect(await found(temporaryDirectory(files))).toEqual(expected);
});

test.each<[string, Readonly<Record<string, string>>]>([
  [
    "in groups that need not have a node in common",
    {
      "groups/g/a.yaml": listener("a", PORT_80),
      "groups/h/b.yaml": listener("b", PORT_80),
      "xdskit.yaml": groups("g", "h"),
    },
  ],
  ["of two nodes", { "nodes/g/a.yaml": listener("a", PORT_80), "nodes/h/b.yaml": listener("b", PORT_80) }],
  [
    "one replaced by its group",
    {
      "a.yaml": listener("a", PORT_80),
      "nodes/g/b.yaml": listener("b", PORT_80) + listener("a", "address: 127.0.0.1, port_value: 81"),
    },
  ],
  ["the same for a node", { "a.yaml": listener("a", PORT_80), "nodes/g/a.yaml": listener("a", PORT_80) }],
  ["on other ports", { "a.yaml": listener("a", PORT_80) + listener("b", "address: 127.0.0.1, port_value: 81") }],
  ["at other addresses", { "a.yaml": listener("a", PORT_80) + listener("b", "address: 127.0.0.2, port_value: 80") }],
  ["of another protocol", { "a.yaml": listener("a", PORT_80) + listener("b", `${PORT_80}, protocol: UDP`) }],
  [
    "on a port that the system picks",
    {
      "a.yaml": listener("a", "address: 127.0.0.1, port_value: 0") + listener("b", "address: 127.0.0.1, port_value: 0"),
    },
  ],
  ["of which one is for gRPC clients", { "a.yaml": listener("a", PORT_80) + API }],
  [
    "called by names of authorities",
    { "a.yaml": listener("xdstp://x/envoy.config.listener.v3.Listener/a", PORT_80) + listener("b", PORT_80) },
  ],
])("listeners are not in each other's way: %s", async (_, files) => {
  expect(await found(temporaryDirectory(files))).toEqual([]);
});

test("what is changed is looked at again", async () => {
  const directory = temporaryDirectory({ "a.yaml": listener("a", PORT_80), "b.yaml": listener("b", PORT_80) });
  const source = createDirectorySource({ directory, api });
  const count = async (): Promise<number> =>
    (await source.load()).problems.filter(({ code }) => code === "LISTENER_ADDRESS_DUPLICATE").length;
  expect(await count()).toBe(1);
  write(directory, "b.yaml", listener("b", "address: 127.0.0.1, port_value: 81"));
  expect(await count()).toBe(0);
  write(directory, "a.yaml", listener("a", "address: 127.0.0.1, port_value: 81"));
  expect(await count()).toBe(1);
});
