import type { Io } from "../../io.ts";
import type { Trust } from "./trust.ts";

const DEFAULT_LISTEN = "127.0.0.1:18000";
const DEFAULT_ADMIN = "127.0.0.1:18001";

/** Where a server listens, and what its clients need. */
export interface ServingPlace {
  readonly listen: string;
  readonly admin: SuggestedAdmin | undefined;
  /** What a client needs for TLS; undefined without TLS. */
  readonly trust: Trust | undefined;
  /** Clients must present a certificate, whose files the server does not know. */
  readonly needsClientCertificate: boolean;
  readonly env: Io["env"];
}

/** How the admin API is reached: `host:port`, or a local socket. */
export interface SuggestedAdmin {
  readonly address: string;
  readonly socketPath: string | undefined;
  /** What a client needs for TLS; undefined without TLS. */
  readonly trust: Trust | undefined;
}

type Suggestion = readonly [line: string, says: string];

/** Suggests commands to try in another terminal; each line can be pasted into a shell. */
export function suggestCommands(place: ServingPlace): string {
  const { admin, trust } = place;
  const xds = commandName(place.env);
  const listen = trust?.server ?? place.listen;
  const server = listen === DEFAULT_LISTEN ? "" : ` --server ${listen}`;
  const flags = `${server}${trust === undefined ? "" : trustFlags(trust)}${identityFlags(place)}`;
  const name = trust?.serverName === undefined ? "" : ` --server-name ${quote(trust.serverName)}`;
  const asOperator = (reached: SuggestedAdmin): readonly Suggestion[] => [
    [`${xds} status${adminFlags(reached)}`, "the server, its files, and who has what they have"],
    [`${xds} wait --min-nodes 0${adminFlags(reached)}`, "after a change: until every connected client has it"],
    [`${xds} nodes${adminFlags(reached)}`, "who is connected"],
    [`${xds} deliveries${adminFlags(reached)}`, "which versions clients ACKed or NACKed"],
    [curlOf(reached), "the admin API"],
    ...consoleOf(reached),
  ];
  const lines: readonly Suggestion[] = [
    ...variablesOf(place),
    [`${xds} get cds${flags}${name}`, "the clusters, as a client receives them"],
    [`${xds} watch eds${flags}${name}`, "endpoints, and every change to them"],
    ...(admin === undefined ? [] : asOperator(admin)),
    [`${xds} bootstrap envoy${flags} > envoy.yaml`, "then: envoy -c envoy.yaml"],
  ];
  const width = Math.max(...lines.map(([line]) => line.length));
  const text = lines.map(([line, says]) => `  ${line.padEnd(width)}   # ${says}\n`).join("");
  return `\nTry, in another terminal:\n${text}\n`;
}

/** Shell variables for files that the server does not have and other lines refer to. */
function variablesOf({ trust, admin, needsClientCertificate }: ServingPlace): readonly Suggestion[] {
  const ofAdmin = admin?.socketPath === undefined ? admin?.trust : undefined;
  return [
    ...([trust, ofAdmin].some((one) => one !== undefined && one.ca === undefined)
      ? [["CA=ca.crt", "set it to the file of the authority that signed the server's certificate"] as const]
      : []),
    ...(needsClientCertificate || ofAdmin !== undefined
      ? [["CERT=client.crt KEY=client.key", "set them to the files of a certificate that the server accepts"] as const]
      : []),
  ];
}

/** The local socket is what always works. */
function adminFlags({ address, socketPath, trust }: SuggestedAdmin): string {
  if (socketPath !== undefined) return ` --admin ${quote(`unix:${socketPath}`)}`;
  if (trust === undefined) return address === DEFAULT_ADMIN ? "" : ` --admin ${address}`;
  const ca = trust.ca === undefined ? '"$CA"' : quote(trust.ca);
  return ` --admin https://${trust.server} --admin-ca ${ca} --admin-cert "$CERT" --admin-key "$KEY"`;
}

function curlOf({ address, socketPath, trust }: SuggestedAdmin): string {
  if (socketPath !== undefined) return `curl --unix-socket ${quote(socketPath)} http://localhost/`;
  if (trust === undefined) return `curl http://${address}/`;
  const ca = trust.ca === undefined ? '"$CA"' : quote(trust.ca);
  return `curl --cacert ${ca} --cert "$CERT" --key "$KEY" https://${trust.server}/`;
}

/** A browser shows the certificate of an operator only if it has it; a local socket is out of its reach. */
function consoleOf({ address, socketPath, trust }: SuggestedAdmin): readonly Suggestion[] {
  if (socketPath !== undefined || trust !== undefined) return [];
  return [[`http://${address}/console/`, "the console, in a browser"]];
}

function trustFlags({ ca }: Trust): string {
  return ` --ca ${ca === undefined ? '"$CA"' : quote(ca)}`;
}

function identityFlags({ needsClientCertificate }: ServingPlace): string {
  return needsClientCertificate ? ' --cert "$CERT" --key "$KEY"' : "";
}

/** Quotes a word for a shell. */
function quote(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Under npm, the command is not on the terminal's PATH. */
function commandName(env: Io["env"]): string {
  return env["npm_lifecycle_event"] === undefined ? "xds" : "npx xds";
}
