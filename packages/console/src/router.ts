import { useEffect, useState } from "preact/hooks";

/** Where the console is: `#/nodes?state=nacked`. In the fragment, so that any path prefix works. */
export interface Place {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

function readPlace(): Place {
  const [path = "", query = ""] = location.hash.slice(1).split("?", 2);
  return { path: path === "" ? "/" : path, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The link to a place. Empty parameters are left out. */
export function linkTo(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value] as [string, string]] : []));
  return `#${path}${given.length === 0 ? "" : `?${new URLSearchParams(given)}`}`;
}

/** Changes one parameter of the current place without a step in the browser's history. */
export function setParameter(name: string, value: string): void {
  const { path, query } = readPlace();
  history.replaceState(null, "", linkTo(path, { ...query, [name]: value }));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const follow = (): void => setPlace(readPlace());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}
