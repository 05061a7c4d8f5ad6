import type { NodeAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { conditionOf, conditions } from "../condition.ts";
import { count, since, typeName } from "../format.ts";
import { useLive } from "../live.ts";
import { Badge } from "../parts/condition.tsx";
import { Field, Select } from "../parts/fields.tsx";
import { type Column, VirtualTable } from "../parts/virtual-table.tsx";
import { linkTo, type Place, setParameter } from "../router.ts";

const filters = ["id", "state", "cluster", "user-agent", "layer", "has", "lacks"] as const;

/** Every node, filtered by the server. */
export function Nodes({ place }: { readonly place: Place }): JSX.Element {
  const { nodes, reloads } = useLive();
  const [total, setTotal] = useState<number>();
  const { query } = place;
  const parameters = Object.fromEntries(filters.map((name) => [name, patternOf(name, query[name])]));
  const isFiltered = filters.some((name) => query[name] !== undefined);
  return (
    <>
      <h1>
        Nodes <small>{total === undefined ? "" : count(total)}</small>
      </h1>
      <search class="filters" aria-label="Filter nodes">
        <Field label="Id" name="id" value={query["id"]} hint="edge-*" onChange={setParameter} />
        <Select label="State" name="state" value={query["state"]} options={conditions} onChange={setParameter} />
        <Field label="Cluster" name="cluster" value={query["cluster"]} hint="any" onChange={setParameter} />
        <Field
          label="Client build"
          name="user-agent"
          value={query["user-agent"]}
          hint="envoy 1.3*"
          onChange={setParameter}
        />
        <Field label="Layer" name="layer" value={query["layer"]} hint="any" onChange={setParameter} />
        <Field label="Lacks revision" name="lacks" value={query["lacks"]} hint="head" onChange={setParameter} />
        {isFiltered && (
          <a class="clear" href={linkTo("/nodes")}>
            Clear filters
          </a>
        )}
      </search>
      <VirtualTable<NodeAnswer>
        label="Nodes"
        route="nodes"
        parameters={parameters}
        columns={columns}
        changes={`${nodes?.changes} ${reloads}`}
        empty={isFiltered ? "No node matches these filters." : "No node is connected."}
        onTotal={setTotal}
      />
    </>
  );
}

/** An id without a wildcard is what the id contains. */
function patternOf(name: string, value: string | undefined): string | undefined {
  return name === "id" && value !== undefined && !value.includes("*") ? `*${value}*` : value;
}

const columns: readonly Column<NodeAnswer>[] = [
  { title: "Node", kind: "main", cell: ({ id }) => <a href={linkTo("/node", { id })}>{id === "" ? "(no id)" : id}</a> },
  { title: "State", kind: "state", cell: (node) => <Badge condition={conditionOf(node)} /> },
  { title: "Why", kind: "fill wide-only", cell: (node) => <Why node={node} /> },
  { title: "Cluster", kind: "some wide-only", cell: ({ cluster }) => cluster },
  { title: "Client build", kind: "some wide-only", cell: ({ userAgent }) => userAgent },
  { title: "Connected", kind: "time wide-only", cell: ({ connectedAt }) => since(connectedAt) },
];

/** The first thing that is not as it should be. */
function Why({ node: { types } }: { readonly node: NodeAnswer }): JSX.Element | null {
  const nacking = types.find(({ nacked }) => nacked !== undefined);
  if (nacking !== undefined)
    return (
      <>
        {typeName(nacking)}: <q class="reason">{nacking.nacked?.reason}</q>
      </>
    );
  const waiting = types.find(({ waits }) => waits !== undefined);
  if (waiting?.waits !== undefined)
    return (
      <>
        {typeName(waiting)} waits{waiting.waits.name === undefined ? "" : ` for ${waiting.waits.name}`}
      </>
    );
  const absent = types.find((type) => type.doesNotExist.length > 0);
  if (absent !== undefined)
    return <>{`${typeName(absent)} does not exist: ${absent.doesNotExist.slice(0, 3).join(", ")}`}</>;
  return null;
}
