import type { ProgressAnswer } from "@xdskit/server";
import type { ComponentChild, JSX } from "preact";
import { count } from "../format.ts";
import { useLive } from "../live.ts";
import { linkTo } from "../router.ts";
import { useAnswer } from "../use-answer.ts";

/** Each question looks at every client, so that it is asked rarely, in milliseconds. */
const REST_MS = 5_000;

/** How far a revision is, with the names of so many nodes that do not have it. */
export function useProgress(number: number, limit: number): ProgressAnswer | undefined {
  const { progress, nodes, reloads } = useLive();
  const changes = `${progress?.head} ${progress?.deployed} ${progress?.pending} ${progress?.nacked} ${nodes?.total}`;
  return useAnswer<ProgressAnswer>(`progress/${number}`, { limit }, `${changes} ${reloads}`, REST_MS).answer;
}

const parts = [
  { name: "acked", text: "have it", one: "has it" },
  { name: "pending", text: "pending" },
  { name: "nacked", text: "NACKed something" },
  { name: "gone", text: "disconnected without it" },
] as const;

/** Who has a revision, as one bar with its numbers. */
export function ProgressBar({ answer }: { readonly answer: ProgressAnswer }): JSX.Element {
  const { revision, deployed, pending, nacked, disconnected } = answer;
  const totals = { acked: deployed, pending: pending.total, nacked: nacked.total, gone: disconnected.total };
  const shown = parts.filter(({ name }) => totals[name] > 0);
  const figures = shown.map(({ name, text, ...rest }) => {
    const one = "one" in rest && totals[name] === 1 ? rest.one : text;
    return { name, text: `${count(totals[name])} ${one}` };
  });
  const label = figures.map(({ text }) => text).join(", ");
  return (
    <div class="progress">
      <div class="bar" role="img" aria-label={label === "" ? "no node is connected" : label}>
        {shown.map(({ name }) => (
          <span key={name} class={name} style={{ flexGrow: totals[name] }} />
        ))}
      </div>
      <p class="note">
        {shown.length === 0 && "No node is connected."}
        {figures.map(({ name, text }, index) => (
          <span key={name}>
            {index > 0 && " · "}
            <Figure text={text} to={linkOf(name, revision)} />
          </span>
        ))}
      </p>
    </div>
  );
}

function Figure({ text, to }: { readonly text: string; readonly to: string | undefined }): ComponentChild {
  return to === undefined ? text : <a href={to}>{text}</a>;
}

/** The nodes that are counted. */
function linkOf(name: (typeof parts)[number]["name"], revision: number): string | undefined {
  if (name === "gone") return undefined;
  return linkTo("/nodes", name === "acked" ? { has: `${revision}` } : { lacks: `${revision}` });
}
