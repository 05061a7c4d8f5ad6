import { once } from "node:events";
import { connect } from "node:net";
import { contentDigest } from "@xdskit/envoy-api";
import { restPaths } from "@xdskit/envoy-api/internal";
import { createResource, type Resource, type TypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { within } from "../support/raw-peer.ts";
import { put, startWorld, testApi } from "../support/test-server.ts";

/** What an operator writes for each path; a v2 path is asked for the twin of the v3 resource. */
const written: Readonly<Record<string, object>> = {
  listeners: {
    name: "http",
    address: { socket_address: { address: "127.0.0.1", port_value: 8080 } },
    per_connection_buffer_limit_bytes: 32_768,
  },
  routes: { name: "table", virtual_hosts: [{ name: "all", domains: ["*"] }], validate_clusters: false },
  "scoped-routes": {
    name: "scope",
    route_configuration_name: "table",
    key: { fragments: [{ string_key: "a" }] },
  },
  clusters: { name: "web", type: "EDS", connect_timeout: "0.25s", eds_cluster_config: { service_name: "web.eds" } },
  endpoints: {
    cluster_name: "web",
    endpoints: [{ load_balancing_weight: 3, locality: { region: "here" }, priority: 1 }],
  },
  secrets: { name: "key", session_ticket_keys: { keys: [{ inline_bytes: "AAEC/w==" }] } },
  runtime: { name: "live", layer: { on: true, share: 0.5, text: "é" } },
  extension_configs: {
    name: "filter",
    typed_config: { "@type": "type.googleapis.com/google.protobuf.Duration", value: "1.500s" },
  },
};

function resourceAt(path: string, type: TypeUrl): Resource {
  const noun = path.slice(path.indexOf(":") + 1);
  const { input } = testApi().readResource({ "@type": type, ...written[noun] });
  if (input === undefined) throw new Error(`the resource of ${path} cannot be read`);
  return createResource({ ...input, version: `of-${noun}` }, contentDigest);
}

/** One request and all that came back for it, as it stands on the wire. */
async function exchange(address: { host: string; port: number }, request: string): Promise<string> {
  const socket = connect(address);
  socket.write(request);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString("utf8");
  });
  await within("the end", once(socket, "close"));
  return answer.replace(/^Date: .*\r\n/m, "");
}

const described = restPaths.filter(({ type }) => testApi().knows(type));

test.each(described.map((path) => [path.path, path] as const))("%s: bytes in, bytes out", async (_, { path, type }) => {
  const world = await startWorld({ controlPlane: "golden", rest: { holdMs: 1 } }, [resourceAt(path, type)]);
  const post = (body: string): string =>
    `POST ${path} HTTP/1.1\r\nhost: xds\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
  const first = post(`{"node":{"id":"n"},"type_url":"${type}"}`);
  const answer = await exchange(world.address, first);
  const version = /"versionInfo":"([^"]+)"/.exec(answer)?.[1] ?? "";
  const second = post(`{"node":{"id":"n"},"type_url":"${type}","version_info":"${version}"}`);
  const unchanged = await exchange(world.address, second);
  world.server.commit(put());
  await world.close();
  const file = `../golden/rest${path.replaceAll(/[/:]/g, "-")}.txt`;
  await expect([first, answer, second, unchanged].join("\n\n=====\n\n")).toMatchFileSnapshot(file);
});
