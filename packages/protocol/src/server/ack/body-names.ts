import type { Body } from "../../message/body.ts";
import { shownName } from "../../resource/variant-name.ts";

/** The number of resources and of removals in a body. */
export interface ResponseSize {
  readonly resources: number;
  readonly removed: number;
}

/** The most names of one list that people are shown. */
export const NAMES_SHOWN = 100;

/** How much of each of them. */
const CHARACTERS_SHOWN = 256;

/** The names in a body, in its order, as shown to people; at most 100. */
export function namesIn(body: Body): readonly string[] {
  const names: string[] = [];
  for (const name of everyName(body)) {
    if (names.length === NAMES_SHOWN) break;
    names.push(shortened(shownName(name)));
  }
  return names;
}

/** A copy, because a part of a text keeps all of it. */
function shortened(name: string): string {
  return name.length <= CHARACTERS_SHOWN ? name : `${[...name.slice(0, CHARACTERS_SHOWN)].join("")}…`;
}

/** The names in a body, in its order. */
export function* everyName(body: Body): Iterable<string> {
  for (const segment of body.segments) {
    for (const put of segment.puts) yield put.name;
    yield* segment.removed;
    yield* segment.missing;
    for (const error of segment.errors ?? []) yield error.name;
    for (const heartbeat of segment.heartbeats ?? []) yield heartbeat.name;
  }
}

/** How large a body is. */
export function sizeOf(body: Body): ResponseSize {
  let resources = 0;
  let removed = 0;
  for (const segment of body.segments) {
    resources += segment.puts.length + segment.missing.length + (segment.heartbeats?.length ?? 0);
    removed += segment.removed.length;
  }
  return { resources, removed };
}
