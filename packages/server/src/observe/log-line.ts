/** The parts of a log line. */
export interface LogLine {
  readonly level: string;
  readonly time: Date;
  readonly message: string;
  /** Undefined ones are left out. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Colours of a log line. */
export type LogColors = Readonly<Record<"red" | "yellow" | "green" | "dim", (text: string) => string>>;

const same = (text: string): string => text;
const noColors: LogColors = { red: same, yellow: same, green: same, dim: same };

const TONES: Readonly<Record<string, keyof LogColors>> = { error: "red", warn: "yellow", info: "green", debug: "dim" };

/** `12:30:01 warn  response rejected (NACK)  node=edge-1 …`, and a line break. The time is in UTC. */
export function formatLogLine({ level, time, message, fields }: LogLine, colors: LogColors = noColors): string {
  const tone = colors[TONES[level] ?? "dim"];
  const pairs = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [`${colors.dim(`${key}=`)}${formatValue(value)}`],
  );
  const head = `${colors.dim(time.toISOString().slice(11, 19))} ${tone(level.padEnd(5))} ${message}`;
  return `${[head, ...(pairs.length === 0 ? [] : [pairs.join(" ")])].join("  ")}\n`;
}

function formatValue(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[\w./:@,*+-]+$/.test(value) ? value : JSON.stringify(value);
}
