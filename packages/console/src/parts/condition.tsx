import type { NodeCountsAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { type Condition, conditions, meaning } from "../condition.ts";
import { count } from "../format.ts";
import { linkTo } from "../router.ts";

/** The state of a node or of a type, with a mark that does not depend on colour. */
export function Badge({ condition }: { readonly condition: Condition }): JSX.Element {
  return <span class={`badge ${condition}`}>{condition}</span>;
}

/** Nodes by state as one bar; each part leads to its nodes. */
export function FleetBar({ counts }: { readonly counts: NodeCountsAnswer }): JSX.Element {
  const shown = conditions.toReversed().filter((one) => counts[one] > 0);
  return (
    <div
      class="bar"
      role="img"
      aria-label={shown.map((one) => `${count(counts[one])} ${one}`).join(", ") || "no nodes"}
    >
      {shown.map((one) => (
        <span key={one} class={one} style={{ flexGrow: counts[one] }} />
      ))}
    </div>
  );
}

/** The numbers under the bar. */
export function FleetCounts({
  counts,
  filter = {},
}: {
  readonly counts: NodeCountsAnswer;
  readonly filter?: Readonly<Record<string, string>>;
}): JSX.Element {
  return (
    <ul class="counts">
      {conditions.toReversed().map((one) => (
        <li key={one}>
          <a href={linkTo("/nodes", { ...filter, state: one })} class={counts[one] === 0 ? "none" : ""}>
            <span class={`count ${one}`}>{count(counts[one])}</span>
            <Badge condition={one} />
            <small>{meaning[one]}</small>
          </a>
        </li>
      ))}
    </ul>
  );
}
