import { addAccessCommand } from "./access.ts";
import type { AddCommand } from "./add-command.ts";
import { addBootstrapCommand } from "./bootstrap.ts";
import { addCheckCommand } from "./check.ts";
import { addCompletionCommand } from "./completion.ts";
import { addDeliveriesCommand } from "./deliveries.ts";
import { addDumpCommand } from "./dump.ts";
import { addExportCommand } from "./export.ts";
import { addGetCommand } from "./get.ts";
import { addLoadsCommand } from "./loads.ts";
import { addNodesCommand } from "./nodes.ts";
import { addServeCommand } from "./serve.ts";
import { addStatusCommand } from "./status.ts";
import { addValidateCommand } from "./validate.ts";
import { addWaitCommand } from "./wait.ts";
import { addWatchCommand } from "./watch.ts";

/** Every command, in the order of the help. */
export const commands: readonly AddCommand[] = [
  addServeCommand,
  addValidateCommand,
  addExportCommand,
  addGetCommand,
  addWatchCommand,
  addDumpCommand,
  addCheckCommand,
  addStatusCommand,
  addWaitCommand,
  addNodesCommand,
  addDeliveriesCommand,
  addLoadsCommand,
  addAccessCommand,
  addBootstrapCommand,
  addCompletionCommand,
];
