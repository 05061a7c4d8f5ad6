import { type AdminServer, createAdminServer } from "./admin/server.ts";
import type { AdminView } from "./admin/view.ts";
import type { CheckedAdmin, CheckedOptions } from "./check-options.ts";
import type { Hub } from "./hub/hub.ts";
import type { DeliveryTimes } from "./observe/deliveries.ts";
import { createMetrics, type Metrics } from "./observe/metrics.ts";
import type { ObservedTelemetry } from "./observe/telemetry.ts";
import { failedAccept } from "./transport/start-listening.ts";

/** What the admin API and the metrics of a server tell. */
export interface AdminParts {
  readonly view: AdminView;
  readonly telemetry: ObservedTelemetry;
  readonly deliveries: DeliveryTimes;
}

export function createServerMetrics({ view, telemetry, deliveries }: AdminParts): Metrics {
  return createMetrics({
    ...{ telemetry, deliveries, gauges: view },
    ...{ types: view.types.types, version: view.version },
  });
}

/** Undefined if the options have neither an address nor a socket for it. */
export function createAdmin(
  { admin, adminSocket, insecure }: CheckedOptions,
  hub: Hub,
  parts: AdminParts,
): AdminServer | undefined {
  if (admin === false && adminSocket === undefined) return undefined;
  const { host, port, names, tls, viewers, operators } = admin === false ? noAdmin : admin;
  return createAdminServer({
    listen: admin === false ? undefined : { host, port },
    socket: adminSocket,
    names,
    tls,
    rules: { viewers, operators, insecure },
    access: { grant: (claim) => hub.view.grantOf(claim) },
    view: parts.view,
    metrics: createServerMetrics(parts),
    deliveries: parts.deliveries,
    onFault: (path, error) => {
      hub.report({ kind: "invariant-broken", stream: undefined, during: `admin ${path}`, error });
    },
    onFailedAccept: (where, cause) => hub.report(failedAccept(where, cause)),
    onRefused: (refused) => hub.report({ kind: "admin-refused", ...refused }),
    onChange: (change) => hub.report({ kind: "admin-change", ...change }),
    tlsReloads: {
      onReloaded: (files) => hub.report({ kind: "tls-reloaded", files }),
      onRefused: (files, error) => hub.report({ kind: "tls-refused", files, error }),
    },
  });
}

const noAdmin: CheckedAdmin = { host: "", port: 0, names: [], viewers: [], operators: [] };
