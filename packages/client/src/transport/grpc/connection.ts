import { type ChannelOptions, Client, connectivityState, credentials, Metadata } from "@grpc/grpc-js";
import { LONGEST_TIMER_MS, startTimer, type Timer } from "@xdskit/disk";
import type { ServerConfig } from "../../config/client-config.ts";
import { bufferOf, createTlsReader, type TlsMaterial } from "../tls/tls-material.ts";
import { AbandonableCredentials } from "./abandonable-credentials.ts";

/** The shortest pause between grpc-js's own attempts; the client's are further apart, each with a new connection. */
const SHORTEST_PAUSE_MS = 100;
/** The flow control window: a server can send responses of some megabytes without waiting. */
const FLOW_CONTROL_BYTES = 4 * 1024 * 1024;
/** How long an unused connection is kept for the next stream, in milliseconds. */
const LINGER_MS = 10_000;

/** A connection to one server, shared by all streams to it. */
export interface Connection {
  readonly client: Client;
  readonly metadata: Metadata;
  /** Whether it was ever established, and is worth keeping for the next stream. */
  isProven: boolean;
}

interface SharedConnection extends Connection {
  readonly key: string;
  readonly credentials: AbandonableCredentials;
  users: number;
  linger: Timer | undefined;
}

/** Shares one connection per server while it is in use. */
export class Connections {
  readonly #byKey = new Map<string, SharedConnection>();
  readonly #held = new Map<Connection, SharedConnection>();

  /**
   * Returns a connection that the caller must release. Certificate files are read each time; changed ones lead to a new
   * connection. Rejects if they cannot be read or used.
   */
  async acquire(server: ServerConfig): Promise<Connection> {
    const material = server.tls === undefined ? undefined : await createTlsReader(server.tls)();
    const key = keyOf(server, material);
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      known.linger?.cancel();
      known.users++;
      return known;
    }
    const metadata = metadataOf(server);
    const secured = channelCredentials(material);
    const client = new Client(server.target, secured, channelOptions(server, material));
    const made = { key, client, metadata, credentials: secured, isProven: false, users: 1, linger: undefined };
    this.#byKey.set(key, made);
    this.#held.set(made, made);
    return made;
  }

  /** Releases a connection. One that was never established is closed at once, so that the next attempt is a new one. */
  release(connection: Connection): void {
    const shared = this.#held.get(connection);
    if (shared === undefined) return;
    shared.users--;
    if (!shared.isProven && this.#byKey.get(shared.key) === shared) this.#byKey.delete(shared.key);
    if (shared.users > 0) return;
    if (shared.isProven) {
      shared.linger = startTimer(LINGER_MS, () => this.#drop(shared));
    } else this.#drop(shared);
  }

  close(): void {
    for (const shared of [...this.#held.values()]) this.#drop(shared);
  }

  #drop(shared: SharedConnection): void {
    shared.linger?.cancel();
    this.#held.delete(shared);
    if (this.#byKey.get(shared.key) === shared) this.#byKey.delete(shared.key);
    shared.client.close();
    if (!shared.isProven) shared.credentials.abandon();
  }
}

/** Calls back when the connection is established; never if it fails, in which case its calls fail. */
export function whenConnected({ client }: Connection, connected: () => void): void {
  const channel = client.getChannel();
  const look = (): void => {
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.READY) connected();
    else if (state !== connectivityState.SHUTDOWN) {
      channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, (error) => {
        if (error === undefined || error === null) look();
      });
    }
  };
  look();
}

/** Throws if the material is not a certificate with its key. */
function channelCredentials(material: TlsMaterial | undefined): AbandonableCredentials {
  if (material === undefined) return new AbandonableCredentials(credentials.createInsecure());
  const { ca, key, cert } = material;
  return new AbandonableCredentials(credentials.createSsl(orNull(ca), orNull(key), orNull(cert)));
}

function orNull(content: string | Uint8Array | undefined): Buffer | null {
  return content === undefined ? null : bufferOf(content);
}

function channelOptions(server: ServerConfig, material: TlsMaterial | undefined): ChannelOptions {
  const { keepalive } = server;
  const serverName = material?.serverName;
  const authority = server.authority ?? serverName;
  return {
    "grpc.max_receive_message_length": server.maxResponseBytes,
    "grpc.max_send_message_length": -1,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": SHORTEST_PAUSE_MS,
    "grpc-node.flow_control_window": FLOW_CONTROL_BYTES,
    ...(keepalive !== undefined && {
      "grpc.keepalive_time_ms": Math.min(keepalive.intervalMs, LONGEST_TIMER_MS),
      "grpc.keepalive_timeout_ms": Math.min(keepalive.timeoutMs, LONGEST_TIMER_MS),
    }),
    ...(serverName !== undefined && { "grpc.ssl_target_name_override": serverName }),
    ...(authority !== undefined && { "grpc.default_authority": authority }),
  };
}

function metadataOf({ headers }: ServerConfig): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of headers) metadata.add(name, name.endsWith("-bin") ? Buffer.from(value, "base64") : value);
  return metadata;
}

/**
 * A key that is equal for servers that may share a connection: all settings, and the contents of the certificate files.
 */
function keyOf(server: ServerConfig, material: TlsMaterial | undefined): string {
  const { target, authority, keepalive, maxResponseBytes, headers } = server;
  const secured = material && [material.ca, material.key, material.cert].map((one) => orNull(one)?.toString("base64"));
  return JSON.stringify([target, authority, keepalive, maxResponseBytes, headers, secured, material?.serverName]);
}
