import type { HubPort } from "../hub/port.ts";

/** A way for clients to reach the hub. */
export interface Transport {
  /** Listens. Throws an `XdsError` (LISTEN_FAILED, TLS_INVALID) when it cannot. */
  start(hub: HubPort): Promise<BoundAddress>;
  /** Takes no new connections and asks those there are to go. Their streams go on: the hub ends them. */
  drain(): void;
  /** Reads the certificates again, and resolves when those that are valid are in force. */
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
