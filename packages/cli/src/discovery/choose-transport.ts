import { resolve } from "node:path";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { CommandError, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { type ConnectionFlags, nodeOf, serverOf, tlsOf } from "./connection-flags.ts";
import { fileTransport } from "./file-transport.ts";
import { grpcTransport } from "./grpc-transport.ts";
import { restTransport } from "./rest-transport.ts";
import type { Transport } from "./transport.ts";

const DEFAULT_REFRESH_DELAY_MS = 1_000;

/** The transport that the flags ask for. Throws a `CommandError` for flags that cannot be understood. */
export async function chooseTransport(flags: ConnectionFlags, api: EnvoyApi, io: Io): Promise<Transport> {
  if (flags.file !== undefined) {
    const notice = (text: string): void => io.stderr.write(`xds: ${text}\n`);
    return fileTransport({ api, shownPath: flags.file, path: resolve(io.cwd, flags.file), notice });
  }
  const server = serverOf(flags, io);
  if (!/^(\[[0-9A-Fa-f:.]+\]|[^\s:[\]/]+):\d{1,5}$/.test(server)) {
    throw new CommandError(exitCode.usage, `--server: expected host:port, got "${server}"`);
  }
  const apiVersion = flags.v2 === true ? "v2" : "v3";
  const options = { api, server, tls: await tlsOf(flags, io), node: nodeOf(flags), apiVersion } as const;
  if (flags.rest === true) {
    return restTransport({ ...options, refreshDelayMs: flags.refreshDelay ?? DEFAULT_REFRESH_DELAY_MS });
  }
  const variant = flags.sotw === true ? "sotw" : "delta";
  return grpcTransport({ ...options, variant, isPerType: flags.perType === true, interrupted: io.interrupted });
}
