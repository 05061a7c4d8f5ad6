import type { Io } from "../../io.ts";

const DEFAULT_LISTEN = "127.0.0.1:18000";
const DEFAULT_ADMIN = "127.0.0.1:18001";

/** Where a server runs. */
export interface ServingPlace {
  readonly listen: string;
  readonly admin: string | undefined;
  readonly isTls: boolean;
  readonly env: Io["env"];
}

/** What to try next, in another terminal: each line can be typed as it stands. */
export function suggestCommands({ listen, admin, isTls, env }: ServingPlace): string {
  const xds = commandName(env);
  const server = `${listen === DEFAULT_LISTEN ? "" : ` --server ${listen}`}${isTls ? " --tls" : ""}`;
  const at = admin === DEFAULT_ADMIN ? "" : ` --admin ${admin}`;
  const lines: (readonly [line: string, says: string])[] = [
    [`${xds} get cds${server}`, "the clusters, as a client gets them"],
    [`${xds} watch eds${server}`, "endpoints, and every change of them"],
    ...(admin === undefined
      ? []
      : ([
          [`${xds} nodes${at}`, "who is connected"],
          [`${xds} deliveries${at}`, "who has what, who refused what and why"],
          [`curl http://${admin}/`, "the admin API"],
        ] as const)),
    [
      `${xds} bootstrap envoy${listen === DEFAULT_LISTEN ? "" : ` --server ${listen}`} > envoy.yaml`,
      "then: envoy -c envoy.yaml",
    ],
  ];
  const width = Math.max(...lines.map(([line]) => line.length));
  const text = lines.map(([line, says]) => `  ${line.padEnd(width)}   # ${says}\n`).join("");
  return `\nTry, in another terminal:\n${text}\n`;
}

/** Under npm the command is not on the PATH of the terminal that it was started from. */
function commandName(env: Io["env"]): string {
  return env["npm_lifecycle_event"] === undefined ? "xds" : "npx xds";
}
