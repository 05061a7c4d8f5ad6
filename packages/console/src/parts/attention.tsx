import type {
  EmptiedAnswer,
  ExpiringAnswer,
  LiveEvents,
  LostReplicaAnswer,
  ReplicaAnswer,
  ServerAnswer,
} from "@xdskit/server";
import type { ComponentChildren, JSX } from "preact";
import { count, counted, since, span, typeName } from "../format.ts";
import type { Live } from "../live.ts";
import { linkTo } from "../router.ts";
import type { Attention } from "../use-attention.ts";
import { RevisionLink } from "./revision-badge.tsx";

const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** Something that whoever is paged should know. */
export interface Concern {
  readonly key: string;
  /** `now`: something fails or is refused. `soon`: it does if nobody acts. */
  readonly urgency: "now" | "soon";
  readonly text: ComponentChildren;
}

/** Everything that is wrong, the urgent first. */
export function concernsOf(
  { server, behind, lost, replicasProblem, failing }: Attention,
  live: Live,
): readonly Concern[] {
  const concerns = [
    ...readiness(live.server),
    ...source(live.source, server),
    ...held(live.ledger),
    ...nodes(live.nodes),
    ...failing.map(
      ({ cluster, failed, all }): Concern => ({
        key: `failing ${cluster}`,
        urgency: "now",
        text: (
          <>
            {count(failed)} of {counted(all, "request")} to cluster{" "}
            <a href={linkTo("/resource", { type: CLUSTER, name: cluster })}>{cluster}</a> failed since the report
            before: <a href={linkTo("/traffic", { cluster })}>traffic</a>,{" "}
            <a href={linkTo("/revisions")}>what changed lately</a>.
          </>
        ),
      }),
    ),
    ...(server?.ledger?.emptied?.resources ?? []).map(emptied),
    ...store(server?.ledger),
    ...behind.map(replica),
    ...lost.map(lostReplica),
    ...(replicasProblem === undefined || server?.ledger?.store?.awaySince !== undefined
      ? []
      : [
          {
            key: "replicas",
            urgency: "now",
            text: `The store does not answer, so the other replicas are not known: ${replicasProblem}.`,
          } as const,
        ]),
    ...(server?.heldTrust ?? []).map(
      ({ id, files, message, since: at }): Concern => ({
        key: id,
        urgency: "now",
        text: (
          <>
            New CAs or revocation lists (<code>{files.join(", ")}</code>) have been held for {since(at)}: {message}.
            Correct the files, or <code>xds approve {id}</code>.
          </>
        ),
      }),
    ),
    ...(server?.expiring?.certificates ?? []).map(expiring),
  ];
  return concerns.toSorted((a, b) => Number(a.urgency === "soon") - Number(b.urgency === "soon"));
}

/** How urgent the most urgent is. */
export function worst(concerns: readonly Concern[]): Concern["urgency"] {
  return concerns.some(({ urgency }) => urgency === "now") ? "now" : "soon";
}

/** On the overview: what is wrong, each with the way to its cause. */
export function ConcernList({ concerns }: { readonly concerns: readonly Concern[] }): JSX.Element {
  if (concerns.length === 0) return <p class="verdict acked">Nothing needs attention.</p>;
  return (
    <section class={`verdict attention ${worst(concerns)}`} aria-labelledby="attention">
      <h2 id="attention">
        Needs attention <small>{concerns.length}</small>
      </h2>
      <ul class="plain">
        {concerns.map(({ key, urgency, text }) => (
          <li key={key}>
            <span class={`badge ${urgency === "now" ? "nacked" : "pending"}`}>{urgency}</span> {text}
          </li>
        ))}
      </ul>
    </section>
  );
}

function readiness(server: LiveEvents["server"] | undefined): readonly Concern[] {
  if (server === undefined || server.reasons.length === 0) return [];
  const state = server.draining ? "The server is draining" : server.ready ? "Ready, but" : "The server is not ready";
  return [{ key: "ready", urgency: "now", text: `${state}: ${server.reasons.join("; ")}.` }];
}

function source(live: LiveEvents["source"] | undefined, server: ServerAnswer | undefined): readonly Concern[] {
  if (live?.state === "failed")
    return [
      {
        key: "source",
        urgency: "now",
        text: `The files have ${counted(live.errors, "error")}, so nothing of them is sent; clients keep what was in force before. The problems are listed below.`,
      },
    ];
  const differs = server?.source.differs;
  return differs === undefined
    ? []
    : [{ key: "differs", urgency: "soon", text: `What the files have is not in force: ${differs}.` }];
}

function held(ledger: LiveEvents["ledger"] | undefined): readonly Concern[] {
  if (ledger?.held === undefined) return [];
  return [
    {
      key: "held",
      urgency: "now",
      text: (
        <>
          <RevisionLink number={ledger.held} text={`Revision ${ledger.held}`} /> is held until somebody decides.
        </>
      ),
    },
  ];
}

/** Who refuses; a build of which all do is named. */
function nodes(live: LiveEvents["nodes"] | undefined): readonly Concern[] {
  if (live === undefined || live.nacked === 0) return [];
  const builds = live.userAgents.filter(({ nacked }) => nacked > 0);
  const [only] = builds;
  const isOne = builds.length === 1 && only !== undefined && live.userAgents.length > 1;
  return [
    {
      key: "nacked",
      urgency: "now",
      text: (
        <>
          <a href={linkTo("/nodes", { state: "nacked" })}>
            {counted(live.nacked, "node")} NACKed what {live.nacked === 1 ? "it was" : "they were"} sent
          </a>
          {isOne && (
            <>
              , all of build <a href={linkTo("/nodes", { state: "nacked", "user-agent": only.name })}>{only.name}</a> (
              {count(only.nacked)} of {count(only.total)})
            </>
          )}
          . They keep what they had; the reasons are below.
        </>
      ),
    },
  ];
}

function emptied({ layer, type, name, number, until, file, line, ...rest }: EmptiedAnswer): Concern {
  const place = file === undefined ? layer : `${file}${line === undefined ? "" : `:${line}`}`;
  return {
    key: `emptied ${layer} ${name}`,
    urgency: "now",
    text: (
      <>
        {typeName({ type, ...rest })} <a href={linkTo("/resource", { type, name })}>{name}</a> (<code>{place}</code>)
        became empty. Clients keep those of before; the empty list is sent in{" "}
        {span(Math.max(0, Date.parse(until) - Date.now()))} unless endpoints come back. If it is meant, approve{" "}
        <RevisionLink number={number} text={`revision ${number}`} />.
      </>
    ),
  };
}

function store(ledger: ServerAnswer["ledger"]): readonly Concern[] {
  const { inMemoryReason, store: shared } = ledger ?? {};
  const concern = (key: string, text: string): Concern => ({ key, urgency: "now", text });
  const { awaySince, awayReason, stoppedSince, stopReason, lag = 0, lagSince, copy } = shared ?? {};
  return [
    ...(inMemoryReason === undefined
      ? []
      : [concern("memory", `The history is in memory only, and lost at the next restart: ${inMemoryReason}.`)]),
    ...(awaySince === undefined
      ? []
      : [
          concern(
            "away",
            `This server has not reached its store for ${since(awaySince)}, and may be behind the others: ${awayReason ?? ""}. It serves what it has; changes are refused.`,
          ),
        ]),
    ...(stoppedSince === undefined
      ? []
      : [
          concern(
            "stopped",
            `This server has applied nothing of its store for ${since(stoppedSince)}: ${stopReason ?? ""}.`,
          ),
        ]),
    ...(copy?.inPlace === true
      ? [concern("copy", `This server serves its local copy, up to record ${copy.number}, since its start.`)]
      : []),
    ...(copy?.problem === undefined
      ? []
      : [concern("copy-problem", `The local copy cannot be written: ${copy.problem}.`)]),
    ...(lagSince !== undefined && Date.now() - Date.parse(lagSince) > LONG_MS && stoppedSince === undefined
      ? [concern("lag", `This server has been ${counted(lag, "record")} behind its store for ${since(lagSince)}.`)]
      : []),
  ];
}

/** A lag of less is that of any change, in milliseconds. */
const LONG_MS = 5_000;

function replica({ name, address, number, lag, nodes: connected, stoppedSince }: ReplicaAnswer): Concern {
  const who = address === undefined ? name : `${name} at ${address}`;
  const how =
    stoppedSince === undefined ? `is ${counted(lag, "record")} behind` : `has stopped ${since(stoppedSince)} ago`;
  return {
    key: `replica ${name} ${address}`,
    urgency: "now",
    text: (
      <>
        Replica {who} {how}: it has <RevisionLink number={number} text={`record ${number}`} />, and{" "}
        {counted(connected, "connected node")}.
      </>
    ),
  };
}

function lostReplica({ id, name, address, number, nodes: connected }: LostReplicaAnswer): Concern {
  return {
    key: `lost ${id}`,
    urgency: "now",
    text: (
      <>
        Replica {address === undefined ? name : `${name} at ${address}`} was lost: it ended, or cannot reach the store,
        without leaving it. At last it had <RevisionLink number={number} text={`record ${number}`} />, and{" "}
        {counted(connected, "connected node")}.
      </>
    ),
  };
}

function expiring({ use, name, type, file, line, subject, expiresAt, isExpired }: ExpiringAnswer): Concern {
  const left = span(Math.max(0, Date.parse(expiresAt) - Date.now()));
  const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}`;
  return {
    key: `expiring ${use} ${name} ${file}`,
    urgency: isExpired ? "now" : "soon",
    text: (
      <>
        The certificate of {subject}, in{" "}
        {name === undefined || type === undefined ? (
          <code>{use}</code>
        ) : (
          <>
            Secret <a href={linkTo("/resource", { type, name })}>{name}</a>
          </>
        )}{" "}
        {place !== "" && (
          <>
            (<code>{place}</code>){" "}
          </>
        )}
        {isExpired ? `expired ${since(expiresAt)} ago` : `expires in ${left}`}, and was not renewed.
      </>
    ),
  };
}
