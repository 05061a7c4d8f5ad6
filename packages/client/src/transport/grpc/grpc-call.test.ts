import { expect, test } from "vitest";
import { systemWords } from "./grpc-call.ts";

test.each([
  [
    "No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1 (2026-01-02T03:04:05.678Z). Resolution note: ",
    "no connection: connect ECONNREFUSED 127.0.0.1:1",
  ],
  [
    "No connection established. Last error: connect ENOENT /run/xds.sock (2026-01-02T03:04:05.678Z). Resolution note: \nmore",
    "no connection: connect ENOENT /run/xds.sock",
  ],
  [
    "No connection established. Last error: Error: 00A1:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/x.c:355:\n (2026-01-02T03:04:05.678Z). Resolution note: ",
    "no connection: wrong version number",
  ],
  ["No connection established. Last error: null. Resolution note: ", "no connection"],
  [
    "Name resolution failed for target dns:nowhere.invalid:1",
    "Name resolution failed for target dns:nowhere.invalid:1",
  ],
  [
    "No connection established. Last error: Error: Protocol error (2026-01-02T03:04:05.678Z). Resolution note: ",
    "no connection: Protocol error: something answers, but no xDS server: is that its admin port?",
  ],
  ["go away", "go away"],
])("of %j an operator reads what the system says", (details, words) => {
  expect(systemWords(details)).toBe(words);
});
