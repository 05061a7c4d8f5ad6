import type { GraphAnswer, GraphNodeAnswer } from "@xdskit/server";
import type { JSX } from "preact";
import { typeName } from "../format.ts";
import { linkTo } from "../router.ts";

/** The types in the order of their references, each a column. */
const columns = ["lds", "srds", "rds", "vhds", "cds", "eds", "sds"];
const [BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y] = [190, 46, 56, 14];

interface Box {
  readonly node: GraphNodeAnswer;
  readonly x: number;
  readonly y: number;
}

/** The resources around one, from Listener to Secret, left to right. */
export function Graph({ graph }: { readonly graph: GraphAnswer }): JSX.Element {
  const boxes = layOut(graph);
  const width = Math.max(...boxes.map(({ x }) => x)) + BOX_WIDTH + 4;
  const height = Math.max(...boxes.map(({ y }) => y)) + BOX_HEIGHT + 4;
  return (
    <div class="graph">
      <svg
        width={width}
        height={height}
        viewBox={`-2 -2 ${width} ${height}`}
        aria-label="References around this resource"
        role="group"
      >
        {graph.edges.map(({ from, to }) => {
          const [a, b] = [boxes[from], boxes[to]];
          return a === undefined || b === undefined ? null : (
            <path key={`${from} ${to}`} class="edge" d={curve(a, b)} />
          );
        })}
        {boxes.map((box, index) => (
          <BoxOf key={`${box.node.type} ${box.node.name}`} box={box} isCenter={index === 0} />
        ))}
      </svg>
      {graph.isCut === true && <p class="note">There are more than these 100.</p>}
    </div>
  );
}

function BoxOf({ box: { node, x, y }, isCenter }: { readonly box: Box; readonly isCenter: boolean }): JSX.Element {
  const kind = node.missing === true ? "box missing" : isCenter ? "box center" : "box";
  const name = node.name.length > 24 ? `${node.name.slice(0, 11)}…${node.name.slice(-12)}` : node.name;
  return (
    <a href={linkTo("/resource", { type: node.type, name: node.name })} aria-current={isCenter ? "true" : undefined}>
      <g class={kind} transform={`translate(${x} ${y})`}>
        {name !== node.name && <title>{node.name}</title>}
        <rect width={BOX_WIDTH} height={BOX_HEIGHT} rx={8} />
        <text class="type" x={12} y={18}>
          {`${typeName(node)}${node.missing === true ? ", missing" : ""} `}
        </text>
        <text x={12} y={35}>
          {name}
        </text>
      </g>
    </a>
  );
}

function layOut({ nodes, edges }: GraphAnswer): readonly Box[] {
  const columnOf = (node: GraphNodeAnswer): number => {
    const at = columns.indexOf(node.shortName ?? "");
    return at === -1 ? columns.length : at;
  };
  const used = [...new Set(nodes.map(columnOf))].sort((a, b) => a - b);
  const rowOf = new Map<number, number>();
  // Each column in the order of what refers to it, so that few lines cross.
  for (const column of used) {
    const members = nodes.flatMap((node, index) => (columnOf(node) === column ? [index] : []));
    const weights = new Map(members.map((index) => [index, averageRow(index)] as const));
    members.sort((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0));
    for (const [row, index] of members.entries()) rowOf.set(index, row);
  }
  function averageRow(index: number): number {
    const rows = edges.flatMap(({ from, to }) => {
      const other = to === index ? from : from === index ? to : undefined;
      return other === undefined ? [] : (rowOf.get(other) ?? []);
    });
    return rows.length === 0 ? index : rows.reduce((sum, row) => sum + row, 0) / rows.length;
  }
  const sizes = used.map((column) => nodes.filter((node) => columnOf(node) === column).length);
  const tallest = Math.max(...sizes);
  return nodes.map((node, index) => {
    const column = used.indexOf(columnOf(node));
    const offset = (tallest - (sizes[column] ?? 0)) / 2;
    return {
      node,
      x: column * (BOX_WIDTH + GAP_X),
      y: ((rowOf.get(index) ?? 0) + offset) * (BOX_HEIGHT + GAP_Y),
    };
  });
}

function curve(a: Box, b: Box): string {
  const [y1, y2] = [a.y + BOX_HEIGHT / 2, b.y + BOX_HEIGHT / 2];
  const [x1, x2] = a.x <= b.x ? [a.x + BOX_WIDTH, b.x] : [a.x, b.x + BOX_WIDTH];
  const bend = Math.max(24, Math.abs(x2 - x1) / 2) * Math.sign(x2 - x1 || 1);
  return `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
}
