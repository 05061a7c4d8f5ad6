import {
  clientCases,
  clientPlaysOf,
  playClientInMemory,
  playInMemory,
  playsOf,
  serverCases,
  type Verdict,
} from "@xdskit/conformance";

/** The keys of all in-memory plays, all passed. */
export function allPassed(): Readonly<Record<string, Verdict>> {
  const server = playsOf(serverCases).map(({ key }) => `server ${key}`);
  const client = clientPlaysOf(clientCases).map(({ key }) => `client ${key}`);
  return Object.fromEntries([...server, ...client].map((key) => [key, { passed: true }]));
}

/** The verdicts of all in-memory plays for servers and clients. */
export async function playAll(): Promise<Readonly<Record<string, Verdict>>> {
  const verdicts: [key: string, Verdict][] = [];
  for (const play of playsOf(serverCases)) verdicts.push([`server ${play.key}`, await playInMemory(play)]);
  for (const play of clientPlaysOf(clientCases)) verdicts.push([`client ${play.key}`, await playClientInMemory(play)]);
  return Object.fromEntries(verdicts);
}
