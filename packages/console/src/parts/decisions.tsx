import type { CallerAnswer } from "@xdskit/server";
import { createContext, type JSX } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import { useLive } from "../live.ts";
import { useAnswer } from "../use-answer.ts";
import type { Decision } from "./decision-dialog.tsx";

/** Opens the dialog of a decision, which stays while the page below it follows what was decided. */
export const AskForDecision = createContext<(decision: Decision, number: number) => void>(() => undefined);

const labels: Readonly<Record<Decision, string>> = {
  approve: "Approve…",
  reject: "Reject…",
  rollback: "Roll back to here…",
};

/** The decisions that the caller may make on a record. */
export function Decisions({
  number,
  offered,
  label,
}: {
  readonly number: number;
  readonly offered: readonly Decision[];
  /** What the button says in place of the decision's own name. */
  readonly label?: string;
}): JSX.Element | null {
  const askFor = useContext(AskForDecision);
  const caller = useCaller();
  const hasOffered = useRef(false);
  // The button that has the focus goes with what was decided.
  useEffect(() => {
    const isLost = document.activeElement === document.body;
    if (offered.length === 0 && hasOffered.current && isLost) document.querySelector("main")?.focus();
    hasOffered.current = offered.length > 0;
  }, [offered.length]);
  if (caller === undefined || offered.length === 0) return null;
  if (!caller.mayChange) return <p class="note">Only operators decide; you are a {caller.role ?? "guest"}.</p>;
  return (
    <p class="actions">
      {offered.map((decision) => (
        <button key={decision} type="button" class={decision} onClick={() => askFor(decision, number)}>
          {label ?? labels[decision]}
        </button>
      ))}
    </p>
  );
}

/** Who uses the console; undefined until the server said so. */
function useCaller(): CallerAnswer | undefined {
  const { reloads } = useLive();
  return useAnswer<CallerAnswer>("caller", {}, reloads).answer;
}
