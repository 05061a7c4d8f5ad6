import type { LoadAnswer, LoadsAnswer, LocalityLoadAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { count, since } from "../format.ts";
import { Field } from "../parts/fields.tsx";
import { linkTo, type Place, setParameter } from "../router.ts";
import { PACED_BY_CLOCK, useAnswer } from "../use-answer.ts";
import { useClock } from "../use-clock.ts";

/** Clusters that are asked for; more are in the admin API. */
const MOST = 1_000;
/** Rows that are shown at once: thousands would keep the browser busy with each answer. */
const PAGE = 100;
/** How often reports are asked for, in milliseconds: clients report every few seconds. */
const ASK_MS = 5_000;
const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

interface Row extends LocalityLoadAnswer {
  readonly cluster: string;
  readonly service: string;
  readonly place: string;
  readonly lastReportAt: string;
}

interface Column {
  readonly title: string;
  readonly read: (row: Row) => number;
  readonly text: (row: Row) => string;
  readonly kind: "acked" | "nacked" | "waiting";
}

const columns: readonly Column[] = [
  {
    title: "Requests/s",
    read: (row) => row.requestsPerSecond,
    text: (row) => rate(row.requestsPerSecond),
    kind: "acked",
  },
  { title: "Requests", read: (row) => row.issued, text: (row) => count(row.issued), kind: "acked" },
  { title: "Errors", read: (row) => row.failed, text: errors, kind: "nacked" },
  { title: "In flight", read: (row) => row.inProgress, text: (row) => count(row.inProgress), kind: "waiting" },
];

/** What clients report of their requests (LRS), by cluster and locality. */
export function Traffic({ place: { query } }: { readonly place: Place }): JSX.Element {
  const tick = useClock(ASK_MS);
  const { answer, error } = useAnswer<LoadsAnswer>("loads", { limit: MOST }, tick, PACED_BY_CLOCK);
  const { cluster = "" } = query;
  const rows = (answer?.items ?? []).flatMap(rowsOf).filter((row) => row.cluster.includes(cluster));
  const total = answer?.total ?? 0;
  return (
    <>
      <h1>
        Traffic <small>{answer === undefined ? "" : count(total)}</small>
      </h1>
      <search class="filters" aria-label="Filter traffic">
        <Field label="Cluster" name="cluster" value={cluster} hint="any" onChange={setParameter} />
      </search>
      {error !== undefined && (
        <p class="alarm" role="alert">
          {error}
        </p>
      )}
      {answer !== undefined && rows.length === 0 && (
        <p class="note">
          {total === 0
            ? "No client reports its load yet. Clients do if their bootstrap or their clusters name an LRS server."
            : "No cluster matches this filter."}
        </p>
      )}
      {rows.length > 0 && <LoadTable rows={rows} query={query} />}
      <p class="note">
        Requests and errors are sums since the server started; requests per second and in flight are from the newest
        report of each client.
        {total > MOST && ` These are the first ${count(MOST)} clusters.`}
      </p>
    </>
  );
}

function LoadTable({ rows, query }: { readonly rows: readonly Row[]; readonly query: Place["query"] }): JSX.Element {
  const sorted = query["sort"] ?? "Requests/s";
  const [isAscending, setAscending] = useState(false);
  const [shown, setShown] = useState(PAGE);
  const direction = isAscending ? -1 : 1;
  const column = columns.find(({ title }) => title === sorted);
  const inOrder = rows.toSorted((a, b) =>
    column === undefined
      ? direction * (a.cluster < b.cluster ? -1 : a.cluster > b.cluster ? 1 : 0)
      : direction * (column.read(b) - column.read(a)) || (a.cluster < b.cluster ? -1 : 1),
  );
  const most = columns.map(({ read }) => rows.reduce((top, row) => Math.max(top, read(row)), 1e-9));
  const sortBy = (title: string): void => {
    setAscending(title === sorted && !isAscending);
    setParameter("sort", title);
  };
  const head = (title: string, kind: string): JSX.Element => (
    <th key={title} scope="col" class={kind} aria-sort={title === sorted ? sortName(title, isAscending) : undefined}>
      <button type="button" onClick={() => sortBy(title)}>
        {title}
        {title === sorted && <span aria-hidden="true">{isAscending === (title === "Cluster") ? " ↓" : " ↑"}</span>}
      </button>
    </th>
  );
  return (
    <div class="card listing" tabIndex={0} role="region" aria-label="Load by cluster and locality">
      <table>
        <thead>
          <tr>
            {head("Cluster", "main")}
            <th scope="col">Locality</th>
            {columns.map(({ title }) => head(title, "figure-cell"))}
            <th scope="col" class="figure-cell">
              Reported
            </th>
          </tr>
        </thead>
        <tbody>
          {inOrder.slice(0, shown).map((row) => (
            <LoadRow key={`${row.cluster} ${row.service} ${row.place}`} row={row} most={most} />
          ))}
        </tbody>
      </table>
      {inOrder.length > shown && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          Show more of {count(inOrder.length)}
        </button>
      )}
    </div>
  );
}

/** Numbers are sorted with the largest first at first, names from a to z. */
function sortName(title: string, isAscending: boolean): "ascending" | "descending" {
  return (title === "Cluster") === isAscending ? "descending" : "ascending";
}

/** `most`: the largest value of each column. */
function LoadRow({ row, most }: { readonly row: Row; readonly most: readonly number[] }): JSX.Element {
  const { cluster, service, place, reporters, lastReportAt } = row;
  return (
    <tr>
      <th scope="row" class="main">
        <a href={linkTo("/resource", { type: CLUSTER, name: cluster })}>{cluster}</a>
        {service !== "" && <small> {service}</small>}
      </th>
      <td>{place}</td>
      {columns.map(({ title, read, text, kind }, index) => (
        <td key={title} class="figure-cell">
          {text(row)}
          <span class="small-bar">
            <span class={kind} style={{ width: `${(100 * read(row)) / (most[index] ?? 1)}%` }} />
          </span>
        </td>
      ))}
      <td class="figure-cell">
        {since(lastReportAt)} ago <small>by {count(reporters)}</small>
      </td>
    </tr>
  );
}

function rowsOf({ cluster, service = "", lastReportAt, localities }: LoadAnswer): readonly Row[] {
  return localities.map((locality) => {
    const { region, zone, subZone, priority } = locality;
    const place = [region, zone, subZone].filter(Boolean).join(" / ") || "–";
    return {
      ...locality,
      ...{ cluster, service, lastReportAt },
      place: priority === 0 ? place : `${place}, priority ${priority}`,
    };
  });
}

function rate(perSecond: number): string {
  return perSecond < 10 ? `${Math.round(perSecond * 10) / 10}` : count(Math.round(perSecond));
}

function errors({ failed, issued, succeeded }: Row): string {
  const all = Math.max(issued, succeeded + failed);
  if (failed === 0) return "0";
  const share = (100 * failed) / all;
  return `${count(failed)} (${share < 10 ? share.toFixed(1) : Math.round(share)} %)`;
}
