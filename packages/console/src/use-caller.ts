import type { CallerAnswer } from "@xdskit/server";
import { useLive } from "./live.ts";
import { useAnswer } from "./use-answer.ts";

/** Who uses the console; undefined until the server said so. */
export function useCaller(): CallerAnswer | undefined {
  const { reloads } = useLive();
  return useAnswer<CallerAnswer>("caller", {}, reloads).answer;
}
