import type { CheckedOptions } from "./check-options.ts";
import { healthDiscoveryMethods } from "./health/methods.ts";
import { healthDiscoveryHandlers } from "./health/rest.ts";
import type { LoadReporting } from "./load/load-reporting.ts";
import { loadReportMethods } from "./load/methods.ts";
import type { ClientStatus } from "./status/client-status.ts";
import { clientStatusMethods } from "./status/methods.ts";
import { clientStatusHandlers } from "./status/rest.ts";
import { Decompression } from "./transport/grpc/decompression.ts";
import { Intake } from "./transport/grpc/intake.ts";
import { GrpcTransport } from "./transport/grpc/server.ts";
import { DEFAULT_HTTP2_ENGINE } from "./transport/http2/engines.ts";
import { ReadPacer } from "./transport/http2/read-pacer.ts";
import { OpenSockets } from "./transport/open-sockets.ts";
import { createRestServer } from "./transport/rest/services.ts";
import type { BoundAddress } from "./transport/transport.ts";
import type { TrustHolds } from "./trust-holds.ts";

export interface TransportParts {
  readonly loads: LoadReporting;
  readonly clientStatus: ClientStatus;
  readonly trustHolds: TrustHolds | undefined;
  /** Whether a stream waits to be sent a change. */
  readonly isChangeDue: () => boolean;
  /** Where the primary of a worker listens, which hands over the connections; undefined: the transports listen. */
  readonly handedAt: readonly BoundAddress[] | undefined;
}

/** Creates a transport for each address of the options. All of them serve the same, and share a process. */
export function createTransports(
  options: CheckedOptions,
  { loads, clientStatus, trustHolds: trustFuse, isChangeDue, handedAt }: TransportParts,
): readonly GrpcTransport[] {
  const { api, limits, controlPlane, healthDiscovery, tls: usual, http2 = DEFAULT_HTTP2_ENGINE } = options;
  const methods = new Map([
    ...clientStatusMethods(clientStatus),
    ...loadReportMethods(loads),
    ...(healthDiscovery === undefined ? [] : healthDiscoveryMethods(healthDiscovery, api, limits)),
  ]);
  const further = new Map([
    ...clientStatusHandlers(clientStatus, api),
    ...(healthDiscovery === undefined ? [] : healthDiscoveryHandlers(healthDiscovery, api)),
  ]);
  const rest = createRestServer({
    ...{ api, controlPlane, rest: options.rest, maxRequestBytes: limits.maxRestRequestBytes },
    further,
  });
  const intake = new Intake();
  const readPacer = new ReadPacer({ isBusy: () => intake.isBusy, isChangeDue });
  const shared = { sockets: OpenSockets.within(limits), decompression: new Decompression(), intake, readPacer, http2 };
  return options.listen.map(({ host, port, tls = usual, ...choice }, index) => {
    const secured = tls === false ? undefined : tls;
    return new GrpcTransport({
      ...{ api, host, port, tls: secured, limits, choice, methods, rest, trustFuse },
      handedAt: handedAt?.[index],
      ...shared,
    });
  });
}
