// The start of the thread that reads large directories, for programs that load much else before they read: this entry
// loads nothing but what decides whether one is needed.
import { availableParallelism } from "node:os";
import { startThread } from "./off-thread/reader-thread.ts";
import { seemsLarge } from "./off-thread/size.ts";

/**
 * Starts the thread for the first source that reads `offThread`, if a directory seems large enough for one and there is
 * a processor for it: loading its modules takes as long as loading those of a server. Does not keep the process running.
 * Never throws.
 */
export function startReaderThread(directory: string): void {
  if (availableParallelism() > 1 && seemsLarge(directory)) startThread();
}
