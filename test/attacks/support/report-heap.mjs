// Loaded into the server under attack: on SIGUSR2, collects garbage and prints the number of bytes in use.
import { Session } from "node:inspector/promises";

const session = new Session();
session.connect();
process.on("SIGUSR2", async () => {
  // Objects that a finalizer releases need another round.
  for (let round = 0; round < 3; round++) {
    await session.post("HeapProfiler.collectGarbage");
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`bytes after collection: ${heapUsed + external}\n`);
});
