import type { Browser, CDPSession } from "playwright-core";

/** A task of a page's main thread, in milliseconds. */
export interface Task {
  /** As the clock says, which on a busy machine includes what other processes took. */
  readonly ms: number;
  /** The processor time of its thread. */
  readonly cpuMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Records the tasks of the main threads of all pages until it is stopped; those below a millisecond are left out. */
export async function recordTasks(browser: Browser): Promise<{ stop(): Promise<readonly Task[]> }> {
  const session: CDPSession = await browser.newBrowserCDPSession();
  const tasks: (Task & { readonly thread: string })[] = [];
  const mainThreads = new Set<string>();
  session.on("Tracing.dataCollected", ({ value }) => {
    for (const event of value as unknown as readonly TraceEvent[]) {
      const thread = `${event.pid} ${event.tid}`;
      if (event.ph === "M" && event.name === "thread_name" && event.args?.name === "CrRendererMain")
        mainThreads.add(thread);
      if (event.ph !== "X" || !event.name.endsWith("RunTask") || (event.dur ?? 0) < 1_000) continue;
      tasks.push({ thread, ms: (event.dur ?? 0) / 1_000, cpuMs: (event.tdur ?? event.dur ?? 0) / 1_000 });
    }
  });
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { recordMode: "recordContinuously", includedCategories: ["toplevel"], excludedCategories: ["*"] },
  });
  return {
    async stop() {
      const complete = new Promise<void>((resolve) => session.once("Tracing.tracingComplete", () => resolve()));
      await session.send("Tracing.end");
      await complete;
      await session.detach();
      return tasks.filter(({ thread }) => mainThreads.has(thread)).map(({ ms, cpuMs }) => ({ ms, cpuMs }));
    },
  };
}
