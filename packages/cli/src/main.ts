import { exitCode } from "./exit-code.ts";
import { createProcessIo } from "./io.ts";
import { run } from "./run.ts";

const LEAVE_WITHIN_MS = 100;

// Importing this module runs the command, as `bin/xds.js` does.
const io = createProcessIo();
const code = await run(process.argv.slice(2), io);
// Sets the exit code instead of exiting, so that pending output is written. An interrupted command exits soon, as
// abandoned work would keep the process alive.
process.exitCode = code;
if (code === exitCode.interrupted) setTimeout(() => process.exit(code), LEAVE_WITHIN_MS);
// Ends as a program without a handler of the signal does. Node aborts when it cannot restore a closed terminal.
if (io.interrupted.reason === "SIGHUP") {
  process.removeAllListeners("SIGHUP");
  process.kill(process.pid, "SIGHUP");
}
