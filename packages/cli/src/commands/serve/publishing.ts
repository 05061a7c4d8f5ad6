import type { Resource } from "@xdskit/protocol";
import type { ManagementServer, PublishResult } from "@xdskit/server";
import {
  type LoadedState,
  type Problem,
  type ReadingTimes,
  type SourceProblemCode,
  transactionBetween,
} from "@xdskit/source";
import { plural } from "../../output/problems.ts";
import type { SourceOrigin } from "../../settings/git-origin.ts";

/** Puts what a source has in force. */
export interface Publishing {
  /** Given resources as they are read, some of which may never be published. */
  prepare?(resources: readonly Resource[]): void;
  /**
   * `before`: what the source had before, if it was published; `reading`: when it was read. Problems: why it is not in
   * force.
   */
  publish(
    state: LoadedState,
    before: LoadedState | undefined,
    reading?: ReadingTimes,
  ): Promise<readonly Problem[]> | readonly Problem[];
  /** What is in force while the source has errors; undefined: nothing. */
  describeInForce(last: LoadedState | undefined): string | undefined;
}

/** Publishes by a plain commit. */
export function committing(server: Pick<ManagementServer, "commit" | "revision">): Publishing {
  return {
    publish(state, before) {
      const transaction = transactionBetween(before, state);
      if (transaction !== undefined) server.commit(transaction);
      return [];
    },
    describeInForce(last) {
      if (last === undefined) return undefined;
      return `the last valid configuration, revision ${server.revision} with ${plural(last.resources, "resource")}`;
    },
  };
}

/** Publishes through the server's ledger. */
export function recording(
  server: Pick<ManagementServer, "prepare" | "publish" | "ledger">,
  originOf: () => Promise<SourceOrigin>,
): Publishing {
  return {
    prepare: (resources) => server.prepare(resources),
    async publish({ layers, groups, clients, access }, _before, reading) {
      const { author, message, git } = await originOf();
      // Frozen lists are not copied, and one that is the same as before is not read.
      for (const list of layers.values()) Object.freeze(list);
      const result = await server.publish({
        ...{ layers, placement: { groups, clients, access }, author, message },
        origin: { writer: "directory", ...(git !== undefined && { git }) },
        reading,
      });
      return problemsOf(result);
    },
    describeInForce() {
      const { number = 0 } = server.ledger ?? {};
      return number === 0 ? undefined : `the last published configuration, revision ${number}`;
    },
  };
}

const REFUSED: SourceProblemCode = "PUBLISH_REFUSED";

/** A held change is told by the server; on standby another server publishes. */
function problemsOf(result: PublishResult): readonly Problem[] {
  if (result.kind === "unavailable") {
    const message = `the store is unreachable, so only endpoints and secrets of this are sent: ${result.reason}`;
    return [{ code: REFUSED, severity: "error", file: ".", message }];
  }
  if (result.kind !== "refused") return [];
  const message = `nothing of this is in force, because it cannot be recorded: ${result.reason}`;
  return [{ code: REFUSED, severity: "error", file: ".", message }];
}
