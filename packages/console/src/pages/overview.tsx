import type {
  LiveEvents,
  NodeGroupAnswer,
  NodesAnswer,
  ProgressAnswer,
  SampleAnswer,
  SamplesAnswer,
} from "@xdskit/server";
import type { JSX } from "preact";
import { lackText } from "../condition.ts";
import { bytes, count, counted, since, span, timeOfDay, typeName } from "../format.ts";
import { useLive } from "../live.ts";
import { type Concern, ConcernList } from "../parts/attention.tsx";
import { Chart, type Point } from "../parts/chart.tsx";
import { FleetBar, FleetCounts } from "../parts/condition.tsx";
import { Problems } from "../parts/problems.tsx";
import { Servers } from "../parts/servers.tsx";
import { Wait } from "../parts/wait.tsx";
import { linkTo } from "../router.ts";
import { useAnswer } from "../use-answer.ts";
import type { Attention } from "../use-attention.ts";
import { useClock } from "../use-clock.ts";

/** The question looks at every client, so that it is asked rarely, in milliseconds. */
const BEHIND_REST_MS = 5_000;
/** An hour of samples is a long answer, and the server takes one every ten seconds. */
const HOUR_REST_MS = 10_000;

/** Whether the fleet has what it should, who has not, and how the server is doing. */
export function Overview({
  concerns,
  attention,
}: {
  readonly concerns: readonly Concern[] | undefined;
  readonly attention: Attention;
}): JSX.Element {
  const { nodes, progress, source, ledger } = useLive();
  return (
    <>
      <h1>Overview</h1>
      {concerns !== undefined && <ConcernList concerns={concerns} />}
      <div class="cards">
        <Fleet nodes={nodes} />
        <Revision progress={progress} inForce={ledger?.inForce} />
        <Source source={source} />
      </div>
      {source !== undefined && source.errors + source.warnings > 0 && <Problems changes={source.since} />}
      <Rejections changes={nodes?.changes} nacked={nodes?.nacked ?? 0} />
      <Behind progress={progress} changes={nodes?.changes} />
      <Servers attention={attention} />
      <Hour revision={progress?.head} />
      <div class="columns">
        <Groups title="By cluster" groups={nodes?.clusters ?? []} filter="cluster" />
        {nodes !== undefined && nodes.groups.length > 0 && (
          <Groups title="By group" groups={nodes.groups} filter="layer" prefix="group/" />
        )}
        <Groups title="By client build" groups={nodes?.userAgents ?? []} filter="user-agent" />
      </div>
    </>
  );
}

function Fleet({ nodes }: { readonly nodes: LiveEvents["nodes"] | undefined }): JSX.Element {
  const counts = nodes ?? { total: 0, nacked: 0, waiting: 0, pending: 0, acked: 0, streams: 0 };
  return (
    <section class="card wide" aria-labelledby="fleet">
      <h2 id="fleet">
        <a href={linkTo("/nodes")}>{counted(counts.total, "node")}</a>
        <small>{counted(counts.streams, "stream")}</small>
      </h2>
      <FleetBar counts={counts} />
      <FleetCounts counts={counts} />
    </section>
  );
}

function Revision({
  progress,
  inForce,
}: {
  /** The number of the newest change in force; after it there may be decisions, and what is held. */
  readonly inForce: number | undefined;
  readonly progress: LiveEvents["progress"] | undefined;
}): JSX.Element {
  const { deployed: has = 0, pending = 0, nacked = 0 } = progress ?? {};
  const head = inForce ?? progress?.head ?? 0;
  // Without those who only look, such as `xds watch`: nobody waits for them.
  const total = has + pending + nacked;
  const share = total === 0 ? 1 : has / total;
  const percent = share === 1 ? 100 : Math.min(99, Math.floor(share * 100));
  const state = pending > 0 ? "being deployed" : nacked > 0 ? "NACKed by some" : "deployed";
  return (
    <section class="card" aria-labelledby="revision">
      <h2 id="revision">
        <a href={linkTo("/revision", { number: `${head}` })}>Revision {count(head)}</a> <small>{state}</small>
      </h2>
      <p class="figure">
        {percent} <small>% of the nodes have it</small>
      </p>
      <div class="meter" role="img" aria-label={`${percent} % of the nodes have revision ${head}`}>
        <span class={nacked > 0 && pending === 0 ? "nacked" : "acked"} style={{ width: `${share * 100}%` }} />
      </div>
      <p class="note">
        <a href={linkTo("/nodes", { has: "head" })}>
          {count(has)} {has === 1 ? "has" : "have"} it
        </a>
        {has < total && (
          <>
            {" · "}
            <a href={linkTo("/nodes", { lacks: "head" })}>{count(total - has)} do not</a>
          </>
        )}
      </p>
    </section>
  );
}

function Source({ source }: { readonly source: LiveEvents["source"] | undefined }): JSX.Element {
  const { state = "loading", errors = 0, warnings = 0 } = source ?? {};
  const text = { good: "Good", failed: "Failed", loading: "Loading" }[state];
  return (
    <section class="card" aria-labelledby="source">
      <h2 id="source">Source</h2>
      <p class={`figure ${state === "failed" ? "nacked" : state === "good" ? "acked" : ""}`}>{text}</p>
      <p class="note">
        {source === undefined ? "" : `for ${since(source.since)}`}
        {errors > 0 && ` · ${counted(errors, "error")}`}
        {warnings > 0 && ` · ${counted(warnings, "warning")}`}
      </p>
      {state === "failed" && <p class="note">The previous configuration stays in force.</p>}
    </section>
  );
}

/** The first nodes that the newest revision is still on its way to, and what each of them waits for. */
function Behind({
  progress,
  changes,
}: {
  readonly progress: LiveEvents["progress"] | undefined;
  readonly changes: number | undefined;
}): JSX.Element | null {
  const isBehind = (progress?.pending ?? 0) > 0;
  const { answer } = useAnswer<ProgressAnswer>("progress/head", { limit: 5 }, isBehind ? changes : 0, BEHIND_REST_MS);
  if (!isBehind || answer === undefined || answer.pending.total === 0) return null;
  return (
    <section class="card" aria-labelledby="behind">
      <h2 id="behind">
        Behind <small>{count(answer.pending.total)}</small>
      </h2>
      <ul class="plain">
        {answer.pending.nodes.map(({ id, types }) => (
          <li key={id}>
            <a href={linkTo("/node", { id })}>{id === "" ? "(no id)" : id}</a>{" "}
            {types.slice(0, 1).map((type) => (
              <span key={type.type}>
                {typeName(type)} {type.waits === undefined ? lackText[type.state] : <Wait waits={type.waits} />}
              </span>
            ))}
          </li>
        ))}
      </ul>
      {answer.pending.total > answer.pending.nodes.length && (
        <p class="note">
          <a href={linkTo("/nodes", { lacks: "head" })}>All that do not have the newest revision</a>
        </p>
      )}
    </section>
  );
}

/** The first refusals, each with its reason. */
function Rejections({
  changes,
  nacked,
}: {
  readonly changes: number | undefined;
  readonly nacked: number;
}): JSX.Element | null {
  const { answer } = useAnswer<NodesAnswer>("nodes", { nacked: "true", limit: 5 }, nacked === 0 ? 0 : changes);
  if (nacked === 0 || answer === undefined) return null;
  return (
    <section class="card" aria-labelledby="rejections">
      <h2 id="rejections">NACKed</h2>
      <ul class="plain">
        {answer.items.map(({ id, types }) => (
          <li key={id}>
            <a href={linkTo("/node", { id })}>{id}</a>{" "}
            {types.slice(0, 1).map((type) => (
              <span key={type.type}>
                {typeName(type)}: <q class="reason">{type.nacked?.reason}</q>
              </span>
            ))}
          </li>
        ))}
      </ul>
      {nacked > answer.items.length && (
        <p class="note">
          <a href={linkTo("/nodes", { state: "nacked" })}>All {count(nacked)} of them</a>
        </p>
      )}
    </section>
  );
}

function Hour({ revision }: { readonly revision: number | undefined }): JSX.Element {
  const tick = useClock(10_000);
  const { answer } = useAnswer<SamplesAnswer>("samples", {}, `${tick} ${revision}`, HOUR_REST_MS);
  const items = answer?.items ?? [];
  const plot = (read: (sample: SampleAnswer) => number): readonly Point[] =>
    items.map((sample) => ({ x: Date.parse(sample.at), y: read(sample), label: () => timeOfDay(sample.at) }));
  const revisions = (answer?.revisions ?? []).slice(-40).map(
    ({ revision: number, acks, lastAckMs }): Point => ({
      x: number,
      y: lastAckMs,
      label: () => `revision ${count(number)}, ${counted(acks, "ACK")}`,
    }),
  );
  return (
    <section aria-labelledby="hour">
      <h2 id="hour">The last hour</h2>
      <div class="charts">
        <Chart title="Time to last ACK" points={revisions} format={span} kind="bars" />
        <Chart title="Streams" points={plot(({ streams }) => streams)} format={count} />
        <Chart title="Nodes not in sync" points={plot(({ nodes }) => nodes.total - nodes.acked)} format={count} />
        <Chart title="Memory" points={plot(({ residentBytes }) => residentBytes)} format={bytes} />
        <Chart title="Heap" points={plot(({ heapBytes }) => heapBytes)} format={bytes} />
        <Chart title="Event-loop delay" points={plot(({ lagMs }) => lagMs)} format={span} />
      </div>
    </section>
  );
}

function Groups({
  title,
  groups,
  filter,
  prefix = "",
}: {
  readonly title: string;
  readonly groups: readonly NodeGroupAnswer[];
  readonly filter: string;
  /** What the filter has before the name. */
  readonly prefix?: string;
}): JSX.Element {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {groups.length === 0 && <p class="note">No node is connected.</p>}
      <ul class="groups">
        {groups.map((group) => (
          <li key={group.name}>
            <a href={linkTo("/nodes", { [filter]: `${prefix}${group.name}` })}>
              <span class="name">{group.name === "" ? "(none)" : group.name}</span>
              <span class="number">{count(group.total)}</span>
              <FleetBar counts={group} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
