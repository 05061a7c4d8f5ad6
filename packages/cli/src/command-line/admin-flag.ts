import type { Command } from "commander";

/** Adds `--admin`, the address of the admin API. */
export function addAdminFlag(command: Command): Command {
  return command.option(
    "-a, --admin <address>",
    "admin API of the server: host:port or unix:PATH (default: 127.0.0.1:18001) [XDS_ADMIN]",
  );
}

/** Adds the flags that filter a list of nodes. */
export function addNodeFilterFlags(command: Command): Command {
  return command
    .option("--cluster <glob>", "only nodes of this cluster")
    .option("--user-agent <glob>", "only nodes of this build: 'envoy 1.3*'");
}
