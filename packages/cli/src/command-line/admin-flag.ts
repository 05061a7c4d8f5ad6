import type { Command } from "commander";

/** Adds the flag that `nodes` and `deliveries` share. */
export function addAdminFlag(command: Command): Command {
  return command.option("-a, --admin <host:port>", "admin API of the server (default: 127.0.0.1:18001) [XDS_ADMIN]");
}

/** Adds the filters of lists of nodes. */
export function addNodeFilterFlags(command: Command): Command {
  return command
    .option("--cluster <glob>", "only nodes of this cluster")
    .option("--user-agent <glob>", "only nodes of this build: 'envoy 1.3*'");
}
