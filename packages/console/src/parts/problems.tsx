import type { SourceAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { count } from "../format.ts";
import { useAnswer } from "../use-answer.ts";

/** How many problems are shown. */
const SHOWN = 50;

/** What is wrong in the source, with its place. */
export function Problems({ changes }: { readonly changes: unknown }): JSX.Element | null {
  const { answer } = useAnswer<SourceAnswer>("source", {}, changes);
  if (answer === undefined || answer.problems.length === 0) return null;
  const { problems, total } = answer;
  return (
    <details class="card" open={problems.some(({ severity }) => severity === "error")}>
      <summary>
        <h2>
          Problems of the source <small>{count(total)}</small>
        </h2>
      </summary>
      <ul class="problems">
        {problems.slice(0, SHOWN).map(({ severity, file, line, column, message, hint, excerpt, code }) => (
          <li key={`${file}:${line}:${column}:${message}`}>
            <span class={`badge ${severity === "error" ? "nacked" : "pending"}`}>{severity}</span>
            <div class="found">
              <code class="place">
                {file}
                {line !== undefined && `:${line}`}
                {column !== undefined && `:${column}`}
              </code>{" "}
              <span>{message}</span> <small>{code}</small>
              {excerpt !== undefined && <pre>{excerpt}</pre>}
              {hint !== undefined && <p class="note">{hint}</p>}
            </div>
          </li>
        ))}
      </ul>
      {total > SHOWN && <p class="note">{count(total - SHOWN)} more are in the admin API.</p>}
    </details>
  );
}
