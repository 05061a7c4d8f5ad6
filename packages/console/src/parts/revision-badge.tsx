import type { RevisionAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { kindClass, kindText } from "../revision.ts";
import { linkTo } from "../router.ts";

/** What a record of the ledger is. */
export function RevisionBadge({ kind }: Pick<RevisionAnswer, "kind">): JSX.Element {
  return <span class={`badge ${kindClass[kind] ?? ""}`}>{kindText[kind] ?? kind}</span>;
}

export function RevisionLink({
  number,
  text = `${number}`,
}: {
  readonly number: number;
  readonly text?: string;
}): JSX.Element {
  return <a href={linkTo("/revision", { number: `${number}` })}>{text}</a>;
}

/** What a decision is about. */
export function About({ record: { kind, of, to } }: { readonly record: RevisionAnswer }): JSX.Element | null {
  if (of !== undefined)
    return (
      <>
        {kind === "approved" ? "puts" : "drops"} <RevisionLink number={of} />
        {kind === "approved" && " in force"}
      </>
    );
  if (to === undefined) return null;
  return <>brings back {to === 0 ? "the beginning" : <RevisionLink number={to} />}</>;
}
