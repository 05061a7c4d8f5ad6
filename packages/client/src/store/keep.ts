import type { ClientReport, HeldState, SourceId } from "@xdskit/protocol";
import type { ResourceStore } from "./resource-store.ts";

/** Where things stand now. */
type States = () => Iterable<HeldState & { readonly source: SourceId }>;

/** Has what is held at a source kept whenever something of it is another than before. What nobody watches any more is not. */
export function keepWhatIsHeld(store: ResourceStore, states: States): (report: ClientReport) => void {
  return (report) => {
    const hasChanged = (report.kind === "response-accepted" && report.isNews) || report.kind === "resource-expired";
    if (!hasChanged) return;
    const { source } = report;
    store.save(source, function* () {
      for (const state of states()) if (state.source === source && state.resource !== undefined) yield state.resource;
    });
  };
}
