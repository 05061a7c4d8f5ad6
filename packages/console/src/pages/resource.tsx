import type { GraphAnswer, HolderAnswer, ResourceAnswer, ResourcesAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { bytes, counted, shortVersion, typeName } from "../format.ts";
import { useLive } from "../live.ts";
import { Graph } from "../parts/graph.tsx";
import { type Column, VirtualTable } from "../parts/virtual-table.tsx";
import { linkTo } from "../router.ts";
import { useAnswer } from "../use-answer.ts";
import { toYaml } from "../yaml.ts";

/** One resource: what it is, where it comes from, what it is connected with, and who has it. */
export function ResourcePage({ type, name }: { readonly type: string; readonly name: string }): JSX.Element {
  const { progress, nodes, reloads } = useLive();
  const changes = `${progress?.head} ${reloads}`;
  const { answer, error } = useAnswer<ResourcesAnswer>("resources", { type, name, body: "true" }, changes);
  const graph = useAnswer<GraphAnswer>("graph", { type, name }, changes);
  const held = answer?.items ?? [];
  return (
    <>
      <p class="trail">
        <a href={linkTo("/resources")}>Resources</a> /{" "}
        <a href={linkTo("/resources", { type: held[0]?.shortName ?? type })}>{typeName(held[0] ?? { type })}</a>
      </p>
      <h1 class="name">{name}</h1>
      {error !== undefined && <p role="alert">{error}</p>}
      {answer !== undefined && held.length === 0 && (
        <p class="alarm" role="alert">
          No layer has this resource.
        </p>
      )}
      {held.length > 1 && (
        <p class="note">
          {counted(held.length, "layer or variant")} have this name: {held.map(({ layer }) => layer).join(", ")}. A node
          sees the one in the highest of its layers, which shadows the others.
        </p>
      )}
      {graph.answer !== undefined && graph.answer.nodes.length > 1 && (
        <section aria-labelledby="graph">
          <h2 id="graph">Connected with</h2>
          <Graph graph={graph.answer} />
        </section>
      )}
      <div class="columns uneven">
        <section aria-labelledby="content">
          <h2 id="content">Content</h2>
          {held.map((resource) => (
            <Content key={`${resource.layer} ${resource.constraints}`} resource={resource} />
          ))}
        </section>
        <section aria-labelledby="holders">
          <h2 id="holders">Who has it</h2>
          <VirtualTable<HolderAnswer>
            label="Nodes with this resource"
            route="holders"
            parameters={{ type, name }}
            columns={columnsFor(new Set(held.map(({ version }) => version)))}
            changes={`${changes} ${nodes?.changes}`}
            empty="No node is connected."
          />
        </section>
      </div>
    </>
  );
}

function Content({ resource }: { readonly resource: ResourceAnswer }): JSX.Element {
  const { layer, version, bytes: size, constraints, error, problem, body, ttlMs } = resource;
  return (
    <article class="card">
      <p class="note">
        layer <a href={linkTo("/resources", { layer })}>{layer}</a> · version{" "}
        <code title={version}>{shortVersion(version)}</code> · {bytes(size)}
        {ttlMs !== undefined && ` · TTL ${ttlMs} ms`}
        {constraints !== undefined && ` · for ${constraints}`}
      </p>
      {error !== undefined && <p class="say nacked">{error.message}</p>}
      {problem !== undefined && <p class="say pending">{problem}</p>}
      {body !== undefined && (
        <pre class="yaml" tabIndex={0} role="region" aria-label={`Content in layer ${layer}`}>
          {toYaml(body)}
        </pre>
      )}
    </article>
  );
}

const statusKind: Readonly<Record<HolderAnswer["status"], string>> = {
  acked: "acked",
  pending: "pending",
  nacked: "nacked",
  "not-sent": "waiting",
  "does-not-exist": "pending",
  "received-error": "nacked",
  unknown: "pending",
  "not-subscribed": "none",
};

function columnsFor(versions: ReadonlySet<string>): readonly Column<HolderAnswer>[] {
  return [
    { title: "Node", kind: "main", cell: ({ node }) => <a href={linkTo("/node", { id: node })}>{node}</a> },
    {
      title: "Status",
      kind: "state",
      cell: ({ status }) => <span class={`badge ${statusKind[status]}`}>{status.replace("-", " ")}</span>,
    },
    {
      title: "Version",
      kind: "some",
      cell: ({ version }) =>
        version === undefined ? null : (
          <>
            <code>{shortVersion(version)}</code>
            {!versions.has(version) && <small> old</small>}
          </>
        ),
    },
  ];
}
