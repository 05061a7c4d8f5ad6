import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceStateFile } from "./state-file.ts";

const NAME = "source.json";

/** What a server serves, and where: each pair has a state directory of its own. */
interface Served {
  readonly source: string;
  readonly listen: string | undefined;
}

/** A history of the same source at another address. */
interface OtherHistory {
  readonly listen: string;
  readonly directory: string;
}

export interface Histories {
  /** Whether the state directory has no history yet. */
  readonly isNew: boolean;
  readonly others: readonly OtherHistory[];
}

/** Whether a state directory has a history, and which directories beside it have one of the same source. */
export async function findHistories(stateDir: string, served: Served): Promise<Histories> {
  const folder = dirname(stateDir);
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(names.map((name) => readOther(join(folder, name), served)));
  return { isNew: !(await hasHistory(stateDir)), others: found.filter((one) => one !== undefined) };
}

/** Remembers what is served from a state directory. Without it, other histories are not found. */
export async function rememberSource(stateDir: string | undefined, served: Served): Promise<void> {
  await replaceStateFile(stateDir, NAME, `${JSON.stringify(served)}\n`);
}

async function readOther(directory: string, { source, listen }: Served): Promise<OtherHistory | undefined> {
  const text = await readFile(join(directory, NAME), "utf8").catch(() => undefined);
  if (text === undefined || !(await hasHistory(directory))) return undefined;
  const other = parse(text);
  if (other.source !== source || typeof other.listen !== "string" || other.listen === listen) return undefined;
  return { listen: other.listen, directory };
}

function parse(text: string): Readonly<Partial<Record<keyof Served, unknown>>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Partial<Record<keyof Served, unknown>>>;
  } catch {
    return {};
  }
}

/** A directory that was emptied is there, and has none. */
async function hasHistory(stateDir: string): Promise<boolean> {
  const names = await readdir(join(stateDir, "ledger")).catch(() => []);
  return names.some((name) => name.endsWith(".log"));
}
