import type { DecisionAnswer, PlanAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { decide } from "../api.ts";
import { count, counted } from "../format.ts";
import { useLive } from "../live.ts";
import { changesText } from "../revision.ts";
import { useAnswer } from "../use-answer.ts";
import { RevisionLink } from "./revision-badge.tsx";

export type Decision = "approve" | "reject" | "rollback";

/** How long the reason of a decision may be. */
const MAX_MESSAGE = 500;

/** What each decision is called, and what it does. */
const words: Readonly<
  Record<Decision, { readonly title: (number: number) => string; readonly verb: string; readonly does: string }>
> = {
  approve: {
    title: (number) => `Approve revision ${number}`,
    verb: "Approve",
    does: "Puts the held change in force, and sends it to the nodes that it concerns.",
  },
  reject: {
    title: (number) => `Reject revision ${number}`,
    verb: "Reject",
    does: "Drops the held change. Nothing of it was sent, so nothing is sent now. The source still has it: correct the files, or the next edit is judged together with it.",
  },
  rollback: {
    title: (number) => (number === 0 ? "Roll back to the beginning" : `Roll back to revision ${number}`),
    verb: "Roll back",
    does: "Brings back everything but endpoints and other live data as it was then, and holds the source if it has again what is taken back.",
  },
};

/** Asks for a decision: what it would do, how many nodes it concerns, and why it is made. */
export function DecisionDialog({
  decision,
  number,
  onClose,
}: {
  readonly decision: Decision;
  readonly number: number;
  readonly onClose: () => void;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const { title: titleFor, verb, does } = words[decision];
  const [made, setMade] = useState<DecisionAnswer>();
  const { ledger } = useLive();
  // What was decided is not planned again.
  const changes = made === undefined ? ledger?.number : undefined;
  const plan = useAnswer<PlanAnswer>(`plan/${number}`, { decision, limit: 1 }, changes);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={title} onClose={onClose}>
      <h2 id={title}>{titleFor(number)}?</h2>
      {made === undefined ? (
        <>
          <p>{does}</p>
          <Plan plan={plan.answer} error={plan.error} />
          <Question
            verb={verb}
            isPossible={plan.answer !== undefined && plan.answer.result !== "refused"}
            onCancel={() => dialog.current?.close()}
            onConfirm={async (message) => setMade(await decide(`${decision}/${number}`, { message }))}
          />
        </>
      ) : (
        <Result made={made} onClose={() => dialog.current?.close()} />
      )}
    </dialog>
  );
}

function Plan({
  plan,
  error,
}: {
  readonly plan: PlanAnswer | undefined;
  readonly error: string | undefined;
}): JSX.Element {
  if (error !== undefined || plan?.result === "refused")
    return (
      <p class="alarm" role="alert">
        {error ?? plan?.reason}
      </p>
    );
  if (plan === undefined) return <p aria-busy="true">Asking what it would change…</p>;
  const { counts, placement, nodes, fuses = [], irretrievable = [] } = plan;
  const { connected, affected, moved, cutOff } = nodes;
  const sum = (of: "added" | "changed" | "deleted"): number => counts.reduce((all, one) => all + one[of], 0);
  return (
    <div class="plan">
      <p>
        <strong class="figure">{count(affected)}</strong> of {counted(connected, "connected node")} affected.
      </p>
      <ul>
        <li>{changesText({ added: sum("added"), changed: sum("changed"), deleted: sum("deleted"), placement })}</li>
        {fuses.map(({ fuse, message }) => (
          <li key={message}>
            held by {fuse}: {message}
          </li>
        ))}
        {moved > 0 && <li>{counted(moved, "node")} get other layers</li>}
        {cutOff > 0 && <li class="danger">{counted(cutOff, "node")} would not be let in any more</li>}
        {irretrievable.length > 0 && (
          <li class="danger">
            not brought back, because the ledger keeps no secrets: {irretrievable.map(({ name }) => name).join(", ")}
          </li>
        )}
      </ul>
    </div>
  );
}

function Question({
  verb,
  isPossible,
  onCancel,
  onConfirm,
}: {
  readonly verb: string;
  readonly isPossible: boolean;
  readonly onCancel: () => void;
  readonly onConfirm: (message: string) => Promise<void>;
}): JSX.Element {
  const field = useId();
  const [message, setMessage] = useState("");
  const [isAsked, setAsked] = useState(false);
  const [error, setError] = useState<string>();
  const confirm = async (): Promise<void> => {
    setAsked(true);
    setError(undefined);
    await onConfirm(message.trim()).catch((cause: unknown) => {
      setError((cause as Error).message);
      setAsked(false);
    });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isPossible && !isAsked) void confirm();
      }}
    >
      <div class="field">
        <label for={field}>Reason</label>
        <input
          id={field}
          type="text"
          autocomplete="off"
          maxLength={MAX_MESSAGE}
          value={message}
          onInput={({ currentTarget }) => setMessage(currentTarget.value)}
        />
      </div>
      {error !== undefined && (
        <p class="alarm" role="alert">
          {error}
        </p>
      )}
      <p class="actions">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={!isPossible || isAsked}>
          {verb}
        </button>
      </p>
    </form>
  );
}

function Result({ made, onClose }: { readonly made: DecisionAnswer; readonly onClose: () => void }): JSX.Element {
  const { result, number, reason, irretrievable = [] } = made;
  const close = useRef<HTMLButtonElement>(null);
  useEffect(() => close.current?.focus(), []);
  return (
    <>
      <div role="status">
        {result === "refused" && <p class="alarm">Nothing was changed: {reason}</p>}
        {result === "unchanged" && <p>Everything is as it was then: nothing was changed.</p>}
        {result === "applied" && number !== undefined && (
          <p>
            Done. It is recorded as <RevisionLink number={number} />.
          </p>
        )}
        {irretrievable.length > 0 && <p>Not brought back: {irretrievable.map(({ name }) => name).join(", ")}.</p>}
      </div>
      <p class="actions">
        <button type="button" ref={close} onClick={onClose}>
          Close
        </button>
      </p>
    </>
  );
}
