import type { NodeResourceAnswer, NodeResourcesAnswer } from "@xdskit/server";
import type { JSX, TargetedInputEvent } from "preact";
import { useState } from "preact/hooks";
import { ask } from "../api.ts";
import { compareDump, type DumpComparison, type DumpDifference } from "../envoy-dump.ts";
import { count, counted, shortVersion } from "../format.ts";
import { linkTo } from "../router.ts";
import { useAnswer } from "../use-answer.ts";
import { Listing } from "./listing.tsx";

/** Rows that are shown at first, and with each request for more. */
const ROWS = 50;
/** How long the rows stand before they are asked for again, however much changes, in milliseconds. */
const REST_MS = 5_000;
/** Resources that are asked for at once, to compare. */
const PAGE = 1_000;

/** Each state of a resource, in the words of CSDS where it has one. */
const statusText: Readonly<Record<NodeResourceAnswer["status"], string>> = {
  acked: "ACKed",
  pending: "sent, not ACKed yet",
  nacked: "NACKed",
  "not-sent": "not sent yet",
  "does-not-exist": "does not exist",
  "received-error": "an error in its place",
  unknown: "nothing is known of its type",
};

/** What the server answers for a node when it is asked for its client status (CSDS), and what Envoy itself says. */
export function NodeResources({ id, changes }: { readonly id: string; readonly changes: unknown }): JSX.Element {
  const [limit, setLimit] = useState(ROWS);
  const { answer, error } = useAnswer<NodeResourcesAnswer>("node-resources", { node: id, limit }, changes, REST_MS);
  const items = answer?.items ?? [];
  return (
    <section aria-labelledby="client-status">
      <h2 id="client-status">
        Resource by resource <small>what CSDS answers for this node</small>
      </h2>
      {error !== undefined && <p role="alert">{error}</p>}
      {answer !== undefined && items.length === 0 && <p class="note">It has nothing.</p>}
      {items.length > 0 && (
        <Listing heads={["Resource", "Status", "Version"]}>
          {items.map((item) => (
            <ResourceRow key={`${item.stream} ${item.type} ${item.name}`} resource={item} />
          ))}
        </Listing>
      )}
      {answer !== undefined && answer.total > items.length && (
        <button type="button" onClick={() => setLimit(limit + ROWS)}>
          Show more of {count(answer.total)}
        </button>
      )}
      <EnvoyComparison id={id} />
    </section>
  );
}

function ResourceRow({ resource }: { readonly resource: NodeResourceAnswer }): JSX.Element {
  const { type, shortName, name, status, version, reason } = resource;
  return (
    <tr>
      <td>
        <small>{shortName ?? type}</small> <a href={linkTo("/resource", { type, name })}>{name}</a>
      </td>
      <td class={status === "nacked" ? "nacked" : ""}>
        {statusText[status]}
        {reason !== undefined && (
          <>
            {": "}
            <q class="reason">{reason}</q>
          </>
        )}
      </td>
      <td>{version !== undefined && <code title={version}>{shortVersion(version)}</code>}</td>
    </tr>
  );
}

/** Compares what Envoy shows of itself; its file stays in the browser. */
function EnvoyComparison({ id }: { readonly id: string }): JSX.Element {
  const [found, setFound] = useState<DumpComparison | { readonly error: string }>();
  const compare = ({ currentTarget }: TargetedInputEvent<HTMLInputElement>): void => {
    const file = currentTarget.files?.[0];
    if (file === undefined) return;
    setFound(undefined);
    compareFile(file, id).then(setFound, (cause: unknown) => setFound({ error: (cause as Error).message }));
  };
  return (
    <details>
      <summary>Compare with what Envoy says</summary>
      <p class="note">
        Save <code>/config_dump?include_eds</code> of its admin port, and choose the file. It does not leave this
        browser; <code>xds diff --node {id} --envoy URL</code> asks Envoy itself.
      </p>
      <label>
        Configuration dump <input type="file" accept="application/json,.json" onInput={compare} />
      </label>
      <div aria-live="polite">{found !== undefined && <Found found={found} />}</div>
    </details>
  );
}

function Found({ found }: { readonly found: DumpComparison | { readonly error: string } }): JSX.Element {
  if ("error" in found) return <p class="alarm">{found.error}</p>;
  const { same, differences } = found;
  return (
    <>
      <p class={differences.length === 0 ? "verdict acked" : "verdict pending"}>
        {differences.length === 0
          ? `Envoy has all of ${counted(same, "resource")} as the server says.`
          : `${counted(differences.length, "difference")}, and ${counted(same, "resource")} as the server says.`}
      </p>
      <ul class="plain">
        {differences.map((one) => (
          <li key={`${one.shortName} ${one.name}`}>
            <small>{one.shortName}</small> {one.name} {describe(one)}
          </li>
        ))}
      </ul>
    </>
  );
}

function describe({ verdict, fields }: DumpDifference): string {
  if (verdict === "missing") return "is not shown by Envoy, though it ACKed it";
  if (verdict === "extra") return "is at Envoy, and this server does not know that";
  return `differs in ${fields?.join(", ") ?? "its content"}`;
}

async function compareFile(file: File, id: string): Promise<DumpComparison> {
  const dump: unknown = await file
    .text()
    .then((text) => JSON.parse(text) as unknown)
    .catch(() => undefined);
  const comparison = compareDump(dump, await allResources(id));
  if (comparison === undefined) throw new Error("this file is no answer of /config_dump");
  return comparison;
}

async function allResources(id: string): Promise<readonly NodeResourceAnswer[]> {
  const found: NodeResourceAnswer[] = [];
  for (;;) {
    const parameters = { node: id, body: "true", "field-names": "proto", limit: PAGE, offset: found.length };
    const { items, total } = await ask<NodeResourcesAnswer>("node-resources", parameters);
    found.push(...items);
    if (items.length === 0 || found.length >= total) return found;
  }
}
