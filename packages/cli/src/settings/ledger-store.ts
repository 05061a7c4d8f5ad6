import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type LedgerStore, openCopiedStore, openDirectoryLedger } from "@xdskit/server";
import { CommandError, exitCode } from "../exit-code.ts";
import { type EtcdOptions, mistakeInEtcdUrl, readEtcdUrl, type UrlMistake } from "./etcd-url.ts";

interface StoreScheme {
  readonly prefix: string;
  /** What follows the prefix, for help. */
  readonly form: string;
  /** What is wrong with the rest of a URL, as far as its text says. */
  mistake?(rest: string): UrlMistake | undefined;
  open(rest: string, parts: StoreParts): Promise<LedgerStore>;
}

export interface StoreParts {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with what was mended when the store was opened. */
  readonly onProblem: (message: string) => void;
  /** Where a server keeps a copy of a store with an engine. @default none is kept */
  readonly copyDirectory?: string | undefined;
  /** Needs no lock or permission to write, so it works beside a server. @default false */
  readonly isReadOnly?: boolean;
}

/** The package of the store on etcd, which is installed beside this one. */
const ETCD_PACKAGE = "@xdskit/store-etcd";

/** What that package exports, as far as it is used here. */
interface EtcdPackage {
  openEtcdStore(options: EtcdOptions & { readonly isReadOnly: boolean }): Promise<LedgerStore>;
}

/** Every kind of store. */
const schemes: readonly StoreScheme[] = [
  {
    prefix: "etcd://",
    form: "HOST:PORT,…/PREFIX",
    mistake: mistakeInEtcdUrl,
    async open(rest, { cwd, env, copyDirectory, onProblem, isReadOnly = false }) {
      const options = readEtcdUrl(rest, { cwd, env });
      const { openEtcdStore } = await importEtcd();
      const open = (): Promise<LedgerStore> => openEtcdStore({ ...options, isReadOnly });
      if (copyDirectory === undefined) return await open();
      const hosts = options.endpoints.map((endpoint) => endpoint.replace(/^https?:\/\//, ""));
      const url = `etcd://${hosts.toSorted().join(",")}/${options.prefix}`;
      return await openCopiedStore({ directory: copyDirectory, url, open, onProblem });
    },
  },
  {
    prefix: "file:",
    form: "DIR",
    async open(rest, { cwd, onProblem, isReadOnly = false }) {
      const directory = resolve(cwd, rest);
      if (rest.includes("?") && !existsSync(directory)) throw parametersOfFile(rest);
      return await openDirectoryLedger({ directory, onProblem, isReadOnly });
    },
  },
];

/** Opens the store of a URL. Throws a `CommandError` that says what a URL may be, or why the store cannot be used. */
export async function openStore(url: string, parts: StoreParts): Promise<LedgerStore> {
  const scheme = schemeOf(url);
  if (scheme === undefined) throw new CommandError(exitCode.usage, unknownStore(url));
  try {
    return await scheme.open(url.slice(scheme.prefix.length), parts);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    // A file that is not there, or an option that cannot be used.
    const isMisuse = cause instanceof TypeError || (cause instanceof Error && "syscall" in cause);
    if (isMisuse) throw new CommandError(exitCode.usage, `the store cannot be used: ${reason}`);
    throw new CommandError(exitCode.unreachable, `the store cannot be used: ${reason}`);
  }
}

function parametersOfFile(rest: string): CommandError {
  const message = `file:${rest.replace(/\?.*/s, "")}: only a store on etcd takes parameters after "?"`;
  return new CommandError(exitCode.usage, message, 'create the directory first if its name has a "?"');
}

/** What is wrong with the URL of a store, as far as its text says; undefined: nothing. */
export function mistakeInStoreUrl(url: string): UrlMistake | undefined {
  const scheme = schemeOf(url);
  return scheme === undefined ? { message: unknownStore(url) } : scheme.mistake?.(url.slice(scheme.prefix.length));
}

function schemeOf(url: string): StoreScheme | undefined {
  return schemes.find(({ prefix }) => url.startsWith(prefix) && url.length > prefix.length);
}

function unknownStore(url: string): string {
  const forms = schemes.map(({ prefix, form }) => `${prefix}${form}`).join(" or ");
  return `expected ${forms} as the store, got ${withoutSecrets(url)}`;
}

/** A URL of an unknown kind as it may be printed: without what is before a host, and without values of parameters. */
function withoutSecrets(url: string): string {
  return url.replace(/^([\w+.-]+:(?:\/\/)?)?.*@/s, "$1***@").replace(/([?&;#][^=?&;#]*=)[^&;#]*/g, "$1***");
}

async function importEtcd(): Promise<EtcdPackage> {
  try {
    return (await import(ETCD_PACKAGE)) as EtcdPackage;
  } catch (cause) {
    const isAbsent = cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND";
    if (!isAbsent) throw cause;
    const message = `a store on etcd needs the package ${ETCD_PACKAGE}, which is not installed`;
    throw new CommandError(exitCode.usage, message, `npm install ${ETCD_PACKAGE}`);
  }
}
