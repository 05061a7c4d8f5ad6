import type { RevisionAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { count, dateOf, since } from "../format.ts";
import { useLive } from "../live.ts";
import { Field, Select } from "../parts/fields.tsx";
import { ProgressBar, useProgress } from "../parts/progress.tsx";
import { About, RevisionBadge, RevisionLink } from "../parts/revision-badge.tsx";
import { changesText, isEffective, kindText } from "../revision.ts";
import { linkTo, type Place, setParameter } from "../router.ts";
import { useHistory } from "../use-history.ts";

/** Of so many of the newest revisions it is shown who has them. */
const WITH_PROGRESS = 5;
const everyKind = Object.keys(kindText);
const filters = ["kind", "author", "resource"] as const;

/** What was published and decided, newest first. */
export function Revisions({ place: { query } }: { readonly place: Place }): JSX.Element {
  const { ledger, reloads } = useLive();
  const { kind, author, resource } = query;
  const parameters = {
    kind: kind === undefined ? everyKind.filter((one) => one !== "live") : kind === "all" ? [] : [kind],
    author: patternOf(author),
    resource: patternOf(resource),
  };
  const { items, next, error, isAsked, more } = useHistory(parameters, `${ledger?.number} ${reloads}`);
  const followed = new Set(items.filter(isEffective).slice(0, WITH_PROGRESS));
  const isFiltered = filters.some((name) => query[name] !== undefined);
  return (
    <>
      <h1>
        Revisions <small>{ledger === undefined ? "" : count(ledger.number)}</small>
      </h1>
      <search class="filters" aria-label="Filter revisions">
        <Select
          label="Kind"
          name="kind"
          value={kind}
          none="all but live data"
          options={[["all", "all"], ...everyKind.map((one) => [one, kindText[one] ?? one] as const)]}
          onChange={setParameter}
        />
        <Field label="Author" name="author" value={author} hint="any" onChange={setParameter} />
        <Field label="Changes resource" name="resource" value={resource} hint="any" onChange={setParameter} />
        {isFiltered && (
          <a class="clear" href={linkTo("/revisions")}>
            Clear filters
          </a>
        )}
        <a class="clear" href={linkTo("/diff")}>
          Compare two
        </a>
      </search>
      {error !== undefined && (
        <p class="alarm" role="alert">
          {error}
        </p>
      )}
      <ol class="timeline" aria-label="Revisions, newest first" aria-busy={isAsked}>
        {items.map((record) => (
          <Row
            key={record.number}
            record={record}
            isHeld={record.number === ledger?.held}
            isFollowed={followed.has(record)}
          />
        ))}
      </ol>
      {!isAsked && items.length === 0 && error === undefined && (
        <p class="note">{isFiltered ? "No revision matches these filters." : "Nothing was published yet."}</p>
      )}
      {next !== undefined && (
        <p>
          <button type="button" onClick={() => void more()}>
            Show older
          </button>
        </p>
      )}
    </>
  );
}

/** A name without a wildcard is what the name contains. */
function patternOf(value: string | undefined): string | undefined {
  return value === undefined || value.includes("*") ? value : `*${value}*`;
}

function Row({
  record,
  isHeld,
  isFollowed,
}: {
  readonly record: RevisionAnswer;
  readonly isHeld: boolean;
  readonly isFollowed: boolean;
}): JSX.Element {
  const { number, kind, time, author, message, writer, git } = record;
  return (
    <li class={isHeld ? "entry held" : "entry"}>
      <div class="what">
        <strong class="number">
          <RevisionLink number={number} />
        </strong>
        <RevisionBadge kind={kind} />
        {isHeld && <span class="badge waiting">awaits a decision</span>}
        <span class="about">
          <About record={record} />
        </span>
        <time dateTime={time} title={dateOf(time)}>
          {since(time)} ago
        </time>
      </div>
      {message !== undefined && <p class="message">{message}</p>}
      <p class="note">
        {[
          author,
          writer,
          git && `commit ${git.commit.slice(0, 10)}${git.isDirty ? " with uncommitted changes" : ""}`,
          changesText(record),
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      {isFollowed && <Progress number={number} />}
    </li>
  );
}

function Progress({ number }: { readonly number: number }): JSX.Element | null {
  const answer = useProgress(number, 0);
  return answer === undefined ? null : <ProgressBar answer={answer} />;
}
