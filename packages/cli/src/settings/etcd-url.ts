import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError, exitCode } from "../exit-code.ts";

/** What `openEtcdStore` is called with, as far as a URL can say it. */
export interface EtcdOptions {
  readonly endpoints: readonly string[];
  readonly prefix: string;
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  readonly auth?: { readonly user: string; readonly password: string };
  readonly keyFile?: string;
}

/** A password is none: a URL is seen in lists of processes. */
const PARAMETERS = ["ca", "cert", "key", "encryption-key", "user", "password-file"] as const;
type EtcdParameter = (typeof PARAMETERS)[number];

export interface EtcdUrlContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads `HOST:PORT,…/PREFIX?ca=FILE&…`, without its scheme; undefined: no host is in it. Throws a `CommandError` if a
 * parameter is unknown or does not go with the others.
 */
export function readEtcdUrl(rest: string, { cwd, env }: EtcdUrlContext): EtcdOptions | undefined {
  const [place = "", query = ""] = rest.split(/\?(.*)/s);
  const [hosts = "", ...path] = place.split("/");
  const endpoints = hosts.split(",").filter((host) => host !== "");
  if (endpoints.length === 0) return undefined;
  const given = readParameters(query);
  const file = (name: EtcdParameter): string | undefined => {
    const value = given.get(name);
    return value === undefined ? undefined : resolve(cwd, value);
  };
  const [caFile, certFile, keyFile] = [file("ca"), file("cert"), file("key")];
  if ((certFile === undefined) !== (keyFile === undefined)) throw usage("cert and key go together");
  const isSecure = caFile !== undefined || certFile !== undefined;
  const encryptionKey = file("encryption-key");
  const user = given.get("user");
  if (user === undefined && given.has("password-file")) throw usage("password-file goes with user");
  return {
    endpoints: endpoints.map((host) => `${isSecure ? "https" : "http"}://${host}`),
    prefix: path.join("/"),
    ...(isSecure && {
      tls: {
        ...(caFile !== undefined && { caFile }),
        ...(certFile !== undefined && keyFile !== undefined && { certFile, keyFile }),
      },
    }),
    ...(user !== undefined && { auth: { user, password: readPassword(file("password-file"), env) } }),
    ...(encryptionKey !== undefined && { keyFile: encryptionKey }),
  };
}

function readParameters(query: string): ReadonlyMap<EtcdParameter, string> {
  const read = new Map<EtcdParameter, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = PARAMETERS.find((parameter) => parameter === name);
    if (name === "password") throw usage("a password does not belong in a URL");
    if (known === undefined) throw usage(`expected ${PARAMETERS.join(", ")} in the URL, got ${name}`);
    read.set(known, value);
  }
  return read;
}

function readPassword(file: string | undefined, env: EtcdUrlContext["env"]): string {
  if (file === undefined) {
    const password = env["XDS_STORE_PASSWORD"];
    if (password === undefined) throw usage("a user needs a password");
    return password;
  }
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (cause) {
    throw usage(`the password cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

function usage(message: string): CommandError {
  const hint = "set XDS_STORE_PASSWORD, or password-file=FILE in the URL";
  return new CommandError(exitCode.usage, `--store: ${message}`, message.includes("password") ? hint : undefined);
}
