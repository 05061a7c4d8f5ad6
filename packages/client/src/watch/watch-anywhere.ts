import { formatTypeUrl, isListName, messageNameOf, type News, type TypeUrl, typeInName } from "@xdskit/protocol";
import type { Driver, Interest } from "../driver/driver.ts";
import { namesLocatedBy } from "../resource/located.ts";
import { type EntryReader, entryIn, membersOf } from "../resource/members.ts";
import { watchFollowing } from "./follow.ts";
import { watchList } from "./follow-list.ts";

/** How something is found. */
export interface Finding {
  readonly api: EntryReader;
  readonly driver: Pick<Driver, "watch">;
  /** In v3, whatever version of the API the places speak. */
  readonly type: TypeUrl;
  /** Where resources of a type, which may be the list collection of `type`, are asked for by a name: the best first; none: nowhere. */
  readonly placesOf: (type: TypeUrl, name: string) => readonly Interest[];
}

type Listener = (news: News) => void;

/**
 * Watches a name wherever that leads: to an alternative place (C-XTP-11), to where a locator says (S-XTP-10), or to all that a list collection of
 * the type lists (B-XTP-07).
 */
export function watchAnywhere(finding: Finding, name: string, listener: Listener): () => void {
  const { api, type } = finding;
  if (!isListName(name, type)) return watchPlaces(finding, type, finding.placesOf(type, name), listener);
  const listType = formatTypeUrl(`${messageNameOf(type)}Collection`);
  return watchList(
    {
      watch: (hear) => watchPlaces(finding, listType, finding.placesOf(listType, name), hear),
      membersOf: (collection, listName) => membersOf(collection, listName, api),
      watchAt: (names) => {
        const places = placesAt(finding, type, names);
        return places.length === 0 ? undefined : (hear) => watchPlaces(finding, type, places, hear);
      },
      entry: entryIn(name),
    },
    listener,
  );
}

function watchPlaces(finding: Finding, type: TypeUrl, places: readonly Interest[], listener: Listener): () => void {
  const { api, driver } = finding;
  return watchFollowing(
    { driver, places, locate: (locator) => placesAt(finding, type, namesLocatedBy(locator, api)) },
    listener,
  );
}

/** A locator of something of another type leads nowhere. */
function placesAt({ placesOf }: Finding, type: TypeUrl, names: readonly string[]): readonly Interest[] {
  return names.filter((name) => typeInName(name) === messageNameOf(type)).flatMap((name) => placesOf(type, name));
}
