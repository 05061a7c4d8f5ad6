import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "./format.ts";
import { connect, useLive } from "./live.ts";
import { Diff } from "./pages/diff.tsx";
import { NodePage } from "./pages/node.tsx";
import { Nodes } from "./pages/nodes.tsx";
import { Overview } from "./pages/overview.tsx";
import { ResourcePage } from "./pages/resource.tsx";
import { Resources } from "./pages/resources.tsx";
import { RevisionPage } from "./pages/revision.tsx";
import { Revisions } from "./pages/revisions.tsx";
import { Traffic } from "./pages/traffic.tsx";
import { type Concern, concernsOf, worst } from "./parts/attention.tsx";
import { type Decision, DecisionDialog } from "./parts/decision-dialog.tsx";
import { AskForDecision } from "./parts/decisions.tsx";
import { HeldBanner } from "./parts/held.tsx";
import { linkTo, type Place, usePlace } from "./router.ts";
import { type Attention, useAttention } from "./use-attention.ts";

const pages = [
  { path: "/", title: "Overview" },
  { path: "/nodes", title: "Nodes" },
  { path: "/resources", title: "Resources" },
  { path: "/revisions", title: "Revisions" },
  { path: "/traffic", title: "Traffic" },
] as const;

export function App(): JSX.Element {
  const place = usePlace();
  const main = useRef<HTMLElement>(null);
  const [asked, setAsked] = useState<{ readonly decision: Decision; readonly number: number }>();
  useEffect(connect, []);
  const attention = useAttention();
  const live = useLive();
  // Undefined until the server answered.
  const concerns = attention.server === undefined ? undefined : concernsOf(attention, live);
  const title = titleOf(place);
  useEffect(() => {
    document.title = `${title} · xdskit`;
  }, [title]);
  // A link in a dialog leads away from it, and so does the browser's way back.
  useEffect(() => setAsked(undefined), [place]);
  // Who follows a link by keyboard goes on at the new page.
  const isFirst = useRef(true);
  const wasAsked = useRef(false);
  useEffect(() => {
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [place.path, title]);
  // The button that opened a dialog may be gone with what was decided.
  useEffect(() => {
    if (asked === undefined && document.activeElement === document.body && wasAsked.current) main.current?.focus();
    wasAsked.current = asked !== undefined;
  }, [asked]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header>
        <a class="brand" href={linkTo("/")}>
          <img src="./icon.svg" alt="" width="24" height="24" />
          xdskit
        </a>
        <nav aria-label="Pages">
          {pages.map(({ path, title: name }) => (
            <a key={path} href={linkTo(path)} aria-current={isWithin(place.path, path) ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <Status concerns={concerns} />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <HeldBanner path={place.path} />
        <AskForDecision.Provider value={(decision, number) => setAsked({ decision, number })}>
          <Page place={place} concerns={concerns} attention={attention} />
        </AskForDecision.Provider>
      </main>
      {asked !== undefined && <DecisionDialog {...asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function titleOf({ path, query }: Place): string {
  if (path === "/node") return query["id"] ?? "Node";
  if (path === "/resource") return query["name"] ?? "Resource";
  if (path === "/revision") return `Revision ${query["number"] ?? ""}`;
  if (path === "/diff") return "Compare revisions";
  return pages.find((page) => page.path === path)?.title ?? "Not found";
}

/** A node is among the nodes. */
function isWithin(path: string, page: string): boolean {
  if (path === "/diff") return page === "/revisions";
  return path === page || (page !== "/" && `${path}s` === page);
}

interface PageProperties {
  readonly place: Place;
  readonly concerns: readonly Concern[] | undefined;
  readonly attention: Attention;
}

function Page({ place, concerns, attention }: PageProperties): JSX.Element {
  const { path, query } = place;
  switch (path) {
    case "/":
      return <Overview concerns={concerns} attention={attention} />;
    case "/nodes":
      return <Nodes place={place} />;
    case "/node":
      return <NodePage key={query["id"]} id={query["id"] ?? ""} />;
    case "/resources":
      return <Resources place={place} />;
    case "/resource":
      return <ResourcePage key={location.hash} type={query["type"] ?? ""} name={query["name"] ?? ""} />;
    case "/revisions":
      return <Revisions place={place} />;
    case "/revision":
      return <RevisionPage key={query["number"]} number={numberIn(query["number"])} />;
    case "/diff":
      return <Diff place={place} />;
    case "/traffic":
      return <Traffic place={place} />;
    default:
      return (
        <>
          <h1>Not found</h1>
          <p class="note">
            There is no such page. <a href={linkTo("/")}>Go to the overview.</a>
          </p>
        </>
      );
  }
}

/** The address may have been written by hand. */
function numberIn(text: string | undefined): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** What everybody should see on every page: whether something is wrong, whether it is live, and whether the server is ready. */
function Status({ concerns = [] }: Partial<Pick<PageProperties, "concerns">>): JSX.Element {
  const { connection, server, progress, ledger } = useLive();
  const state = connection !== "live" ? connection : server?.ready === false ? "not-ready" : "live";
  const text = {
    live: "live",
    connecting: "connecting…",
    lost: "connection lost, retrying…",
    "not-ready": server?.draining === true ? "draining" : "not ready",
  }[state];
  return (
    <p class="status" role="status">
      {concerns.length > 0 && (
        <a class={`concerns ${worst(concerns)}`} href={linkTo("/")}>
          {concerns.length} need{concerns.length === 1 ? "s" : ""} attention
        </a>
      )}
      {progress !== undefined && <span class="head">revision {count(ledger?.inForce ?? progress.head)}</span>}
      <span class={`dot ${state}`} />
      <span>{text}</span>
    </p>
  );
}
