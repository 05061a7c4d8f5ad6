import type { ErrorAnswer } from "@xdskit/server";

/** The API is beside the console, whatever prefix both are behind. */
const base = new URL("../api/v1/", document.baseURI);

export type Parameters = Readonly<Record<string, string | number | undefined>>;

/** The URL of a route of the admin API. */
export function apiUrl(route: string, parameters: Parameters = {}): string {
  const url = new URL(route, base);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Asks the admin API. Rejects with what it says is wrong. */
export async function ask<T>(route: string, parameters?: Parameters, signal?: AbortSignal): Promise<T> {
  const response = await fetch(apiUrl(route, parameters), signal === undefined ? {} : { signal });
  if (response.ok) return (await response.json()) as T;
  const { error, hint } = await response
    .json()
    .then((answer: ErrorAnswer) => answer)
    .catch((): ErrorAnswer => ({ error: `the server answered ${response.status}` }));
  throw new Error(hint === undefined ? error : `${error}: ${hint}`);
}
