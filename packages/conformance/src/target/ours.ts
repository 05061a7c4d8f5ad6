import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import { createServer, type ManagementServer, type ManagementServerOptions } from "@xdskit/server";
import type { Setup } from "../case.ts";
import type { BookingObservation } from "../play/driver.ts";
import { fenceChoice, fenceNode } from "../play/fence.ts";
import { nodeMappingOf, transactionOf } from "../play/transaction.ts";
import type { RunningServer, Target } from "./target.ts";

/** This repository's management server, in this process, over loopback. */
export function createOurs(): Target {
  const api = createEnvoyApi();
  return {
    name: "ours",
    tellsBookings: true,
    isExact: true,
    hasRest: true,
    pace: { deadlineMs: 5_000, quietMs: 2, hasFence: true },
    start: (setup) => start(api, setup),
    async [Symbol.asyncDispose]() {},
  };
}

async function start(api: EnvoyApi, setup: Setup): Promise<RunningServer> {
  const options: ManagementServerOptions = {
    api,
    nodeMapping: nodeMappingOf(setup.nodeMapping ?? {}),
    requireNode: setup.requireNode ?? false,
    clientOverrides: (node) => (node.id === fenceNode.id ? fenceChoice : undefined),
    ...(setup.edition === undefined ? {} : { edition: setup.edition }),
    ...(setup.dialect === undefined ? {} : { dialect: setup.dialect }),
    ...(setup.v2 === undefined ? {} : { v2: setup.v2 }),
  };
  const server = createServer(options);
  const bookings = collectBookings(server);
  const { address } = await server.listen();
  return {
    address: `${address.host}:${address.port}`,
    async commit(commit) {
      server.commit(transactionOf(commit));
    },
    async place(nodeMapping) {
      server.setNodeMapping(nodeMappingOf(nodeMapping));
    },
    takeBookings: () => bookings.splice(0),
    stop: () => server.close(),
  };
}

function collectBookings(server: ManagementServer): BookingObservation[] {
  const bookings: BookingObservation[] = [];
  server.on("response-acked", ({ node, nonce }) => {
    if (node.id === fenceNode.id) return;
    bookings.push({ kind: "booking", as: "acked", stream: undefined, nonce, error: undefined, names: undefined });
  });
  server.on("response-nacked", ({ nonce, error, names }) => {
    bookings.push({ kind: "booking", as: "nacked", stream: undefined, nonce, error: error.message, names });
  });
  return bookings;
}
