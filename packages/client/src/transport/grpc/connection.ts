import { type ChannelOptions, Client, connectivityState, credentials, Metadata } from "@grpc/grpc-js";
import { LONGEST_TIMER_MS, startTimer, type Timer } from "@xdskit/disk";
import type { ServerConfig } from "../../config/client-config.ts";
import { bufferOf, createTlsReader, type TlsMaterial } from "../tls/tls-material.ts";
import { AbandonableCredentials } from "./abandonable-credentials.ts";

/** Between tries of grpc-js itself. Ours are far between, and each begins with a connection of its own. */
const SHORTEST_PAUSE_MS = 100;
/** How much a server may send before it hears that it was read: whole responses of some megabytes without a pause. */
const FLOW_CONTROL_BYTES = 4 * 1024 * 1024;
/** How long a connection that nobody uses is kept for the stream that may follow. */
const LINGER_MS = 10_000;

/** A connection to one server, shared by all streams to it. */
export interface Connection {
  readonly client: Client;
  readonly metadata: Metadata;
  /** It was up once, so it is worth keeping for the next stream. */
  isProven: boolean;
}

interface SharedConnection extends Connection {
  readonly key: string;
  readonly credentials: AbandonableCredentials;
  users: number;
  linger: Timer | undefined;
}

/** One connection for each server, as long as anybody uses it. */
export class Connections {
  readonly #byKey = new Map<string, SharedConnection>();
  readonly #held = new Map<Connection, SharedConnection>();

  /**
   * Rejects if the files of its certificates cannot be read or used; they are read anew each time, and others make another connection. Each one
   * that was got is to be released.
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

  /** The user of a connection is gone. One that never came up goes at once, so that the next try is a fresh one. */
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

/** Calls back once the connection is up. Not at all if it never is: then the calls on it fail. */
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

/** Throws if what was read is no certificate, or no key of it. */
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

/** Equal for servers that may share a connection: all that makes one up, and what is in the files of it. */
function keyOf(server: ServerConfig, material: TlsMaterial | undefined): string {
  const { target, authority, keepalive, maxResponseBytes, headers } = server;
  const secured = material && [material.ca, material.key, material.cert].map((one) => orNull(one)?.toString("base64"));
  return JSON.stringify([target, authority, keepalive, maxResponseBytes, headers, secured, material?.serverName]);
}
