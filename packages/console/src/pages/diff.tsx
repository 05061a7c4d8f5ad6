import type { RevisionsAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { since } from "../format.ts";
import { useLive } from "../live.ts";
import { Changes } from "../parts/changes.tsx";
import { Select } from "../parts/fields.tsx";
import { kindText } from "../revision.ts";
import { linkTo, type Place, setParameter } from "../router.ts";
import { useAnswer } from "../use-answer.ts";

/** How many revisions are offered; others are in the address. */
const OFFERED = 200;
/** What changes the state, but live data, of which there is no history. */
const kinds = ["revision", "approved", "rolled-back"];

/** What differs between any two revisions. */
export function Diff({ place: { query } }: { readonly place: Place }): JSX.Element {
  const { ledger, reloads } = useLive();
  const recent = useAnswer<RevisionsAnswer>(
    "revisions",
    { kind: kinds, limit: OFFERED },
    `${ledger?.number} ${reloads}`,
  );
  const items = recent.answer?.items ?? [];
  const from = query["from"] ?? `${items[1]?.number ?? 0}`;
  const to = query["to"] ?? `${items[0]?.number ?? 0}`;
  const known = items.map(({ number, kind, time, message = "" }) => {
    const what = `${number} · ${kindText[kind]} · ${since(time)} ago`;
    return [`${number}`, message === "" ? what : `${what} · ${message.slice(0, 40)}`] as const;
  });
  const options = (value: string): readonly (readonly [string, string])[] => [
    ...(value === "0" || known.some(([number]) => number === value) ? [] : [[value, value] as const]),
    ...known,
    ["0", "0 · before the first"],
  ];
  return (
    <>
      <p class="trail">
        <a href={linkTo("/revisions")}>Revisions</a>
      </p>
      <h1>Compare two revisions</h1>
      <search class="filters" aria-label="Revisions to compare">
        <Select label="From" name="from" value={from} none={null} options={options(from)} onChange={setParameter} />
        <Select label="To" name="to" value={to} none={null} options={options(to)} onChange={setParameter} />
        <a class="clear" href={linkTo("/diff", { from: to, to: from })}>
          Swap
        </a>
      </search>
      {recent.error !== undefined && (
        <p class="alarm" role="alert">
          {recent.error}
        </p>
      )}
      <h2>What differs</h2>
      {recent.answer !== undefined && <Changes route="diff" parameters={{ from, to }} />}
      <p class="note">Endpoints and other live data have no history, and are not compared.</p>
    </>
  );
}
