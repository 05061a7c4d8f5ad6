import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { nearestName } from "@xdskit/protocol/problem";
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

const HOST_AND_PORT = /^(?:[^:@[\]]+|\[[^\]]+\]):\d+$/;

/** What a user of etcd can do about a password. */
const PASSWORD_HINT = "set XDS_STORE_PASSWORD, or password-file=FILE in the URL";

export interface EtcdUrlContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What is wrong with a URL, and what to do about it. */
export interface UrlMistake {
  readonly message: string;
  readonly hint?: string;
}

/** What is wrong with the text of such a URL, without its scheme; undefined: nothing that can be said without its files. */
export function mistakeInEtcdUrl(rest: string): UrlMistake | undefined {
  const { endpoints, parameters } = splitUrl(rest);
  return mistakeInHosts(endpoints) ?? mistakeInParameters(parameters);
}

function mistakeInHosts(hosts: readonly string[]): UrlMistake | undefined {
  if (hosts.length === 0) return { message: "expected HOST:PORT after etcd://" };
  if (hosts.some((host) => host.includes("@")))
    return { message: "a user does not belong before the host", hint: `user=NAME goes after "?"; ${PASSWORD_HINT}` };
  const wrong = hosts.find((host) => !HOST_AND_PORT.test(host));
  if (wrong === undefined) return undefined;
  // Anything but a name may be a part of a password.
  const got = /^[\w.-]+$/.test(wrong) ? `, got ${wrong}` : "";
  return { message: `expected HOST:PORT after etcd://${got}` };
}

function mistakeInParameters(parameters: ReadonlyMap<string, string>): UrlMistake | undefined {
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.some((known) => known === name));
  if (unknown === "password") return { message: "a password does not belong in a URL", hint: PASSWORD_HINT };
  if (unknown !== undefined) {
    const meant = nearestName(unknown, PARAMETERS);
    const message = `expected ${PARAMETERS.join(", ")} in the URL, got ${unknown}`;
    return { message, ...(meant !== undefined && { hint: `did you mean "${meant}"?` }) };
  }
  const empty = [...parameters.keys()].find((name) => parameters.get(name) === "");
  if (empty !== undefined) return { message: `expected a value of ${empty} in the URL` };
  if (parameters.has("cert") !== parameters.has("key")) return { message: "cert and key go together" };
  if (parameters.has("password-file") && !parameters.has("user"))
    return { message: "password-file goes with user", hint: PASSWORD_HINT };
  return undefined;
}

/** Reads `HOST:PORT,…/PREFIX?ca=FILE&…`, without its scheme. Throws a `CommandError` if it cannot be used. */
export function readEtcdUrl(rest: string, { cwd, env }: EtcdUrlContext): EtcdOptions {
  const mistake = mistakeInEtcdUrl(rest);
  if (mistake !== undefined) throw usage(mistake);
  const { endpoints, prefix, parameters } = splitUrl(rest);
  const file = (name: EtcdParameter): string | undefined => {
    const value = parameters.get(name);
    return value === undefined ? undefined : resolve(cwd, value);
  };
  const [caFile, certFile, keyFile] = [file("ca"), file("cert"), file("key")];
  const isSecure = caFile !== undefined || certFile !== undefined;
  const encryptionKey = file("encryption-key");
  const user = parameters.get("user");
  return {
    endpoints: endpoints.map((host) => `${isSecure ? "https" : "http"}://${host}`),
    prefix,
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

function splitUrl(rest: string): {
  readonly endpoints: readonly string[];
  readonly prefix: string;
  readonly parameters: ReadonlyMap<string, string>;
} {
  const [place = "", query = ""] = rest.split(/\?(.*)/s);
  const [hosts = "", ...path] = place.split("/");
  const endpoints = hosts.split(",").filter((host) => host !== "");
  return { endpoints, prefix: path.join("/"), parameters: new Map(new URLSearchParams(query)) };
}

function readPassword(file: string | undefined, env: EtcdUrlContext["env"]): string {
  if (file === undefined) {
    const password = env["XDS_STORE_PASSWORD"];
    if (password === undefined) throw usage({ message: "a user needs a password", hint: PASSWORD_HINT });
    return password;
  }
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw usage({ message: `the password cannot be read: ${reason}`, hint: PASSWORD_HINT });
  }
}

function usage({ message, hint }: UrlMistake): CommandError {
  return new CommandError(exitCode.usage, `--store: ${message}`, hint);
}
