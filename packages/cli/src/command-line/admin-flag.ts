import type { Command } from "commander";

/** Adds `--admin`, the address of the admin API, and the flags for TLS. */
export function addAdminFlag(command: Command): Command {
  command.option(
    "-a, --admin <address>",
    "admin API of the server: host:port, https://host:port or unix:PATH (default: 127.0.0.1:18001) [XDS_ADMIN_SERVER]",
  );
  return addAdminTlsFlags(command);
}

/** Adds the flags for an admin API with TLS. */
export function addAdminTlsFlags(command: Command): Command {
  return command
    .option("--admin-ca <file>", "PEM file with the CA of the admin API's certificate [XDS_ADMIN_CA]")
    .option("--admin-cert <file>", "PEM file with your certificate for the admin API [XDS_ADMIN_CERT]")
    .option("--admin-key <file>", "PEM file with its private key [XDS_ADMIN_KEY]");
}

/** Adds the flags that filter a list of nodes. */
export function addNodeFilterFlags(command: Command): Command {
  return command
    .option("--cluster <glob>", "only nodes of this cluster")
    .option("--user-agent <glob>", "only nodes of this build: 'envoy 1.3*'");
}
