import type { DecisionAnswer, ErrorAnswer } from "@xdskit/server";

/** The API is beside the console, whatever prefix both are behind. */
const base = new URL("../api/v1/", document.baseURI);

export type Parameters = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** The URL of a route of the admin API. */
export function apiUrl(route: string, parameters: Parameters = {}): string {
  const url = new URL(route, base);
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === "object") for (const one of value) url.searchParams.append(name, one);
    else if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Asks the admin API. Rejects with what it says is wrong. */
export async function ask<T>(route: string, parameters?: Parameters, signal?: AbortSignal): Promise<T> {
  const response = await fetch(apiUrl(route, parameters), signal === undefined ? {} : { signal });
  if (response.ok) return (await response.json()) as T;
  throw await errorIn(response);
}

/** Makes a decision; one that is refused is an answer too. Rejects if it could not be asked for. */
export async function decide(route: string, parameters: Parameters): Promise<DecisionAnswer> {
  const response = await fetch(apiUrl(route, parameters), { method: "POST" });
  const isRefused = response.status === 409;
  if (response.ok || isRefused) return (await response.json()) as DecisionAnswer;
  throw await errorIn(response);
}

async function errorIn(response: Response): Promise<Error> {
  const { error, hint } = await response
    .json()
    .then((answer: ErrorAnswer) => answer)
    .catch((): ErrorAnswer => ({ error: `the server answered ${response.status}` }));
  return new Error(hint === undefined ? error : `${error}: ${hint}`);
}
