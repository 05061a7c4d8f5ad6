import type { Body, Segment } from "../../message/body.ts";
import { countOf } from "../subscription/names.ts";

/** The names that a client sent and that a response repeats, because it has no resources for them. */
export interface Absences {
  /** The names whose removal is an answer; other removals are of resources that the client was sent. */
  readonly answered: Pick<ReadonlySet<string>, "has">;
  /** How many names they count for. */
  readonly counted: number;
}

const none: Absences["answered"] = new Set();

/** The absences in a body; undefined: none. `isNamed`: whether the client subscribes to a name. */
export function absencesIn(
  { segments }: Body,
  answered: Absences["answered"] | undefined,
  isNamed: (name: string) => boolean,
): Absences | undefined {
  let counted = 0;
  for (const { removed, missing, errors } of segments) {
    if (answered !== undefined) for (const name of removed) if (answered.has(name)) counted += countOf(name);
    for (const name of missing) counted += countOf(name);
    if (errors !== undefined) for (const { name } of errors) if (isNamed(name)) counted += countOf(name);
  }
  return counted === 0 ? undefined : { answered: answered ?? none, counted };
}

/** A body without its absences and errors, as it is remembered once it was ACKed or NACKed. */
export function withoutAbsences(body: Body, { answered }: Absences): Body {
  // A heartbeat of State of the World repeats the body.
  if (body.variant === "sotw" && body.ttls === "told") return body;
  const cut = ({ puts, removed }: Segment): Segment => ({
    puts,
    removed: removed.filter((name) => !answered.has(name)),
    missing: [],
  });
  return { ...body, segments: body.segments.map(cut) };
}
