import type { FuseAnswer, RevisionDetailAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { since } from "../format.ts";
import { useLive } from "../live.ts";
import { changesText } from "../revision.ts";
import { linkTo } from "../router.ts";
import { useAnswer } from "../use-answer.ts";

/** On every page: a change is held, and why. */
export function HeldBanner({ path }: { readonly path: string }): JSX.Element | null {
  const { ledger, reloads } = useLive();
  const number = ledger?.held;
  const { answer } = useAnswer<RevisionDetailAnswer>(`revisions/${number ?? "head"}`, { limit: 1 }, reloads);
  if (number === undefined || path === "/revision") return null;
  const held = answer?.number === number ? answer : undefined;
  return (
    <div class="banner" role="alert">
      <p>
        <strong>Revision {number} is held.</strong> Nothing of it is sent
        {held !== undefined && (
          <>
            : {changesText(held)}, {since(held.time)} ago
            {held.author !== undefined && ` by ${held.author}`}
          </>
        )}
        .{" "}
        <a class="button" href={linkTo("/revision", { number: `${number}` })}>
          Review and decide
        </a>
      </p>
      {held?.fuses !== undefined && <Fuses fuses={held.fuses} />}
    </div>
  );
}

/** Why a change is held. */
export function Fuses({ fuses }: { readonly fuses: readonly FuseAnswer[] }): JSX.Element {
  return (
    <ul class="fuses">
      {fuses.map(({ fuse, layer, type, message }) => (
        <li key={`${fuse} ${layer} ${type}`}>
          <code>{fuse}</code>: {message}
        </li>
      ))}
    </ul>
  );
}
