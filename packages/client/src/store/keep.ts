import type { SourceId } from "@xdskit/protocol";
import type { ClientReport, SourcedState } from "@xdskit/protocol/internal";
import type { SourceCache } from "./source-cache.ts";

/** The current states at a source. */
type States = (source: SourceId) => Iterable<SourcedState>;

/** Saves the resources held at a source whenever one changes. Resources that nothing watches any more are not saved. */
export function keepWhatIsHeld(cache: SourceCache, states: States): (report: ClientReport) => void {
  return (report) => {
    if (!changesWhatIsHeld(report)) return;
    const { source } = report;
    cache.save(source, function* () {
      for (const { resource } of states(source)) if (resource !== undefined) yield resource;
    });
  };
}

/** A rejected response may still have valid resources that were applied. */
function changesWhatIsHeld(
  report: ClientReport,
): report is Extract<ClientReport, { kind: "response-accepted" | "response-rejected" | "resource-expired" }> {
  if (report.kind === "response-accepted" || report.kind === "response-rejected") return report.isNews;
  return report.kind === "resource-expired";
}
