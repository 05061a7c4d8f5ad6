import type { ChangeAnswer, ContentAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask, type Parameters } from "../api.ts";
import { count, shortVersion, typeName } from "../format.ts";
import { linkTo } from "../router.ts";
import { diffLines, withContext } from "../text-diff.ts";
import { toYaml } from "../yaml.ts";

/** Changes that are asked for at once, with their content. */
const PAGE = 20;
/** More lines are not shown. */
const MOST_LINES = 2_000;

interface Answer {
  readonly changes: readonly ChangeAnswer[];
  readonly total: number;
  readonly next?: number;
}

/** The changes of a record, or between two, by layer and resource, each with what differs in its content. */
export function Changes({
  route,
  parameters = {},
}: {
  readonly route: string;
  readonly parameters?: Parameters;
}): JSX.Element {
  const { shown, error, more } = useChanges(route, parameters);
  const layers = [...new Set(shown?.changes.map(({ layer }) => layer))];
  return (
    <div aria-busy={shown === undefined && error === undefined}>
      {error !== undefined && <p role="alert">{error}</p>}
      {shown?.total === 0 && <p class="note">No resource differs.</p>}
      {layers.map((layer) => (
        <section key={layer} aria-label={`Layer ${layer}`}>
          <h3>Layer {layer}</h3>
          {shown?.changes
            .filter((change) => change.layer === layer)
            .map((change) => (
              <Change key={`${change.type} ${change.name}`} change={change} />
            ))}
        </section>
      ))}
      {shown?.next !== undefined && (
        <button type="button" onClick={more}>
          Show more of {count(shown.total)} changes
        </button>
      )}
    </div>
  );
}

function useChanges(
  route: string,
  parameters: Parameters,
): { readonly shown: Answer | undefined; readonly error: string | undefined; readonly more: () => void } {
  const [shown, setShown] = useState<Answer>();
  const [error, setError] = useState<string>();
  const load = async (offset: number, signal?: AbortSignal): Promise<void> => {
    try {
      const asked = { ...parameters, body: "true", limit: PAGE, offset };
      const answer = await ask<Answer>(route, asked, signal);
      setError(undefined);
      setShown((known) =>
        offset === 0 ? answer : { ...answer, changes: [...(known?.changes ?? []), ...answer.changes] },
      );
    } catch (cause) {
      if (signal?.aborted !== true) setError((cause as Error).message);
    }
  };
  useEffect(() => {
    const abort = new AbortController();
    setShown(undefined);
    void load(0, abort.signal);
    return () => abort.abort();
  }, [route, JSON.stringify(parameters)]);
  return { shown, error, more: () => void load(shown?.next ?? 0) };
}

const badges = { added: "acked", changed: "waiting", deleted: "nacked" } as const;

function Change({
  change: { change, type, shortName, name, before, after },
}: {
  readonly change: ChangeAnswer;
}): JSX.Element {
  const noun = typeName(shortName === undefined ? { type } : { type, shortName });
  return (
    <article class="card change">
      <h4>
        <span class={`badge ${badges[change]}`}>{change}</span> {noun}{" "}
        <a href={linkTo("/resource", { type, name })}>{name}</a>{" "}
        <small class="versions">
          {[before, after].flatMap((one) => (one === undefined ? [] : shortVersion(one.version))).join(" → ")}
        </small>
      </h4>
      <Difference before={before} after={after} label={`${change} ${noun} ${name}`} />
    </article>
  );
}

function Difference({
  before,
  after,
  label,
}: {
  readonly before: ContentAnswer | undefined;
  readonly after: ContentAnswer | undefined;
  readonly label: string;
}): JSX.Element {
  const given = [before, after].filter((one) => one !== undefined);
  if (given.some(({ body }) => body === undefined))
    return <p class="note">The content is not kept, as always where it holds a secret.</p>;
  const [from, to] = [before, after].map((one) => (one === undefined ? "" : toYaml(one.body)));
  const lines = withContext(diffLines(from ?? "", to ?? ""));
  if (lines.every((line) => typeof line === "number"))
    return <p class="note">What differs is redacted, or not part of the content.</p>;
  return (
    <pre class="yaml diff" tabIndex={0} role="region" aria-label={`Difference: ${label}`}>
      {lines
        .slice(0, MOST_LINES)
        .map((line, index) =>
          typeof line === "number" ? (
            <span key={index} class="skipped">{`  … ${count(line)} equal line${line === 1 ? "" : "s"}\n`}</span>
          ) : (
            <Line key={index} kind={line.kind} text={line.text} />
          ),
        )}
      {lines.length > MOST_LINES && `… ${count(lines.length - MOST_LINES)} lines more`}
    </pre>
  );
}

function Line({ kind, text }: { readonly kind: "same" | "removed" | "added"; readonly text: string }): JSX.Element {
  switch (kind) {
    case "same":
      return <span>{`  ${text}\n`}</span>;
    case "removed":
      return <del>{`- ${text}\n`}</del>;
    case "added":
      return <ins>{`+ ${text}\n`}</ins>;
  }
}
