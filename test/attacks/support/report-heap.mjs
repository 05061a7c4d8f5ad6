// Loaded into the server under attack: on SIGUSR2 it collects garbage and says how many bytes are left.
import { Session } from "node:inspector/promises";

const session = new Session();
session.connect();
process.on("SIGUSR2", async () => {
  // What a finalizer lets go of is collected by the next round.
  for (let round = 0; round < 3; round++) {
    await session.post("HeapProfiler.collectGarbage");
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`bytes after collection: ${heapUsed + external}\n`);
});
