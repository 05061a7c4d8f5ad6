import { TimedSlices } from "../timed-slices.ts";
import type { AdminReply } from "../workers/messages.ts";
import type { AdminAnswer, PageAnswer } from "./route.ts";

/** An answer as one value, for another process. Only answers in JSON can be passed on. */
export async function wholeAnswer(answer: AdminAnswer): Promise<AdminReply> {
  if (answer.kind === "json") return { status: answer.status ?? 200, value: plain(answer.value) };
  if (answer.kind === "page") return { status: 200, value: await wholePage(answer) };
  throw new Error(`a ${answer.kind} cannot be passed on`);
}

async function wholePage({ steps, offset, limit }: PageAnswer): Promise<unknown> {
  const slices = new TimedSlices();
  const items: unknown[] = [];
  let total = 0;
  for (const step of steps) {
    if (step !== undefined && total++ >= offset && items.length < limit) items.push(plain(step()));
    if (slices.isOver) await slices.next();
  }
  return { items, total };
}

/** Answers may have values that JSON leaves out, and shared parts. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
