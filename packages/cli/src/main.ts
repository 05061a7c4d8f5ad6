import { exitCode } from "./exit-code.ts";
import { createProcessIo } from "./io.ts";

const LEAVE_WITHIN_MS = 100;

// Importing this module runs the command, as `bin/xds.js` does.
const argv = process.argv.slice(2);
const command = argv.find((argument) => !argument.startsWith("-"));
// SIGHUP must not end a server that starts, so the signals are handled before the modules of the commands are loaded.
const io = createProcessIo({ keepsHangup: command === "serve" });
const { run } = await import("./run.ts");
const code = await run(argv, io);
// Sets the exit code instead of exiting, so that pending output is written. An interrupted command exits soon, as
// abandoned work would keep the process alive.
process.exitCode = code;
if (code === exitCode.interrupted) setTimeout(() => process.exit(code), LEAVE_WITHIN_MS);
// Ends as a program without a handler of the signal does. Node aborts when it cannot restore a closed terminal.
if (io.interrupted.reason === "SIGHUP") {
  process.removeAllListeners("SIGHUP");
  process.kill(process.pid, "SIGHUP");
}
