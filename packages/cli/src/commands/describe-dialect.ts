import type { DialectAnswer, NodeAnswer } from "@xdskit/server";

/** Describes the edition and dialect of a node's streams; streams with the same ones share a line. */
export function describeDialects(streams: NodeAnswer["streams"]): readonly string[] {
  const lines = new Map<string, number[]>();
  for (const { stream, dialect } of streams) {
    if (dialect === undefined) continue;
    const line = describeDialect(dialect);
    lines.set(line, [...(lines.get(line) ?? []), stream]);
  }
  if (lines.size === 1) return [...lines.keys()];
  return [...lines].map(([line, ids]) => `${ids.map((id) => `#${id}`).join(", ")}: ${line}`);
}

function describeDialect({ edition, editionBy, client, listener, clients, switches }: DialectAnswer): string {
  const chosenBy = (by: string): string => {
    const place = { listener, clients }[by];
    return place === undefined ? by : by === "clients" ? place : `${by} ${place}`;
  };
  const why = editionBy === undefined ? "the default" : chosenBy(editionBy);
  const row = client === undefined ? [] : [`known as ${client}`];
  const switched = switches.map(({ name, value, by }) => `${name}=${value} (${chosenBy(by)})`);
  return [`${edition} (${why})`, ...row, ...switched].join(", ");
}
