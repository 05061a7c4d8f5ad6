import { nameOfUrl, type TypeName, urlOf } from "../../content/catalog.ts";
import type { StreamPurpose } from "./driver.ts";

/** The name of a stream in a case of this type. */
export function streamName({ source, onlyType, server }: StreamPurpose, type: TypeName): string {
  const ofType = onlyType === undefined || onlyType === urlOf(type) ? "" : ` ${nameOfUrl(onlyType)}`;
  return `${source}${ofType}${server === 0 ? "" : ` at ${server}`}`;
}
