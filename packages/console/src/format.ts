// A formatter costs far more to make than to use.
const numbers = new Intl.NumberFormat("en-US");
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const times = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** A number for people: 20,000. */
export function count(value: number): string {
  return numbers.format(value);
}

/** A number with its noun: 1 node, 2 nodes. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** A time span for people: 12 s, 3 min, 2 h. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** A time for people, with its day. */
export function dateOf(at: string): string {
  return dates.format(new Date(at));
}

/** A time of today for people. */
export function timeOfDay(at: string): string {
  return times.format(new Date(at));
}

/** How long ago a time is. */
export function since(time: string | undefined): string {
  return time === undefined ? "" : span(Date.now() - Date.parse(time));
}

export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  const [unit, size] = value < 1e6 ? ["kB", 1e3] : value < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  const shown = value / Number(size);
  return `${shown < 10 ? shown.toFixed(1) : Math.round(shown)} ${unit}`;
}

/** The part of a type URL that people know it by. */
export function typeName({ type, shortName }: { readonly type: string; readonly shortName?: string }): string {
  return nounOf[shortName ?? ""] ?? type.slice(type.lastIndexOf(".") + 1);
}

const nounOf: Readonly<Record<string, string>> = {
  lds: "Listener",
  rds: "Route",
  srds: "Scoped route",
  vhds: "Virtual host",
  cds: "Cluster",
  eds: "Endpoints",
  sds: "Secret",
  rtds: "Runtime",
  ecds: "Extension",
};

/** The first characters of a version, which is a digest. */
export function shortVersion(version: string): string {
  return version.length > 10 ? version.slice(0, 8) : version;
}
