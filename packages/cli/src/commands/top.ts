import type { ProgressAnswer, ServerAnswer } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { aborted, unlessAborted } from "../interruption.ts";
import { formatJson } from "../output/json.ts";
import type { Screen } from "../screen.ts";
import { askAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";
import { noSample, renderTop, type TopState, takeSample } from "./top/render.ts";

export interface TopFlags extends AdminFlags {
  readonly output: "text" | "json";
  readonly intervalMs: number;
}

const CTRL_C = "\u0003";
/** More than a screen has lines. */
const NODES_NAMED = "200";

/** Shows the server until `q`; once, where there is no terminal. */
export async function top(flags: TopFlags, context: CommandContext): Promise<ExitCode> {
  const { io, colorsOf } = context;
  const first = await sample(flags, context);
  if (flags.output === "json") {
    io.stdout.write(formatJson(first));
    return exitCode.ok;
  }
  const state = takeSample(noSample, { ...first, at: io.now() });
  const screen = io.openScreen();
  if (screen === undefined) {
    const lines = renderTop(state, { colors: colorsOf(io.stdout), size: undefined });
    io.stdout.write(`${lines.join("\n")}\n`);
    return exitCode.ok;
  }
  try {
    return await follow(state, screen, { flags, context });
  } finally {
    screen.close();
  }
}

interface Sample {
  readonly server: ServerAnswer;
  readonly progress: ProgressAnswer;
}

async function sample(flags: TopFlags, { io }: CommandContext): Promise<Sample> {
  const server = await askAdmin<ServerAnswer>("/api/v1/server", {}, flags, io);
  const progress = await askAdmin<ProgressAnswer>("/api/v1/progress/head", { limit: NODES_NAMED }, flags, io);
  return { server, progress };
}

async function follow(
  first: TopState,
  screen: Screen,
  { flags, context }: { readonly flags: TopFlags; readonly context: CommandContext },
): Promise<ExitCode> {
  const { io, colorsOf } = context;
  const left = new AbortController();
  let code: ExitCode = exitCode.ok;
  let state = first;
  const draw = (): void => screen.draw(renderTop(state, { colors: colorsOf(io.stdout), size: screen }));
  screen.onEvent((key) => {
    if (key === undefined) draw();
    if (key === CTRL_C) code = exitCode.interrupted;
    if (key === "q" || key === CTRL_C) left.abort();
  });
  io.onHangup(() => left.abort());
  const ended = AbortSignal.any([left.signal, io.interrupted]);
  while (!ended.aborted) {
    draw();
    await elapsed(flags.intervalMs, ended);
    if (!ended.aborted) state = (await unlessAborted(next(state, { flags, context }), ended)) ?? state;
  }
  return io.interrupted.aborted ? exitCode.interrupted : code;
}

/** The state after another look; a server that cannot be asked is shown as it was, and that it cannot. */
async function next(
  state: TopState,
  { flags, context }: { readonly flags: TopFlags; readonly context: CommandContext },
): Promise<TopState> {
  const { io } = context;
  try {
    return takeSample(state, { ...(await sample(flags, context)), at: io.now() });
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause;
    return { ...state, at: io.now(), failure: cause.message };
  }
}

async function elapsed(ms: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), ms);
  await Promise.race([aborted(over.signal), aborted(signal, over.signal)]);
  clearTimeout(timer);
}
