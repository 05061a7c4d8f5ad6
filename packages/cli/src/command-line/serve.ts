import { resolve } from "node:path";
import { addSettingFlags } from "../settings/setting-flag.ts";
import { type AddCommand, addExamples } from "./add-command.ts";

/** `xds serve DIR`: serves a directory and follows its changes until interrupted. */
export const addServeCommand: AddCommand = (program, context) => {
  const command = program
    .command("serve")
    .summary("serve a directory or a module of resources")
    .description(
      "Serve a directory of resources, or what a module exports, to Envoy and gRPC clients. Changes are applied atomically and without " +
        "a restart; if anything has an error, the last valid configuration stays in force.",
    )
    .argument(
      "[dir]",
      "directory, or module that exports resources, to serve; xdskit.yaml in its directory may contain any setting; without it the server follows --store",
    )
    .action((directory: string | undefined, flags: Readonly<Record<string, unknown>>) =>
      context.performUntilInterrupted(async () => {
        // Loading the modules of the thread takes as long as loading those of the server.
        if (directory !== undefined)
          (await import("@xdskit/source/thread")).startReaderThread(resolve(context.io.cwd, directory));
        return await (await import("../commands/serve.ts")).serve(directory, flags, context);
      }),
    );
  addSettingFlags(command);
  command.addHelpText(
    "after",
    "\nEach setting is a flag, the environment variable in brackets, and a key of xdskit.yaml. A flag\n" +
      "overrides a variable, and a variable overrides the file. If the settings in xdskit.yaml have an error,\n" +
      "the command exits with 1. If the first load has no resources or has errors, clients are rejected\n" +
      "(UNAVAILABLE) until that is corrected.\n" +
      "\nSIGHUP reloads the directory and the certificates, and replaces the workers one by one. Closing the terminal stops the server.\n" +
      "The directory must exist at the start; it may be replaced while it is served.",
  );
  addExamples(command, [
    ["xds serve config", "serve ./config at 127.0.0.1:18000, the admin API at 127.0.0.1:18001"],
    ["xds serve mesh.ts", "serve what a module exports, followed as it and its imports change"],
    ["xds serve --store etcd://a:2379,b:2379/mesh", "serve what others publish to a store"],
    ["xds serve config --workers auto", "with a process per core for the clients"],
    ["xds serve config --listen :18000 --tls-cert tls.crt --tls-key tls.key", "to the network, over TLS"],
  ]);
};
