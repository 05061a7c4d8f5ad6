import { logTable } from "@xdskit/server";
import { expect, test } from "vitest";
import { chooseColors } from "./color.ts";
import { commandLogTable, createLog } from "./log.ts";

function lines(
  format: "text" | "json",
  level: string,
): { write: ReturnType<typeof createLog>["write"]; text: () => string } {
  const written: string[] = [];
  const output = { isTerminal: false, columns: 80, write: (more: string) => void written.push(more) };
  const log = createLog({ format, level, output, colors: chooseColors(output, {}, "auto") });
  return { write: log.write, text: () => written.join("") };
}

test("a line for people has the time, the level, a sentence and the fields", () => {
  const { write, text } = lines("text", "info");
  write("response-nacked", { node: "edge-1", reason: "no good\\n", names: ["a", "b"], suppressed: undefined });
  expect(text()).toMatch(
    /^\d\d:\d\d:\d\d warn {2}response rejected \(NACK\) {2}node=edge-1 reason="no good\\\\n" names=\["a","b"\]\n$/,
  );
});

test("a line for machines is JSON with the event's name", () => {
  const { write, text } = lines("json", "info");
  write("loaded", { resources: 1 });
  expect(JSON.parse(text())).toMatchObject({
    level: "info",
    event: "loaded",
    message: commandLogTable.loaded.message,
    resources: 1,
  });
});

test("no field has the name of a part that every line has", () => {
  const ofLine = ["level", "time", "event", "message"];
  const colliding = Object.entries({ ...logTable, ...commandLogTable }).flatMap(([event, { fields }]) =>
    fields.filter((field) => ofLine.includes(field)).map((field) => `${event}: ${field}`),
  );
  expect(colliding).toEqual([]);
});

test("the level leaves out what is less important", () => {
  const { write, text } = lines("json", "warn");
  write("loaded", {});
  write("stream-opened", {});
  write("problems-cut", { not_shown: 1 });
  expect(text().trim().split("\n")).toHaveLength(1);
});
