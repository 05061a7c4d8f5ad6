import type { ClientReport, SourcedState, SourceId } from "@xdskit/protocol";
import type { SourceCache } from "./source-cache.ts";

/** Where things stand at a source now. */
type States = (source: SourceId) => Iterable<SourcedState>;

/** Has what is held at a source kept whenever something of it is another than before. What nobody watches any more is not. */
export function keepWhatIsHeld(cache: SourceCache, states: States): (report: ClientReport) => void {
  return (report) => {
    if (!changesWhatIsHeld(report)) return;
    const { source } = report;
    cache.save(source, function* () {
      for (const { resource } of states(source)) if (resource !== undefined) yield resource;
    });
  };
}

/** A response that is refused may have had something good in it. */
function changesWhatIsHeld(
  report: ClientReport,
): report is Extract<ClientReport, { kind: "response-accepted" | "response-rejected" | "resource-expired" }> {
  if (report.kind === "response-accepted" || report.kind === "response-rejected") return report.isNews;
  return report.kind === "resource-expired";
}
