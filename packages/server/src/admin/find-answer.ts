import { HistoryUnreadable } from "../ledger/history.ts";
import type { ErrorAnswer } from "./answers/page.ts";
import { CONSOLE_PATH, type ConsoleFiles } from "./console.ts";
import { mergedAnswer } from "./merged-answer.ts";
import { Query, QueryError } from "./query.ts";
import type { AdminAnswer, AdminSources, Route } from "./route.ts";
import { findRoute, routes } from "./route-table.ts";
import { describeRoutes, describeRoutesAsHtml } from "./routes/index-page.ts";

export interface AdminQuestion {
  readonly target: string;
  readonly method: Route["method"];
  readonly wantsHtml: boolean;
}

export async function findAnswer(
  { target, method, wantsHtml }: AdminQuestion,
  sources: AdminSources,
  files: ConsoleFiles,
  body: AsyncIterable<Uint8Array>,
): Promise<AdminAnswer> {
  try {
    const url = new URL(target, "http://admin");
    if (url.pathname === "/" && method === undefined) return indexPage(wantsHtml, sources);
    // Relative, so that a path prefix of a proxy stays.
    if (`${url.pathname}/` === CONSOLE_PATH) return { kind: "redirect", to: `.${CONSOLE_PATH}` };
    const file = url.pathname.startsWith(CONSOLE_PATH) ? await files.at(url.pathname) : undefined;
    if (file !== undefined) return file;
    const found = findRoute(url.pathname);
    if (found === undefined)
      throw new QueryError(404, `there is nothing at ${url.pathname}`, "GET / lists what there is");
    const { route, inPath } = found;
    if (route.method !== method)
      return errorAnswer(405, `${url.pathname} takes ${route.method ?? "GET"} requests`, "GET / lists what there is");
    const ask = (parameters: URLSearchParams): Query => new Query(parameters, Object.keys(route.parameters), inPath);
    const query = ask(url.searchParams);
    const { workers } = sources.view;
    if (workers !== undefined && route.merge !== undefined) {
      const answer = (parameters: URLSearchParams): ReturnType<Route["answer"]> =>
        route.answer(sources, ask(parameters), body);
      return await mergedAnswer(route.merge, { url, query, isPage: "offset" in route.parameters, workers, answer });
    }
    return await begin(await route.answer(sources, query, body));
  } catch (cause) {
    if (cause instanceof QueryError) return errorAnswer(cause.status, cause.message, cause.hint);
    if (cause instanceof HistoryUnreadable) return errorAnswer(503, cause.message);
    if (cause instanceof TypeError && "code" in cause && cause.code === "ERR_INVALID_URL") {
      return errorAnswer(400, "the target is no URL");
    }
    throw cause;
  }
}

/** The index, as HTML for browsers or as text for terminals. */
function indexPage(wantsHtml: boolean, { view }: AdminSources): AdminAnswer {
  if (!wantsHtml) return { kind: "text", text: describeRoutes(routes, view.version) };
  const contentType = "text/html; charset=utf-8";
  return { kind: "text", contentType, text: describeRoutesAsHtml(routes, view.version) };
}

/** Runs the first step of a page, so that invalid parameters still get an error status. */
async function begin(answer: AdminAnswer): Promise<AdminAnswer> {
  if (answer.kind !== "page") return answer;
  const iterator = answer.steps[Symbol.iterator]();
  const first = iterator.next();
  const rest = { [Symbol.iterator]: () => iterator };
  function* steps(): Iterable<(typeof first)["value"]> {
    if (first.done === true) return;
    yield first.value;
    yield* rest;
  }
  return { ...answer, steps: steps() };
}

function errorAnswer(status: number, error: string, hint?: string): AdminAnswer {
  const value: ErrorAnswer = { error, ...(hint !== undefined && { hint }) };
  return { kind: "json", status, value };
}
