import type { NodeAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { count, span, typeName } from "../format.ts";
import { type Saying, talkOf } from "../talk.ts";
import { useClock } from "../use-clock.ts";
import { Wait } from "./wait.tsx";

/** Messages that are drawn at most; what waits comes besides. */
const MOST = 12;

/** The sequence of what server and node told each other, as it happens, between the lines of both. */
export function Talk({ node }: { readonly node: NodeAnswer }): JSX.Element | null {
  useClock(1_000);
  const said = talkOf(node, MOST);
  if (said.length === 0) return null;
  return (
    <section aria-labelledby="talk">
      <h2 id="talk">
        Sequence <small>what was sent and answered last, and what waits</small>
      </h2>
      <div class="talk card">
        <p class="ends" aria-hidden="true">
          <span>server</span>
          <span>node</span>
        </p>
        <ol>
          {said.map((one) => (
            <li key={`${one.stream} ${one.type.type} ${one.kind} ${one.revision} ${one.at}`} class={one.kind}>
              <span class="when">{one.at === undefined ? "" : `${span(Date.now() - one.at)} ago`}</span>
              <span class="what">
                <Words saying={one} />
              </span>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

function Words({ saying }: { readonly saying: Saying }): JSX.Element {
  const { kind, type, revision, reason, waits } = saying;
  const name = <strong>{typeName(type)}</strong>;
  if (kind === "waits" && waits !== undefined)
    return (
      <>
        {name} <Wait waits={waits} />
      </>
    );
  if (kind === "sent") return name;
  return (
    <>
      {kind === "acked" ? "ACK" : "NACK"} {name}
      {revision !== undefined && <small> revision {count(revision)}</small>}
      {reason !== undefined && (
        <>
          {": "}
          <q class="reason">{reason}</q>
        </>
      )}
    </>
  );
}
