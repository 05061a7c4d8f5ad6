import type { LayersAnswer, ResourceAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { bytes, count, shortVersion, typeName } from "../format.ts";
import { useLive } from "../live.ts";
import { Field, Select } from "../parts/fields.tsx";
import { Problems } from "../parts/problems.tsx";
import { type Column, VirtualTable } from "../parts/virtual-table.tsx";
import { linkTo, type Place, setParameter } from "../router.ts";
import { useAnswer } from "../use-answer.ts";

const filters = ["type", "layer", "node"] as const;

/** Every resource, searched by the server. */
export function Resources({ place }: { readonly place: Place }): JSX.Element {
  const { progress, source, reloads } = useLive();
  const [total, setTotal] = useState<number>();
  const { query } = place;
  const changes = `${progress?.head} ${reloads}`;
  const layers = useAnswer<LayersAnswer>("layers", {}, changes);
  const { name } = query;
  const parameters = {
    ...Object.fromEntries(filters.map((filter) => [filter, query[filter]])),
    matches: name === undefined || name.includes("*") ? name : `*${name}*`,
  };
  const types = new Map(
    (layers.answer?.items ?? []).flatMap((layer) =>
      layer.types.map((type) => [type.shortName ?? type.type, typeName(type)] as const),
    ),
  );
  const isFiltered = [...filters, "name"].some((filter) => query[filter] !== undefined);
  return (
    <>
      <h1>
        Resources <small>{total === undefined ? "" : count(total)}</small>
      </h1>
      <search class="filters" aria-label="Filter resources">
        <Field label="Name" name="name" value={name} hint="checkout" onChange={setParameter} />
        <Select label="Type" name="type" value={query["type"]} options={[...types]} onChange={setParameter} />
        <Select
          label="Layer"
          name="layer"
          value={query["layer"]}
          options={(layers.answer?.items ?? []).map((layer) => layer.name)}
          onChange={setParameter}
        />
        <Field label="Seen by node" name="node" value={query["node"]} hint="any" onChange={setParameter} />
        {isFiltered && (
          <a class="clear" href={linkTo("/resources")}>
            Clear filters
          </a>
        )}
      </search>
      {source !== undefined && source.errors + source.warnings > 0 && <Problems changes={source.since} />}
      <VirtualTable<ResourceAnswer>
        label="Resources"
        route="resources"
        parameters={parameters}
        columns={columns}
        changes={changes}
        empty={isFiltered ? "No resource matches these filters." : "There are no resources."}
        onTotal={setTotal}
      />
    </>
  );
}

const columns: readonly Column<ResourceAnswer>[] = [
  {
    title: "Name",
    kind: "main",
    cell: ({ type, name, constraints }) => (
      <a href={linkTo("/resource", { type, name })}>
        {name}
        {constraints !== undefined && <small> {constraints}</small>}
      </a>
    ),
  },
  { title: "Type", kind: "some", cell: (resource) => typeName(resource) },
  { title: "Layer", kind: "some wide-only", cell: ({ layer }) => layer },
  {
    title: "Version",
    kind: "some wide-only",
    cell: ({ version, error }) =>
      error === undefined ? <code>{shortVersion(version)}</code> : <span class="badge nacked">error</span>,
  },
  { title: "Refers to", kind: "time wide-only", cell: ({ references }) => references.length },
  { title: "Size", kind: "time wide-only", cell: ({ bytes: size }) => bytes(size) },
];
