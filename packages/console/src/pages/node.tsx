import type {
  NodeAnswer,
  NodeHistoryAnswer,
  NodesAnswer,
  ProgressAnswer,
  StragglerAnswer,
  TypeAnswer,
} from "@xdskit/server";
import type { JSX } from "preact";
import { conditionOf, conditionOfType, lackText } from "../condition.ts";
import { count, counted, dateOf, shortVersion, since, typeName } from "../format.ts";
import { useLive } from "../live.ts";
import { Badge } from "../parts/condition.tsx";
import { Fact } from "../parts/fact.tsx";
import { NodeResources } from "../parts/node-resources.tsx";
import { RevisionLink } from "../parts/revision-badge.tsx";
import { Talk } from "../parts/talk.tsx";
import { Wait } from "../parts/wait.tsx";
import { linkTo } from "../router.ts";
import { useAnswer } from "../use-answer.ts";

/** One node: what it has, what it should have, and what keeps it from that. */
export function NodePage({ id }: { readonly id: string }): JSX.Element {
  const { nodes, progress, ledger, reloads } = useLive();
  const changes = `${nodes?.changes} ${progress?.head} ${progress?.deployed} ${reloads}`;
  const { answer, error } = useAnswer<NodesAnswer>("nodes", { id }, changes);
  const head = useAnswer<ProgressAnswer>("progress/head", { node: id, limit: 1_000 }, changes);
  // The id is a glob to the server.
  const node = answer?.items.find((one) => one.id === id);
  const straggler = [head.answer?.pending, head.answer?.nacked]
    .flatMap((list) => list?.nodes ?? [])
    .find((one) => one.id === id);
  return (
    <>
      <p class="trail">
        <a href={linkTo("/nodes")}>Nodes</a>
      </p>
      <h1 class="name">
        {id} {node !== undefined && <Badge condition={conditionOf(node)} />}
      </h1>
      {error !== undefined && <p role="alert">{error}</p>}
      {answer !== undefined && node === undefined && (
        <p class="alarm" role="alert">
          No connected node has this id.
        </p>
      )}
      {node !== undefined && (
        <>
          <Identity node={node} />
          {head.answer !== undefined && (
            <AtHead revision={ledger?.inForce ?? head.answer.revision} straggler={straggler} />
          )}
          <Talk node={node} />
          <Types node={node} head={ledger?.inForce ?? progress?.head} straggler={straggler} />
          <NodeResources id={id} changes={changes} />
        </>
      )}
      <Past id={id} changes={changes} />
    </>
  );
}

function Identity({ node }: { readonly node: NodeAnswer }): JSX.Element {
  const { cluster, userAgent, locality, layers, streams, connectedAt } = node;
  const place = [locality?.region, locality?.zone, locality?.subZone].filter(Boolean).join(" / ");
  return (
    <dl class="facts">
      <Fact name="Cluster">{cluster === "" ? "–" : <a href={linkTo("/nodes", { cluster })}>{cluster}</a>}</Fact>
      <Fact name="Client build">
        {userAgent === "" ? "–" : <a href={linkTo("/nodes", { "user-agent": userAgent })}>{userAgent}</a>}
      </Fact>
      {place !== "" && <Fact name="Locality">{place}</Fact>}
      <Fact name="Layers">
        {layers.map((layer) => (
          <a key={layer} class="chip" href={linkTo("/resources", { layer })}>
            {layer}
          </a>
        ))}
      </Fact>
      <Fact name="Connected">{connectedAt === undefined ? "–" : `${since(connectedAt)} ago`}</Fact>
      <Fact name={counted(streams.length, "stream")}>
        {streams.map(({ stream, apiVersion, variant, isPoller, peer }) => (
          <span key={stream} class="chip">
            {isPoller === true ? "REST" : variant} {apiVersion}, {peer}
          </span>
        ))}
      </Fact>
      <Fact name="View">
        <a href={linkTo("/resources", { node: node.id })}>its resources</a>
      </Fact>
    </dl>
  );
}

/** Whether it has the newest revision, and what it waits for. */
function AtHead({
  revision,
  straggler,
}: {
  readonly revision: number;
  readonly straggler: StragglerAnswer | undefined;
}): JSX.Element {
  if (straggler === undefined) return <p class="verdict acked">Has revision {count(revision)}, the newest.</p>;
  return (
    <section class="verdict pending" aria-labelledby="at-head">
      <h2 id="at-head">Does not have revision {count(revision)}</h2>
      <ol class="sequence">
        {straggler.types.map((type) => (
          <li key={type.type}>
            <strong>{typeName(type)}</strong> {lackText[type.state]}
            {type.waits !== undefined && (
              <>
                {": "}
                <Wait waits={type.waits} />
              </>
            )}
            {type.reason !== undefined && (
              <>
                {": "}
                <q class="reason">{type.reason}</q>
              </>
            )}
            {type.names !== undefined && <small> {type.names.slice(0, 10).join(", ")}</small>}
            {type.places?.map(({ name, file, line }) => (
              <small key={name}>
                {" "}
                {name} is from <code>{line === undefined ? file : `${file}:${line}`}</code>
              </small>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Types({
  node,
  head,
  straggler,
}: {
  readonly node: NodeAnswer;
  readonly head: number | undefined;
  readonly straggler: StragglerAnswer | undefined;
}): JSX.Element {
  const isUnsent = (type: TypeAnswer): boolean =>
    straggler?.types.some((one) => one.type === type.type && one.state === "not-sent") === true;
  return (
    <section aria-labelledby="types">
      <h2 id="types">What it has</h2>
      {node.types.length === 0 && <p class="note">It subscribes to nothing yet.</p>}
      <div class="types">
        {node.types.map((type) => (
          <TypeCard key={`${type.stream} ${type.type}`} type={type} node={node} head={head} isUnsent={isUnsent(type)} />
        ))}
      </div>
    </section>
  );
}

function TypeCard({
  type,
  node,
  head,
  isUnsent,
}: {
  readonly type: TypeAnswer;
  readonly node: NodeAnswer;
  readonly head: number | undefined;
  /** Something newer is there for it, and not sent yet. */
  readonly isUnsent: boolean;
}): JSX.Element {
  const { acked, nacked, sentVersion, waits, doesNotExist, pendingRemovals, pending, errors = [] } = type;
  const isCurrent = sentVersion === undefined || acked?.version === sentVersion;
  return (
    <article class="card type">
      <h3>
        <a href={linkTo("/resources", { type: type.shortName ?? type.type, node: node.id })}>{typeName(type)}</a>{" "}
        <Badge condition={conditionOfType(type)} />
      </h3>
      <dl class="facts small">
        <Fact name="Subscribes to">
          {type.isWildcard ? (type.names > 0 ? `* and ${count(type.names)}` : "*") : count(type.names)}
        </Fact>
        <Fact name="Has">
          {acked === undefined ? (
            "nothing ACKed"
          ) : (
            <Version version={acked.version} revision={acked.revision} at={acked.ackedAt} />
          )}
        </Fact>
        <Fact name="Should have">
          {isUnsent ? (
            "a newer version, not sent yet"
          ) : sentVersion === undefined ? (
            "nothing"
          ) : isCurrent ? (
            "the same"
          ) : (
            <Version version={sentVersion} revision={type.sentRevision ?? head} />
          )}
        </Fact>
        {acked !== undefined && head !== undefined && acked.revision < head && (
          <Fact name="Newest">
            <RevisionLink number={head} text={`revision ${count(head)}`} />
            {isCurrent && !isUnsent && nacked === undefined && <small>, which changes nothing here</small>}
          </Fact>
        )}
        {pending.length > 0 && (
          <Fact name="Awaits ACK of">
            {counted(pending.length, "response")}, for {since(pending[0]?.sentAt)}
          </Fact>
        )}
      </dl>
      {waits !== undefined && (
        <p class="say waiting">
          <Wait waits={waits} />
        </p>
      )}
      {nacked !== undefined && (
        <div class="say nacked">
          <p>
            NACKed {since(nacked.nackedAt)} ago, revision {count(nacked.revision)}:{" "}
            {nacked.names.slice(0, 10).join(", ")}
          </p>
          <pre>{nacked.reason}</pre>
        </div>
      )}
      {doesNotExist.length > 0 && <Names title="Subscribed to, does not exist" names={doesNotExist} />}
      {pendingRemovals !== undefined && pendingRemovals.length > 0 && (
        <Names title="Deleted, kept until unused" names={pendingRemovals} />
      )}
      {errors.map(({ name, message }) => (
        <p key={name} class="say nacked">
          {name}: {message}
        </p>
      ))}
    </article>
  );
}

function Version({
  version,
  revision,
  at,
}: {
  readonly version: string;
  readonly revision?: number | undefined;
  readonly at?: string | undefined;
}): JSX.Element {
  return (
    <>
      <code title={version}>{shortVersion(version)}</code>
      {revision !== undefined && (
        <>
          {" "}
          <RevisionLink number={revision} text={`revision ${count(revision)}`} />
        </>
      )}
      {at !== undefined && <small> {since(at)} ago</small>}
    </>
  );
}

/** What the server remembers of its answers. */
function Past({ id, changes }: { readonly id: string; readonly changes: unknown }): JSX.Element | null {
  const { answer } = useAnswer<NodeHistoryAnswer>(`nodes/${encodeURIComponent(id)}/history`, {}, changes);
  if (answer === undefined || answer.items.length === 0) return null;
  return (
    <section aria-labelledby="past">
      <h2 id="past">
        History <small>which revision it has had since when, and what it NACKed</small>
      </h2>
      <ol class="plain past">
        {answer.items.map(({ time, number, nacked, revision }) => (
          <li key={`${time} ${nacked?.type}`}>
            <time dateTime={time}>{dateOf(time)}</time> <Badge condition={nacked === undefined ? "acked" : "nacked"} />{" "}
            <RevisionLink number={number} text={`revision ${count(number)}`} />
            {nacked === undefined ? (
              revision?.author !== undefined && <small> by {revision.author}</small>
            ) : (
              <>
                {" "}
                {typeName(nacked)}: <q class="reason">{nacked.reason}</q>
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Names({ title, names }: { readonly title: string; readonly names: readonly string[] }): JSX.Element {
  return (
    <p class="say pending">
      {title}: {names.slice(0, 20).join(", ")}
      {names.length > 20 && " …"}
    </p>
  );
}
