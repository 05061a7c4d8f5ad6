import type { Io } from "../../io.ts";

const DEFAULT_LISTEN = "127.0.0.1:18000";
const DEFAULT_ADMIN = "127.0.0.1:18001";

/** Where a server runs. */
export interface ServingPlace {
  readonly listen: string;
  readonly admin: string | undefined;
  /** The server's certificate, which a client is told to trust; undefined without TLS. */
  readonly certificate: string | undefined;
  /** Clients must show a certificate, which only their operator has. */
  readonly needsClientCertificate: boolean;
  readonly env: Io["env"];
}

type Suggestion = readonly [line: string, says: string];

/** What to try next, in another terminal: each line can be typed as it stands. */
export function suggestCommands(place: ServingPlace): string {
  const { admin } = place;
  const xds = commandName(place.env);
  const server = place.listen === DEFAULT_LISTEN ? "" : ` --server ${place.listen}`;
  const trust = place.certificate === undefined ? "" : ` --ca ${place.certificate}`;
  const at = admin === DEFAULT_ADMIN ? "" : ` --admin ${admin}`;
  const asClient: readonly Suggestion[] = [
    [`${xds} get cds${server}${trust}`, "the clusters, as a client receives them"],
    [`${xds} watch eds${server}${trust}`, "endpoints, and every change to them"],
  ];
  const asOperator: readonly Suggestion[] = [
    [`${xds} nodes${at}`, "who is connected"],
    [`${xds} deliveries${at}`, "which versions clients ACKed or NACKed"],
    [`curl http://${admin}/`, "the admin API"],
  ];
  const lines: readonly Suggestion[] = [
    ...(place.needsClientCertificate ? [] : asClient),
    ...(admin === undefined ? [] : asOperator),
    [`${xds} bootstrap envoy${server}${trust} > envoy.yaml`, "then: envoy -c envoy.yaml"],
  ];
  const width = Math.max(...lines.map(([line]) => line.length));
  const text = lines.map(([line, says]) => `  ${line.padEnd(width)}   # ${says}\n`).join("");
  return `\nTry, in another terminal:\n${text}\n`;
}

/** Under npm the command is not on the PATH of the terminal that it was started from. */
function commandName(env: Io["env"]): string {
  return env["npm_lifecycle_event"] === undefined ? "xds" : "npx xds";
}
