import { Option } from "commander";
import type { CheckArguments, CheckFlags } from "../commands/check.ts";
import { addNodeFlags } from "../discovery/connection-flags.ts";
import { type AddCommand, addExamples } from "./add-command.ts";
import { readDuration } from "./duration-flag.ts";

/** `xds check [BOOTSTRAP] [TARGET…]`: diagnoses what a client with this bootstrap receives. */
export const addCheckCommand: AddCommand = (program, context) => {
  const command = program
    .command("check")
    .summary("diagnose what a client with a bootstrap receives")
    .description(
      "Subscribe as an Envoy with this bootstrap does, or as a gRPC client that dials the targets, and report whether every reference resolves: " +
        "missing resources, resources that a client rejects, clusters without endpoints, slow responses, and errors in the bootstrap itself.",
    )
    .argument(
      "[bootstrap]",
      "bootstrap of an Envoy or gRPC client: YAML, JSON, .pb or .pb_text; - reads standard input (default: GRPC_XDS_BOOTSTRAP or GRPC_XDS_BOOTSTRAP_CONFIG)",
    )
    .argument("[target...]", "target of a gRPC client: xds:///NAME");
  addNodeFlags(command)
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .addOption(
      new Option("--timeout <duration>", "time to wait for all resources")
        .argParser((text: string) => readDuration("--timeout", text))
        .default(20_000, "20s"),
    )
    .addOption(
      new Option("--slow <duration>", "fail if a resource takes longer to arrive (default: warn above 1s)").argParser(
        (text: string) => readDuration("--slow", text),
      ),
    )
    .option("--strict", "fail on warnings too")
    .action((first: string | undefined, more: readonly string[], flags: CheckFlags) =>
      context.perform(async () =>
        (await import("../commands/check.ts")).check(argumentsOf(first, more), flags, context),
      ),
    );
  addExamples(command, [
    ["xds check envoy.yaml", "listeners, routes, clusters and endpoints, and whether each is there"],
    ["xds check grpc.json xds:///my-service", "what a gRPC client gets that dials xds:///my-service"],
    ["xds check envoy.yaml --node edge-7 --strict", "as another node; clusters without endpoints fail it, too"],
    ["xds check envoy.yaml --slow 200ms", "fail if anything takes longer than 200 ms to come"],
    ["xds bootstrap envoy | xds check -", "a bootstrap from standard input"],
    ["xds check envoy.yaml -o json | jq '.findings[].message'", "what is wrong, a line each"],
  ]);
};

/** An argument that starts with `xds:` is a target; the bootstrap may be omitted when the environment names one. */
function argumentsOf(first: string | undefined, more: readonly string[]): CheckArguments {
  return first?.startsWith("xds:") === true
    ? { path: undefined, targets: [first, ...more] }
    : { path: first, targets: more };
}
