import { useEffect, useState } from "preact/hooks";

/** Grows every so many milliseconds. */
export function useClock(ms: number): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((value) => value + 1), ms);
    return () => clearInterval(timer);
  }, [ms]);
  return tick;
}
