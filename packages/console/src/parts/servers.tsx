import type { ReplicaAnswer, ServerAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { bytes, count, counted, since } from "../format.ts";
import type { Attention } from "../use-attention.ts";
import { Listing } from "./listing.tsx";
import { RevisionLink } from "./revision-badge.tsx";

/** The store, the servers that share it, and the processes of this one; nothing, where there is one process alone. */
export function Servers({ attention }: { readonly attention: Attention }): JSX.Element | null {
  const { server, replicas } = attention;
  const store = server?.ledger?.store;
  const workers = server?.workers ?? [];
  if (store === undefined && workers.length === 0) return null;
  return (
    <div class="columns">
      {store !== undefined && (
        <section class="card" aria-labelledby="replicas">
          <h2 id="replicas">
            Replicas <small>{count(replicas?.replicas.length ?? 1)}</small>
          </h2>
          <Engine store={store} />
          <Replicas replicas={replicas?.replicas ?? []} />
        </section>
      )}
      {workers.length > 0 && (
        <section class="card" aria-labelledby="workers">
          <h2 id="workers">
            Workers <small>{count(workers.length)}</small>
          </h2>
          <Workers workers={workers} />
        </section>
      )}
    </div>
  );
}

type Store = NonNullable<NonNullable<ServerAnswer["ledger"]>["store"]>;

function Engine({ store }: { readonly store: Store }): JSX.Element {
  const { role, roleSince, head, lag, awaySince, awayReason, stoppedSince, stopReason } = store;
  return (
    <p class="note">
      This server is {role === "publisher" ? "the publisher" : "a follower"} for {since(roleSince)}; the store is at{" "}
      <RevisionLink number={head} text={`record ${count(head)}`} />
      {lag > 0 && `, ${counted(lag, "record")} not in force here`}.
      {awaySince !== undefined && (
        <span class="nacked">
          {" "}
          The store is away for {since(awaySince)}: {awayReason}.
        </span>
      )}
      {stoppedSince !== undefined && (
        <span class="nacked">
          {" "}
          Nothing of it is applied for {since(stoppedSince)}: {stopReason}.
        </span>
      )}
    </p>
  );
}

function Replicas({ replicas }: { readonly replicas: readonly ReplicaAnswer[] }): JSX.Element {
  return (
    <Listing heads={["Replica", "Role", "Record", "Have it"]}>
      {replicas.map(({ id, name, address, role, number, lag, lagSince, nodes, deployed, version, stoppedSince }) => (
        <tr key={id}>
          <td>
            {name} <small title={`version ${version}`}>{address}</small>
          </td>
          <td>{role}</td>
          <td>
            {count(number)}
            {stoppedSince !== undefined ? (
              <span class="nacked"> stopped for {since(stoppedSince)}</span>
            ) : (
              lag > 0 && (
                <span class="nacked">
                  {" "}
                  lacks {count(lag)}
                  {lagSince !== undefined && ` for ${since(lagSince)}`}
                </span>
              )
            )}
          </td>
          <td>
            {count(deployed)} of {counted(nodes, "node")}
          </td>
        </tr>
      ))}
    </Listing>
  );
}

function Workers({ workers }: { readonly workers: NonNullable<ServerAnswer["workers"]> }): JSX.Element {
  return (
    <Listing heads={["Worker", "State", "Streams", "Memory"]}>
      {workers.map(({ worker, pid, state, streams, residentBytes }) => (
        <tr key={worker}>
          <td>
            {worker} {pid !== undefined && <small>pid {pid}</small>}
          </td>
          <td class={state === "ready" ? "" : "nacked"}>{state}</td>
          <td>{count(streams)}</td>
          <td>{bytes(residentBytes)}</td>
        </tr>
      ))}
    </Listing>
  );
}
