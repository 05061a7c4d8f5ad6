import type { Command } from "commander";

/** Adds the flag that `nodes` and `deliveries` share. */
export function addAdminFlag(command: Command): Command {
  return command.option("-a, --admin <host:port>", "admin API of the server (default: 127.0.0.1:18001) [XDS_ADMIN]");
}
