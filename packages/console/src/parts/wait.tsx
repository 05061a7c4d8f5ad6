import type { WaitAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { since, typeName } from "../format.ts";
import { linkTo } from "../router.ts";

const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** What a response waits for, in words: "waits for cluster c, for 12 s". */
export function Wait({ waits }: { readonly waits: WaitAnswer }): JSX.Element {
  return (
    <span class="wait">
      <WaitedFor waits={waits} />
      {waits.since !== undefined && `, for ${since(waits.since)}`}
      {waits.resources !== undefined && waits.resources.length > 0 && (
        <small>; holds back {waits.resources.slice(0, 5).join(", ")}</small>
      )}
    </span>
  );
}

function WaitedFor({ waits }: { readonly waits: WaitAnswer }): JSX.Element {
  const { name = "" } = waits;
  const cluster = <a href={linkTo("/resource", { type: CLUSTER, name })}>{name}</a>;
  switch (waits.for) {
    case "cluster":
      return <>waits for cluster {cluster}</>;
    case "endpoints":
      return <>waits for the endpoints of cluster {cluster}</>;
    case "secret":
      return <>waits for a secret of cluster {cluster}</>;
    case "content":
      return <>waits until the content of {name} is at hand</>;
    case "release":
      return <>waits until the client unsubscribes from cluster {cluster}</>;
    case "return":
      return <>waits until the reconnected client has subscribed to what it uses</>;
    case "users":
      return (
        <>
          waits until the client ACKs{" "}
          {waits.type === undefined ? "its users" : typeName({ ...waits, type: waits.type })}
          {waits.nacked === true && ", which it NACKed"}
        </>
      );
  }
}
