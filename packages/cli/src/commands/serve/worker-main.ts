import { createWorker, runWorker } from "@xdskit/server/internal";
import { outputTo } from "../../io.ts";
import { mostConnections } from "../../open-files.ts";
import { chooseColors } from "../../output/color.ts";
import { type CommandLog, createLog } from "../../output/log.ts";
import { createApi, loadDescriptors } from "../../settings/load-api.ts";
import { resolveSettings } from "../../settings/resolve-settings.ts";
import { serverOptionsOf } from "../../settings/server-options.ts";
import type { WorkerSetup } from "./workers.ts";

/** What the primary logs for all processes. */
const toldByPrimary: ReadonlySet<string> = new Set(["ready", "draining", "committed"]);

// The reader may be gone, or its disk full; clients are served on.
process.stderr.on("error", () => undefined);

// Importing this module runs a worker of `xds serve`.
runWorker(async ({ setup, ...worker }) => {
  const { flags, file, cwd, directory, log } = setup as WorkerSetup;
  const { values } = resolveSettings({ flags, env: process.env, file, cwd, directory });
  const { adminSocket: _, ...options } = serverOptionsOf(values, file.listeners, directory, {
    mostConnections: mostConnections(),
  });
  const descriptorFiles = values.list("descriptors");
  const api = createApi(descriptorFiles, await loadDescriptors(descriptorFiles));
  const stderr = outputTo(process.stderr);
  const colors = chooseColors(stderr, log.hasColors ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }, "auto");
  const lines = createLog({ level: values.text("log.level") ?? "info", format: log.format, output: stderr, colors });
  const ofWorker: CommandLog = {
    write(event, fields) {
      if (!toldByPrimary.has(event)) lines.write(event, { worker: worker.start.worker, ...fields });
    },
  };
  return createWorker({ ...options, api, log: ofWorker, admin: false, files: [] }, worker);
});
