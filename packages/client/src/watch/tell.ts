import type { Status } from "@xdskit/protocol";
import { shownName, statusCode, type WatchEvent } from "@xdskit/protocol/internal";
import { XdsClientError, type XdsClientErrorCode } from "../error.ts";
import type { ResourceViews, XdsResource } from "../resource/xds-resource.ts";
import type { Change } from "./change.ts";
import { OneOrMany } from "./one-or-many.ts";
import type { UnreadEvent } from "./pending-events.ts";

type Failed = Extract<WatchEvent, { kind: "failed" }>;

const codes: Readonly<Record<Failed["why"], XdsClientErrorCode>> = {
  rejected: "REJECTED",
  "resource-error": "RESOURCE_ERROR",
  unreachable: "UNREACHABLE",
  timeout: "TIMEOUT",
};

/** Converts failure news to the error that a watch reports. Its cause is the status. */
export function errorOf({ why, name, error }: Failed): XdsClientError {
  const isMethodMissing = why === "unreachable" && error.code === statusCode.UNIMPLEMENTED;
  const about = name === undefined ? "" : `${shownName(name)}: `;
  return new XdsClientError(isMethodMissing ? "TYPE_UNSUPPORTED" : codes[why], `${about}${textOf(error)}`, {
    cause: error,
  });
}

function textOf({ code, message }: Status): string {
  return message === "" ? `status ${code}` : message;
}

/** Converts news to changes. It remembers reported names, to tell `added` from `changed`. */
export class Teller {
  readonly #views: ResourceViews;
  readonly #told = new OneOrMany<true>();

  constructor(views: ResourceViews) {
    this.#views = views;
  }

  /** Whether a resource of the name was reported, and not its absence since. */
  hasTold(name: string): boolean {
    return this.#told.has(name);
  }

  tell(news: UnreadEvent): Change {
    switch (news.kind) {
      case "changed": {
        const kind = this.#told.has(news.name) ? "changed" : "added";
        this.#told.set(news.name, true);
        return { kind, key: shownName(news.name), resource: this.#views.of(news.resource) };
      }
      case "absent":
        this.#told.delete(news.name);
        return { kind: "does-not-exist", key: shownName(news.name), reason: news.why, held: this.#heldIn(news) };
      case "failed": {
        const key = news.name === undefined ? undefined : shownName(news.name);
        return { kind: "error", key, error: errorOf(news), held: this.#heldIn(news) };
      }
      case "recovered":
        return { kind: "recovered" };
      case "synced":
        return { kind: "synced" };
    }
  }

  #heldIn({ held }: Extract<WatchEvent, { kind: "absent" | "failed" }>): XdsResource | undefined {
    return held === undefined ? undefined : this.#views.of(held);
  }
}
