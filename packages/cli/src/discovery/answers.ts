import type { SourceId, TypeUrl } from "@xdskit/protocol";
import type { ClientReport } from "@xdskit/protocol/internal";

/** One type at one source, and how fast the source responded. */
export interface AnsweredType {
  readonly source: SourceId;
  readonly type: TypeUrl;
  /** Milliseconds from the first request to the first response; undefined without a response. */
  readonly firstAnswerMs: number | undefined;
}

interface Times {
  readonly source: SourceId;
  readonly type: TypeUrl;
  readonly askedAtMs: number;
  answeredAtMs: number | undefined;
}

/** A response that the client NACKed. */
export type Refusal = Extract<ClientReport, { kind: "response-rejected" }>;

/** Collects the client's reports: response times, and responses that were NACKed. */
export class Answers {
  isAnswered = false;
  /** The version of the last accepted response, as `xds nodes` shows it for the client; undefined without one. */
  version: string | undefined;
  readonly refusals: Refusal[] = [];
  /** Called with each response. */
  heard: () => void = () => {};
  /** Called when a stream or poll fails; the client retries. */
  broken: (report: Extract<ClientReport, { kind: "stream-ended" }>) => void = () => {};
  readonly #types = new Map<string, Times>();

  readonly onReport = (report: ClientReport): void => {
    switch (report.kind) {
      case "request-sent":
        this.#asked(report);
        break;
      case "response-accepted":
      case "response-rejected":
      case "poll-unchanged":
        if (report.kind === "response-rejected") this.refusals.push(report);
        if (report.kind === "response-accepted") this.version = report.version;
        this.#asked(report).answeredAtMs ??= performance.now();
        this.isAnswered = true;
        this.heard();
        break;
      case "stream-ended":
        this.broken(report);
        break;
      default:
    }
  };

  /** Every type that was requested so far. */
  types(): readonly AnsweredType[] {
    return [...this.#types.values()].map(({ source, type, askedAtMs, answeredAtMs }) => {
      return { source, type, firstAnswerMs: answeredAtMs && Math.round(answeredAtMs - askedAtMs) };
    });
  }

  #asked({ source, type }: Pick<Times, "source" | "type">): Times {
    const key = `${type} ${source}`;
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    const made = { source, type, askedAtMs: performance.now(), answeredAtMs: undefined };
    this.#types.set(key, made);
    return made;
  }
}
