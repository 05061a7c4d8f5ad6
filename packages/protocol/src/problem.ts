// Names, places and words of problems alone, for programs that start often: this entry loads nothing of the protocol.
export { nearestName } from "./problem/nearest-name.ts";
export { quote } from "./problem/quote.ts";
