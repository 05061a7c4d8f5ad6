import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CommandError, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { reachedAddress } from "../settings/address.ts";

const DEFAULT_ADMIN = "127.0.0.1:18001";

/** The flags that say where the admin API is, and who asks. */
export interface AdminFlags {
  readonly admin?: string;
  readonly adminCa?: string;
  readonly adminCert?: string;
  readonly adminKey?: string;
}

/** Where an admin API is, and how it is reached. */
export interface AdminServer {
  /** For people: as it was given. */
  readonly shown: string;
  /** Requests go below its path. */
  readonly base: URL;
  /** Of an API on a local socket. */
  readonly socketPath?: string;
  /** Contents of PEM files. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

/**
 * The admin API that the flags or the environment name. Throws a `CommandError` for an address that is none, and for
 * files that cannot be read or do not go together.
 */
export async function adminServerOf(flags: AdminFlags, io: Io): Promise<AdminServer> {
  const shown = reachedAddress(flags.admin ?? (io.env["XDS_ADMIN_SERVER"] || DEFAULT_ADMIN));
  if (shown.startsWith("unix:"))
    return { shown, base: new URL("http://localhost"), socketPath: shown.slice("unix:".length) };
  const tls = await tlsOf(flags, io);
  const isGiven = Object.keys(tls).length > 0;
  const base = urlOf(shown, isGiven);
  if (base === undefined) {
    const name = flags.admin === undefined ? "XDS_ADMIN_SERVER" : "--admin";
    throw new CommandError(
      exitCode.usage,
      `${name}: expected host:port, https://host:port or unix:PATH, got "${shown}"`,
    );
  }
  if (base.protocol === "https:") return { shown, base, tls };
  if (!isGiven) return { shown, base };
  throw new CommandError(exitCode.usage, `${shown} is without TLS, so certificates are of no use`, "write https://");
}

/** What to do about a connection that failed. */
export function hintOf(cause: unknown, { base, tls }: AdminServer): string {
  const code = codeOf(cause);
  if (code === "DEPTH_ZERO_SELF_SIGNED_CERT" || /SELF_SIGNED|UNABLE_TO_|CERT_SIGNATURE/.test(code))
    return tls?.ca === undefined ? "--admin-ca names the CA of its certificate" : "--admin-ca names another CA";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "its certificate is for another name";
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG")
    return "the port speaks plain HTTP: leave out https://";
  if (base.protocol === "http:" && (code === "ECONNRESET" || code.startsWith("HPE_")))
    return "is it a port with TLS? write https://";
  return "is `xds serve` running? --admin says where";
}

function codeOf(cause: unknown): string {
  const code: unknown = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : "";
}

/** A URL, or `host:port`, which is one with or without TLS. */
function urlOf(shown: string, isTls: boolean): URL | undefined {
  const isUrl = /^https?:\/\//.test(shown);
  const text = isUrl ? shown : `${isTls ? "https" : "http"}://${shown}`;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return isUrl || url.pathname === "/" ? url : undefined;
}

async function tlsOf(flags: AdminFlags, { env, cwd }: Io): Promise<NonNullable<AdminServer["tls"]>> {
  const [ca, cert, key] = [
    flags.adminCa ?? env["XDS_ADMIN_CA"],
    flags.adminCert ?? env["XDS_ADMIN_CERT"],
    flags.adminKey ?? env["XDS_ADMIN_KEY"],
  ].map((path) => (path === "" ? undefined : path));
  if ((cert === undefined) !== (key === undefined))
    throw new CommandError(exitCode.usage, "--admin-cert and --admin-key go together");
  const read = (path: string): Promise<string> => readText(resolve(cwd, path));
  return {
    ...(ca !== undefined && { ca: await read(ca) }),
    ...(cert !== undefined && { cert: await read(cert) }),
    ...(key !== undefined && { key: await read(key) }),
  };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new CommandError(exitCode.usage, cause instanceof Error ? cause.message : String(cause));
  }
}
