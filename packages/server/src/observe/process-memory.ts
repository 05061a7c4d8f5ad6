import { getHeapStatistics } from "node:v8";

/**
 * The resident memory of this process, in bytes. Never throws: the system tells the current value in a file, and gives
 * the highest one so far where none can be opened.
 */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    // Without a free file descriptor (EMFILE), for example.
    return process.resourceUsage().maxRSS * 1024;
  }
}

/** The memory that JavaScript objects use, in bytes. */
export function heapBytes(): number {
  return getHeapStatistics().used_heap_size;
}

/** The memory outside the heap that JavaScript objects hold, such as that of buffers, in bytes. */
export function externalBytes(): number {
  return getHeapStatistics().external_memory;
}
