import type { ClientReport } from "@xdskit/protocol";

/** Hears whether a server answered, be it with something that is refused. */
export class Answers {
  isAnswered = false;
  /** Called with each answer. */
  heard: () => void = () => {};
  /** Called when a stream or poll ended that is tried again. */
  broken: (report: Extract<ClientReport, { kind: "stream-ended" }>) => void = () => {};

  readonly onReport = (report: ClientReport): void => {
    switch (report.kind) {
      case "response-accepted":
      case "response-rejected":
      case "poll-unchanged":
        this.isAnswered = true;
        this.heard();
        break;
      case "stream-ended":
        this.broken(report);
        break;
      default:
    }
  };
}
