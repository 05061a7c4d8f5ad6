import type { HubPort } from "../hub/port.ts";

/** A transport between clients and the hub. */
export interface Transport {
  /** Starts listening. Throws an `XdsError` (LISTEN_FAILED, TLS_INVALID) if it cannot. */
  start(hub: HubPort): Promise<BoundAddress>;
  /** Accepts no new connections and asks existing ones to close. Their streams continue until the hub ends them. */
  drain(): void;
  /** Reloads the certificates; resolves once valid ones are in use. */
  reloadCertificates(): Promise<void>;
  /** Resolves when the last connection is closed. */
  whenIdle(): Promise<void>;
  /** Closes every connection at once. */
  stop(): Promise<void>;
}

/** `127.0.0.1:18000`, `[::1]:18000`. */
export function formatAddress({ host, port }: BoundAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Where a server listens. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}
