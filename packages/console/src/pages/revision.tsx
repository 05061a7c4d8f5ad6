import type {
  LostNodeAnswer,
  RevisionDetailAnswer,
  RevisionsAnswer,
  ServerAnswer,
  StragglersAnswer,
} from "@xdskit/server";
import type { JSX } from "preact";
import { count, dateOf, since, typeName } from "../format.ts";
import { useLive } from "../live.ts";
import { Changes } from "../parts/changes.tsx";
import type { Decision } from "../parts/decision-dialog.tsx";
import { Decisions } from "../parts/decisions.tsx";
import { Fact } from "../parts/fact.tsx";
import { Fuses } from "../parts/held.tsx";
import { ProgressBar, useProgress } from "../parts/progress.tsx";
import { About, RevisionBadge, RevisionLink } from "../parts/revision-badge.tsx";
import { Wait } from "../parts/wait.tsx";
import { changesText, isEffective } from "../revision.ts";
import { linkTo } from "../router.ts";
import { useAnswer } from "../use-answer.ts";

/** How many stragglers of each kind are named. */
const NAMED = 50;

/** One record of the ledger: what it changes, who has it, and what was decided on it. */
export function RevisionPage({ number }: { readonly number: number }): JSX.Element {
  const { ledger, reloads } = useLive();
  const changes = `${ledger?.number} ${reloads}`;
  const { answer, error } = useAnswer<RevisionDetailAnswer>(`revisions/${number}`, { limit: 1 }, changes);
  const isHeld = ledger?.held === number;
  const emptied = useAnswer<ServerAnswer>("server", {}, changes).answer?.ledger?.emptied?.resources ?? [];
  const isEmptied = emptied.some((one) => one.number === number);
  const newest = ledger?.number ?? number;
  const before = useBefore(number, changes);
  return (
    <>
      <p class="trail">
        <a href={linkTo("/revisions")}>Revisions</a>
        {number > 1 && (
          <>
            {" / "}
            <a href={linkTo("/revision", { number: `${number - 1}` })}>before</a>
          </>
        )}
        {number < newest && (
          <>
            {" / "}
            <a href={linkTo("/revision", { number: `${number + 1}` })}>after</a>
          </>
        )}
      </p>
      <h1 class="name">
        Revision {number} {answer !== undefined && <RevisionBadge kind={answer.kind} />}
      </h1>
      {error !== undefined && (
        <p class="alarm" role="alert">
          {error}
        </p>
      )}
      {answer !== undefined && (
        <>
          <Facts record={answer} />
          <Decided record={answer} isHeld={isHeld} />
          {before === undefined ? (
            <Decisions number={number} offered={offeredOn(answer, { isHeld, isEmptied, newest })} />
          ) : (
            <Decisions number={before} offered={["rollback"]} label="Take it back…" />
          )}
          {isEffective(answer) && <WhoHasIt number={number} />}
          <section aria-labelledby="changes">
            <h2 id="changes">
              {answer.kind === "held" ? "What it would change" : "What it changes"}
              <a href={linkTo("/diff", { from: `${number}`, to: `${newest}` })}>Compare with the newest</a>
            </h2>
            {answer.placement && <p class="note">Groups, client overrides or access rules change too.</p>}
            <Changes route={`revisions/${number}`} />
          </section>
        </>
      )}
    </>
  );
}

/** A held change is decided on; what is not the newest can be brought back. */
function offeredOn(
  record: RevisionDetailAnswer,
  { isHeld, isEmptied, newest }: { readonly isHeld: boolean; readonly isEmptied: boolean; readonly newest: number },
): readonly Decision[] {
  if (isHeld) return ["approve", "reject"];
  if (isEmptied) return ["approve"];
  return isEffective(record) && record.kind !== "live" && record.number < newest ? ["rollback"] : [];
}

/** Who finds the newest change guilty takes it back to the one before; undefined: it is not the newest. */
function useBefore(number: number, changes: string): number | undefined {
  const asked = { stable: "true", limit: 2 };
  const [newest, before] = useAnswer<RevisionsAnswer>("revisions", asked, changes).answer?.items ?? [];
  return newest?.number === number ? before?.number : undefined;
}

function Facts({ record }: { readonly record: RevisionDetailAnswer }): JSX.Element {
  const { time, author, message, writer, git, of, to } = record;
  return (
    <dl class="facts">
      <Fact name="When">
        <time dateTime={time} title={dateOf(time)}>
          {since(time)} ago
        </time>
      </Fact>
      {author !== undefined && <Fact name="Author">{author}</Fact>}
      {message !== undefined && <Fact name="Message">{message}</Fact>}
      {writer !== undefined && <Fact name="Source">{writer}</Fact>}
      {git !== undefined && (
        <Fact name="Commit">
          <code>{git.commit.slice(0, 12)}</code>
          {git.isDirty && " with uncommitted changes"}
        </Fact>
      )}
      {(of ?? to) !== undefined && (
        <Fact name="Decides">
          <About record={record} />
        </Fact>
      )}
      <Fact name="Changes">{changesText(record)}</Fact>
    </dl>
  );
}

/** Why it is held, and what was decided on it. */
function Decided({
  record: { kind, fuses, decisions },
  isHeld,
}: {
  readonly record: RevisionDetailAnswer;
  readonly isHeld: boolean;
}): JSX.Element | null {
  const isReplaced = kind === "held" && !isHeld && decisions.length === 0;
  if (fuses === undefined && decisions.length === 0) return null;
  return (
    <section class={isHeld ? "banner" : "card"} aria-labelledby="decided">
      <h2 id="decided">{isHeld ? "Held: nothing of it is sent until it is approved" : "Decisions"}</h2>
      {fuses !== undefined && <Fuses fuses={fuses} />}
      {isReplaced && <p>A later change took its place.</p>}
      <ul class="plain">
        {decisions.map(({ number, kind: decision, time, author, message }) => (
          <li key={number}>
            <RevisionLink number={number} /> <RevisionBadge kind={decision} /> {since(time)} ago
            {author !== undefined && ` by ${author}`}
            {message !== undefined && `: ${message}`}
          </li>
        ))}
      </ul>
    </section>
  );
}

function WhoHasIt({ number }: { readonly number: number }): JSX.Element | null {
  const answer = useProgress(number, NAMED);
  if (answer === undefined) return null;
  const { nacked, pending, disconnected } = answer;
  return (
    <section class="card" aria-labelledby="progress">
      <h2 id="progress">Who has it</h2>
      <ProgressBar answer={answer} />
      <Stragglers title="NACKed it or an earlier revision" list={nacked} />
      <Stragglers title="Pending" list={pending} />
      <Lost total={disconnected.total} nodes={disconnected.nodes} />
    </section>
  );
}

const stateText = {
  "not-sent": "not sent yet",
  pending: "sent, awaits its ACK",
  removal: "removals wait",
  nacked: "NACKed",
} as const;

function Stragglers({ title, list }: { readonly title: string; readonly list: StragglersAnswer }): JSX.Element | null {
  if (list.total === 0) return null;
  return (
    <>
      <h3>
        {title} <small>{count(list.total)}</small>
      </h3>
      <ul class="plain stragglers">
        {list.nodes.map(({ id, types }) => (
          <li key={id}>
            <a href={linkTo("/node", { id })}>{id === "" ? "(no id)" : id}</a>
            {types.map((type) => (
              <span key={type.type}>
                {" · "}
                {typeName(type)} {stateText[type.state]}
                {type.waits !== undefined && (
                  <>
                    {", "}
                    <Wait waits={type.waits} />
                  </>
                )}
                {type.reason !== undefined && (
                  <>
                    : <q class="reason">{type.reason}</q>
                  </>
                )}
              </span>
            ))}
          </li>
        ))}
      </ul>
      {list.total > list.nodes.length && <p class="note">These are the first {count(list.nodes.length)}.</p>}
    </>
  );
}

function Lost({
  total,
  nodes,
}: {
  readonly total: number;
  readonly nodes: readonly LostNodeAnswer[];
}): JSX.Element | null {
  if (total === 0) return null;
  return (
    <>
      <h3>
        Disconnected without it <small>{count(total)}</small>
      </h3>
      <ul class="plain stragglers">
        {nodes.map(({ id, reached }) => (
          <li key={id}>
            <a href={linkTo("/node", { id })}>{id === "" ? "(no id)" : id}</a>{" "}
            <small>{reached === undefined ? "had none" : `had ${reached}`}</small>
          </li>
        ))}
      </ul>
      {total > nodes.length && <p class="note">These are the first {count(nodes.length)}.</p>}
    </>
  );
}
