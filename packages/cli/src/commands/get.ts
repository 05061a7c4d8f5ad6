import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion, TypeUrl } from "@xdskit/protocol";
import { type Command, Option } from "commander";
import { chooseTransport } from "../discovery/choose-transport.ts";
import { type Collected, collect } from "../discovery/collect.ts";
import { addConnectionFlags, type ConnectionFlags, descriptorFilesOf } from "../discovery/connection-flags.ts";
import { HeldResources } from "../discovery/held.ts";
import { formatYaml, resourceValue } from "../discovery/resource-value.ts";
import type { Ending } from "../discovery/transport.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { formatTable } from "../output/table.ts";
import { loadApi } from "../settings/load-api.ts";
import { type AddCommand, addExamples, type CommandContext } from "./context.ts";
import { readDuration } from "./duration-flag.ts";

const QUIET_MS = 300;

interface GetFlags extends ConnectionFlags {
  readonly output: "yaml" | "json" | "table";
  readonly timeout: number;
  readonly showSecrets?: boolean;
}

/** `xds get TYPE [NAME…]`: what a client would get, once. */
export const addGetCommand: AddCommand = (program, context) => {
  const command = program
    .command("get")
    .summary("get resources from any xDS server")
    .description("Get resources from any xDS server, as a client would: over gRPC, by REST, or from a file.");
  addTypeArguments(command);
  addConnectionFlags(command)
    .addOption(
      new Option("-o, --output <format>", "how they are printed").choices(["yaml", "json", "table"]).default("yaml"),
    )
    .addOption(
      new Option("--timeout <duration>", "how long to wait for an answer")
        .argParser((text: string) => readDuration("--timeout", text))
        .default(5000, "5s"),
    )
    .option("--show-secrets", "print private keys and passwords too")
    .action((type: string, names: readonly string[], flags: GetFlags) =>
      context.perform(() => get(type, names, flags, context)),
    );
  addExamples(command, [
    ["xds get cds", "every cluster"],
    ["xds get eds backend --node edge-7 -o json", "the endpoints of one cluster, as node edge-7 sees them"],
    ["xds get lds --server xds.example:18000 --ca ca.crt", "from a server elsewhere, over TLS"],
    ["xds get cds --rest --v2", "as an old client gets them, by a poll"],
    ["xds get lds --file /etc/envoy/xds/lds.yaml", "what a file holds for an Envoy"],
  ]);
};

/** What `get` and `watch` are asked for. */
export function addTypeArguments(command: Command): void {
  command
    .argument("<type>", "lds, rds, cds, eds, sds, rtds, srds, ecds, vhds, or a type URL")
    .argument("[name...]", "names of resources; all of them without any");
}

async function get(
  type: string,
  names: readonly string[],
  flags: GetFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  const api = await loadApi(descriptorFilesOf(flags, io));
  const typeUrl = typeNamed(type, flags.v2 === true ? "v2" : "v3", api);
  const transport = await chooseTransport(flags, api, io);
  const connection = await transport.connect();
  const cancel = (): void => void connection.close();
  io.interrupted.addEventListener("abort", cancel);
  try {
    const subscription = connection.subscribe({ type: typeUrl, names, held: new HeldResources(api, typeUrl) });
    const isWhole = transport.answersWhole(typeUrl);
    const collected = await collect(subscription, { names, isWhole, timeoutMs: flags.timeout, quietMs: QUIET_MS });
    if (io.interrupted.aborted) return exitCode.interrupted;
    if (collected.isCut && !collected.isAnswered) throw failure(await subscription.ending);
    subscription.cancel();
    print(collected, { api, flags }, context);
    return report(collected, type, context);
  } finally {
    io.interrupted.removeEventListener("abort", cancel);
    await connection.close();
  }
}

/** The type that the caller means, in one version of the API. Throws a `CommandError` for a word that names none. */
export function typeNamed(text: string, version: ApiVersion, api: EnvoyApi): TypeUrl {
  const type = api.typeNamed(text);
  if (type === undefined) {
    const known = api.types.flatMap(({ shortName }) => (shortName === "" ? [] : [shortName]));
    throw new CommandError(exitCode.usage, `unknown type "${text}"`, `it may be ${known.join(", ")}, or a type URL`);
  }
  const entry = api.types.find((one) => one.type === type);
  // A type URL says its version itself; by the other version's methods it may be asked for all the same.
  if (version === "v3" || entry === undefined || text.includes("/")) return type;
  if (entry.v2Twin !== undefined) return entry.v2Twin;
  throw new CommandError(exitCode.usage, `there is no ${text} in v2`, "leave --v2 off");
}

/** There was no answer. */
export function failure({ reason, isUnreachable, hint }: Ending): CommandError {
  return new CommandError(isUnreachable ? exitCode.unreachable : exitCode.problems, reason, hint);
}

function print(
  { resources }: Collected,
  { api, flags }: { readonly api: EnvoyApi; readonly flags: GetFlags },
  { io, colorsOf }: CommandContext,
): void {
  const format = { api, showsSecrets: flags.showSecrets === true };
  const sorted = [...resources].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (flags.output === "table") {
    const columns = [
      { title: "NAME", text: (row: (typeof sorted)[number]) => row.name },
      { title: "VERSION", text: (row: (typeof sorted)[number]) => row.version },
      { title: "BYTES", text: (row: (typeof sorted)[number]) => `${row.bytes.byteLength}` },
    ];
    const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
    io.stdout.write(formatTable(sorted, columns, { colors: colorsOf(io.stdout), width }));
    return;
  }
  if (flags.output === "json") {
    io.stdout.write(formatJson(sorted.map((resource) => resourceValue(resource, format))));
    return;
  }
  for (const resource of sorted) io.stdout.write(formatYaml(resourceValue(resource, format)));
}

function report({ resources, missing, isAnswered }: Collected, type: string, { io }: CommandContext): ExitCode {
  if (!isAnswered) {
    // In State of the World a server stays silent about what does not exist; some do so about what they have, too.
    io.stderr.write(`xds: no answer in time: the server has no such ${type} for this node, or does not say\n`);
    return exitCode.problems;
  }
  for (const name of missing) io.stderr.write(`xds: there is no ${type} "${name}"\n`);
  if (missing.length === 0 && resources.length === 0) io.stderr.write(`xds: there is no ${type}\n`);
  return missing.length > 0 || resources.length === 0 ? exitCode.problems : exitCode.ok;
}
