import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, parse, resolve, sep } from "node:path";

/** A directory entry; when it changes, the path may lead to another file. */
export interface WatchPoint {
  readonly directory: string;
  readonly name: string;
}

/** The limit of symbolic links in a row, as in Linux. */
const MAX_LINKS = 40;

/**
 * The entries that decide which file a path leads to: the file, its real location, and every link between, such as
 * `..data` of a Kubernetes volume. As far as the path currently leads.
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
    // The path ends here, or does not exist.
    if (target === "none" || target === "missing" || ++links > MAX_LINKS) return points;
    // ".." can be resolved here, because every part before it is resolved.
    pending = [...partsOf(resolve(directory, target.to)), ...rest];
    directory = root;
  }
}

/** The entry only, for moves onto the path; its links are not followed. */
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

/** The target of a symbolic link; `none` if it is not a link. */
function linkAt(path: string): { readonly to: string } | "none" | "missing" {
  try {
    return lstatSync(path).isSymbolicLink() ? { to: readlinkSync(path) } : "none";
  } catch {
    // Reading the file will report the reason.
    return "missing";
  }
}
