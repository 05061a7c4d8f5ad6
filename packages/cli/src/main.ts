import { exitCode } from "./exit-code.ts";
import { createProcessIo } from "./io.ts";
import { run } from "./run.ts";

const LEAVE_WITHIN_MS = 100;

// Importing this module runs the command: `bin/xds.js` does nothing else.
const code = await run(process.argv.slice(2), createProcessIo());
// No exit: output that is still on its way keeps the process alive. So would work that was given up; it gets no longer.
process.exitCode = code;
if (code === exitCode.interrupted) setTimeout(() => process.exit(code), LEAVE_WITHIN_MS);
