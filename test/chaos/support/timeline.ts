import type { History } from "./history.ts";

/** Something that was up or not, from top to bottom in the picture. */
export interface Lane {
  readonly name: string;
  /** When it was not, in milliseconds of this process' clock. */
  readonly down: { readonly from: number; readonly to: number }[];
}

/** What happened at one time, as text. */
export interface Mark {
  readonly at: number;
  readonly text: string;
}

export interface Timeline {
  readonly from: number;
  readonly to: number;
  readonly lanes: readonly Lane[];
  readonly marks: readonly Mark[];
  readonly history: History;
  /** What became of the requests, as text. */
  readonly requests: string;
}

const WIDTH = 960;
const LEFT = 150;
const RIGHT = 20;
const LANE = 26;
const TOP = 96;
const DELAYS = 110;

/** Draws the run as an SVG that fits a light and a dark page. */
export function drawTimeline({ from, to, lanes, marks, history, requests }: Timeline): string {
  const x = (at: number): number => round(LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT - RIGHT));
  const below = TOP + lanes.length * LANE;
  const calls = below + 12;
  const publishers = [...new Set(history.appends.map(({ publisher }) => publisher))];
  const delays = calls + publishers.length * LANE + 34;
  const bottom = delays + DELAYS;
  const parts: string[] = [];
  for (let second = 0; second <= (to - from) / 1_000; second += 5) {
    const at = x(from + second * 1_000);
    parts.push(line("grid", at, TOP - 6, at, bottom), text("soft middle", at, bottom + 18, `${second} s`));
  }
  marks.forEach((mark, index) => {
    const at = x(mark.at);
    const y = 40 + (index % 3) * 17;
    parts.push(line("mark", at, y + 4, at, below), text("small", at + 4, y, mark.text));
  });
  lanes.forEach((lane, index) => {
    const y = TOP + index * LANE;
    parts.push(text("label", LEFT - 12, y + 15, lane.name), bar("up", x(from), x(to), y + 3));
    for (const down of lane.down) parts.push(bar("down", x(down.from), x(down.to), y + 3));
  });
  publishers.forEach((name, index) => {
    parts.push(text("label", LEFT - 12, calls + index * LANE + 15, `xds publish ${name}`));
  });
  for (const { publisher, calledAt, outcome } of history.appends) {
    if (calledAt < from || calledAt > to) continue;
    const until = Math.min(to, outcome?.at ?? calledAt);
    const kind = outcome === undefined ? "failed" : "recorded";
    const top = calls + publishers.indexOf(publisher) * LANE + 6;
    const width = Math.max(4, round(x(until) - x(calledAt)));
    parts.push(`<rect class="${kind}" x="${x(calledAt)}" y="${top}" width="${width}" height="10" rx="2"/>`);
  }
  const told = delaysOf(history).filter(({ at }) => at >= from && at <= to);
  const decades = Math.ceil(Math.log10(Math.max(100, ...told.map(({ ms }) => ms))));
  const y = (ms: number): number => round(bottom - (Math.log10(Math.max(1, ms)) / decades) * DELAYS);
  parts.push(text("soft", LEFT, delays - 10, "from recorded to the last client that is connected"));
  for (let decade = 0; decade <= decades; decade++) {
    const at = y(10 ** decade);
    const label = decade < 3 ? `${10 ** decade} ms` : `${10 ** (decade - 3)} s`;
    parts.push(line("grid", LEFT, at, WIDTH - RIGHT, at), text("soft end", LEFT - 12, at + 5, label));
  }
  for (const { at, ms } of told) parts.push(line("stem", x(at), bottom, x(at), y(ms)));
  const title = "Servers and members of etcd fail one after another; clients go on";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 30}" role="img" aria-label="${title}" font-family="system-ui, sans-serif" font-size="14">`,
    `  <style>${STYLE}</style>`,
    `  ${text("title", 20, 22, requests)}`,
    ...parts.map((part) => `  ${part}`),
    "</svg>",
    "",
  ].join("\n");
}

/** How long after it was recorded the last client had a publication, of those that had a stream then. */
function delaysOf({ appends, sightings }: History): readonly { readonly at: number; readonly ms: number }[] {
  return appends.flatMap(({ content, outcome }) => {
    if (outcome === undefined) return [];
    const told = sightings.filter((one) => one.content === content && one.openedAt < outcome.at);
    return told.length === 0 ? [] : [{ at: outcome.at, ms: Math.max(0, ...told.map(({ at }) => at - outcome.at)) }];
  });
}

const STYLE = `
    text { fill: #1f2328; }
    .title { font-weight: 600; }
    .label, .end { text-anchor: end; }
    .middle { text-anchor: middle; }
    .soft { fill: #57606a; font-size: 12px; }
    .small { font-size: 12px; }
    .grid { stroke: #d0d7de; stroke-width: 1; }
    .mark { stroke: #57606a; stroke-dasharray: 3 3; }
    .up { fill: #2da44e; opacity: 0.35; }
    .down { fill: #cf222e; }
    .recorded { fill: #2da44e; }
    .failed { fill: #cf222e; }
    .stem { stroke: #0969da; stroke-width: 3; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .soft { fill: #9da7b3; }
      .grid { stroke: #30363d; }
      .mark { stroke: #8b949e; }
      .up, .recorded { fill: #3fb950; }
      .down, .failed { fill: #f85149; }
      .stem { stroke: #58a6ff; }
    }
  `;

function text(kind: string, x: number, y: number, content: string): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text class="${kind}" x="${x}" y="${y}">${escaped}</text>`;
}

function line(kind: string, x1: number, y1: number, x2: number, y2: number): string {
  return `<line class="${kind}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

function bar(kind: string, from: number, to: number, y: number): string {
  return `<rect class="${kind}" x="${from}" y="${y}" width="${round(to - from)}" height="${LANE - 8}" rx="3"/>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
