import { expect, test } from "vitest";
import { reportPauseMs } from "./health-driver.ts";

test("reports on very many endpoints take at most a tenth of the time, whatever interval the server asks for", () => {
  expect([reportPauseMs(100, 0), reportPauseMs(100, 11), reportPauseMs(100, 900), reportPauseMs(60_000, 900)]).toEqual([
    ...[100, 100, 8_100, 60_000],
  ]);
});
