import type { EntryPoint } from "@xdskit/protocol";
import { Argument, Option } from "commander";
import type { AccessFlags } from "../commands/access/flags.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { addAdminFlag } from "./admin-flag.ts";

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Every way in; a missing one fails to compile. Help is printed without loading the protocol. */
const ENTRY_POINTS: Readonly<Record<EntryPoint, true>> = {
  ...{ ads: true, stream: true, fetch: true, rest: true, csds: true, lrs: true, hds: true },
  ...{ health: true, reflection: true, metrics: true, admin: true, "admin-change": true },
};

/** `xds access explain|check [DIR]`: what access rules decide, and what others would change. */
export const addAccessCommand: AddCommand = (program, context) => {
  const command = program
    .command("access")
    .summary("explain access decisions, and check new rules")
    .description(
      "explain: say whether a caller has access, and which rule decides. check: list connected clients that would lose or gain access under the rules of a directory.",
    )
    .addArgument(new Argument("<what>", "what to do").choices(["explain", "check"]))
    .argument("[dir]", "directory whose rules count; explain without it asks a running server");
  addAdminFlag(command)
    .option("--cert <file>", "PEM file of the caller's certificate")
    .option(
      "-i, --identity <identity>",
      "identity of the caller: uri:URI, dns:NAME, cn:NAME, address:IP, certificate, tls or loopback; may be repeated",
      collect,
    )
    .option("-n, --node <id>", "node id that it claims")
    .option("-c, --cluster <name>", "cluster that it claims")
    .option("-t, --type <type>", "a type: cds, eds … or a type URL")
    .option("--name <name>", "name of a resource of that type")
    .addOption(new Option("-e, --entry <entry>", "entry point").choices(Object.keys(ENTRY_POINTS)).default("ads"))
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action((what: "explain" | "check", directory: string | undefined, flags: AccessFlags) =>
      context.perform(async () => (await import("../commands/access.ts")).access(what, directory, flags, context)),
    );
  addExamples(command, [
    [
      "xds access explain config --cert edge.crt --node edge-7 --type sds --name edge/key",
      "by the rules of a directory",
    ],
    ["xds access explain -i spiffe://prod/sa/edge --node edge-7", "by the rules of the running server"],
    ["xds access explain config -i address:10.0.0.9 --entry csds", "may this address ask for client status?"],
    ["xds access check config --admin 127.0.0.1:18001", "who would lose or gain what under new rules"],
  ]);
};
