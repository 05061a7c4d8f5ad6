import type { JSX, TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";

export interface Point {
  readonly x: number;
  readonly y: number;
  /** What the point is, for the reader at it. */
  readonly label: () => string;
}

const [WIDTH, HEIGHT] = [320, 84];
/** Fewer bars are as wide as if there were so many. */
const MIN_BARS = 12;

/** A plot of one value: its newest, and its range. As bars where the points are events and not a course. */
export function Chart({
  title,
  points,
  format,
  kind = "line",
}: {
  readonly title: string;
  readonly points: readonly Point[];
  readonly format: (value: number) => string;
  readonly kind?: "line" | "bars";
}): JSX.Element {
  const [at, setAt] = useState<number>();
  const top = Math.max(1e-9, ...points.map(({ y }) => y));
  const [first, last] = [points[0]?.x ?? 0, points.at(-1)?.x ?? 0];
  const xOf = ({ x }: Point): number => (last === first ? WIDTH : ((x - first) / (last - first)) * WIDTH);
  const yOf = ({ y }: Point): number => HEIGHT - 2 - (y / top) * (HEIGHT - 10);
  const shown = points[at ?? points.length - 1] ?? points.at(-1);
  const nearest = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    if (kind === "bars") {
      setAt(Math.min(points.length - 1, Math.floor(share * Math.max(points.length, MIN_BARS))));
      return;
    }
    const distances = points.map((point) => Math.abs(xOf(point) - share * WIDTH));
    setAt(distances.indexOf(Math.min(...distances)));
  };
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <strong>{shown === undefined ? "–" : format(shown.y)}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        onPointerMove={nearest}
        onPointerLeave={() => setAt(undefined)}
      >
        <title>{title}</title>
        {kind === "bars" ? (
          <Bars points={points} yOf={yOf} at={at} />
        ) : (
          <Course points={points} xOf={xOf} yOf={yOf} at={at} />
        )}
      </svg>
      <small>{shown === undefined ? "nothing yet" : at === undefined ? `peak ${format(top)}` : shown.label()}</small>
    </figure>
  );
}

interface Drawn {
  readonly points: readonly Point[];
  readonly yOf: (point: Point) => number;
  readonly at: number | undefined;
}

function Bars({ points, yOf, at }: Drawn): JSX.Element {
  const step = WIDTH / Math.max(points.length, MIN_BARS);
  return (
    <g>
      {points.map((point, index) => (
        <rect
          key={point.x}
          class={index === at ? "value at" : "value"}
          x={index * step + step * 0.15}
          width={step * 0.7}
          y={yOf(point)}
          height={HEIGHT - yOf(point)}
          rx={1.5}
        />
      ))}
    </g>
  );
}

function Course({ points, xOf, yOf, at }: Drawn & { readonly xOf: (point: Point) => number }): JSX.Element {
  const line = points.map((point) => `${xOf(point).toFixed(1)},${yOf(point).toFixed(1)}`).join(" L");
  const marked = at === undefined ? undefined : points[at];
  if (points.length < 2) return <g />;
  return (
    <g>
      <path class="area" d={`M0,${HEIGHT} L${line} L${WIDTH},${HEIGHT} Z`} />
      <path class="line" d={`M${line}`} vector-effect="non-scaling-stroke" />
      {marked !== undefined && (
        <line class="mark" x1={xOf(marked)} x2={xOf(marked)} y1={0} y2={HEIGHT} vector-effect="non-scaling-stroke" />
      )}
    </g>
  );
}
