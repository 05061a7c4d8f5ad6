import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, parse, resolve, sep } from "node:path";

/** An entry of a directory: when it changes, another file may be meant. */
export interface WatchPoint {
  readonly directory: string;
  readonly name: string;
}

/** As many links in a row as the system follows. */
const MAX_LINKS = 40;

/**
 * The entries that decide what a path leads to: the file itself, where it really is, and every link on the way, such as the
 * `..data` of a Kubernetes volume. As far as the way leads now.
 */
export function watchPointsOf(path: string): readonly WatchPoint[] {
  const points: WatchPoint[] = [];
  const { root } = parse(resolve(path));
  let pending = partsOf(resolve(path));
  let directory = root;
  for (let links = 0; ; ) {
    const [name, ...rest] = pending;
    if (name === undefined) return points;
    const target = linkAt(join(directory, name));
    if (target === "none" && rest.length > 0) {
      directory = join(directory, name);
      pending = rest;
      continue;
    }
    points.push({ directory, name });
    // Here the way ends; or it does not, and begins anew.
    if (target === "none" || target === "missing" || ++links > MAX_LINKS) return points;
    // What ".." means is known here, because every part before it was followed.
    pending = [...partsOf(resolve(directory, target.to)), ...rest];
    directory = root;
  }
}

/** The entry alone: what a path leads to otherwise than by a move onto it is left out. */
export function entryOf(path: string): WatchPoint {
  const absolute = resolve(path);
  return { directory: dirname(absolute), name: parse(absolute).base };
}

function partsOf(absolute: string): readonly string[] {
  return absolute
    .slice(parse(absolute).root.length)
    .split(sep)
    .filter((part) => part !== "");
}

/** Where a link leads; `none` for what is no link. */
function linkAt(path: string): { readonly to: string } | "none" | "missing" {
  try {
    return lstatSync(path).isSymbolicLink() ? { to: readlinkSync(path) } : "none";
  } catch {
    // Whoever reads the file finds out why.
    return "missing";
  }
}
