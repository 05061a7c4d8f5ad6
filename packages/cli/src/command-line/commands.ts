import { addAccessCommand } from "./access.ts";
import type { AddCommand } from "./add-command.ts";
import { addBootstrapCommand } from "./bootstrap.ts";
import { addCheckCommand } from "./check.ts";
import { addCompletionCommand } from "./completion.ts";
import { addApproveCommand, addRejectCommand, addRollbackCommand } from "./decide.ts";
import { addDeliveriesCommand } from "./deliveries.ts";
import { addDiffCommand } from "./diff.ts";
import { addDumpCommand } from "./dump.ts";
import { addExportCommand } from "./export.ts";
import { addGetCommand } from "./get.ts";
import { addHistoryCommand } from "./history.ts";
import { addLoadsCommand } from "./loads.ts";
import { addNodesCommand } from "./nodes.ts";
import { addPlanCommand } from "./plan.ts";
import { addPublishCommand } from "./publish.ts";
import { addServeCommand } from "./serve.ts";
import { addShowCommand } from "./show.ts";
import { addStatusCommand } from "./status.ts";
import { addStoreCommand } from "./store.ts";
import { addTopCommand } from "./top.ts";
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
  addPlanCommand,
  addStatusCommand,
  addTopCommand,
  addWaitCommand,
  addPublishCommand,
  addHistoryCommand,
  addShowCommand,
  addApproveCommand,
  addRejectCommand,
  addRollbackCommand,
  addStoreCommand,
  addNodesCommand,
  addDeliveriesCommand,
  addDiffCommand,
  addLoadsCommand,
  addAccessCommand,
  addBootstrapCommand,
  addCompletionCommand,
];
