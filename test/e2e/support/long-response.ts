import { type IncomingMessage, request } from "node:http";
import { until } from "./wait.ts";

/** The path of a backend's endless response: a line with the next number every 50 ms. */
export const LONG_PATH = "/long";

/** An endless response through Envoy, checked as it arrives. */
export interface LongResponse extends AsyncDisposable {
  /**
   * Waits for the next chunk; rejects if the response was cut or a number is missing. Resolves with the number of
   * chunks since the last call.
   */
  goesOn(withinMs: number): Promise<number>;
  /** Why it ended; undefined while it continues. */
  broken(): string | undefined;
}

/** Opens a long response and waits for its first chunk. */
export async function openLongResponse(port: number): Promise<LongResponse> {
  let next = 0;
  let taken = 0;
  let broken: string | undefined;
  let rest = "";
  const end = (why: string): void => {
    broken ??= `${why} after ${next} chunks`;
  };
  const read = (text: string): void => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === String(next)) next += 1;
      else end(`expected chunk ${next}, got ${JSON.stringify(line)}`);
    }
  };
  const sent = request({ host: "127.0.0.1", port, path: LONG_PATH, agent: false });
  sent.on("error", (error) => end(error.message));
  sent.on("response", (response: IncomingMessage) => {
    if (response.statusCode !== 200) end(`status ${response.statusCode}`);
    response.setEncoding("utf8");
    response.on("data", read);
    response.on("error", (error) => end(error.message));
    response.on("end", () => end("it ended"));
  });
  sent.end();
  const goesOn = async (withinMs: number): Promise<number> => {
    const before = next;
    const isAlive = (): boolean => broken !== undefined || next > before;
    await until({ says: "the long response goes on", withinMs }, isAlive);
    if (broken !== undefined) throw new Error(`the long response was cut: ${broken}`);
    const chunks = next - taken;
    taken = next;
    return chunks;
  };
  await goesOn(2_000);
  return {
    goesOn,
    broken: () => broken,
    async [Symbol.asyncDispose]() {
      sent.destroy();
      await until({ says: "the long response is closed", withinMs: 2_000 }, () => broken !== undefined);
    },
  };
}
