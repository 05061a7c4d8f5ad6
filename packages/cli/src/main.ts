import { createProcessIo } from "./io.ts";
import { run } from "./run.ts";

// Importing this module runs the command: `bin/xds.js` does nothing else. Output that is still on its way keeps the
// process alive, so there is no exit here.
process.exitCode = await run(process.argv.slice(2), createProcessIo());
