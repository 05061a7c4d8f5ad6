import { createXdsClient } from "@xdskit/client";

const [left = "127.0.0.1:18000", right = "127.0.0.1:28000"] = process.argv.slice(2);
const settleMs = Number(process.env.SETTLE_MS ?? 5_000);

/** What a server gives to a proxy, by type and name, for as long as the client lives. */
async function follow(address, changed) {
  const client = await createXdsClient({ server: address, node: process.env.NODE_ID ?? "drift", mode: "proxy" });
  const mesh = client.mesh();
  const held = () =>
    new Map(
      [...(mesh.current?.all.values() ?? [])]
        .filter(({ resource }) => resource !== undefined)
        .map(({ type, name, resource }) => [`${type.split(".").at(-1)} ${name}`, JSON.stringify(resource.json)]),
    );
  const following = async () => {
    for await (const _ of mesh) changed();
  };
  return { address, client, held, ready: mesh.ready, following: following() };
}

/** A line for each resource that only one side has, or that differs. */
function differences(one, other) {
  const [ours, theirs] = [one.held(), other.held()];
  return [...new Set([...ours.keys(), ...theirs.keys()])].toSorted().flatMap((key) => {
    if (!theirs.has(key)) return [`only ${one.address} has ${key}`];
    if (!ours.has(key)) return [`only ${other.address} has ${key}`];
    return ours.get(key) === theirs.get(key) ? [] : [`${key} differs`];
  });
}

let timer;
let told;
/** A change that is on its way to both is no drift: only what lasts is told. */
function compareSoon() {
  clearTimeout(timer);
  timer = setTimeout(compare, settleMs);
}

function compare() {
  const found = differences(...sides);
  const text = found.length === 0 ? "no drift" : found.join("\n");
  if (text !== told) console.log(text);
  told = text;
}

const sides = await Promise.all([left, right].map((address) => follow(address, compareSoon)));
await Promise.all(sides.map(({ ready }) => ready));
compareSoon();
process.once("SIGTERM", async () => {
  clearTimeout(timer);
  await Promise.all(sides.map(({ client }) => client.close()));
});
await Promise.all(sides.map(({ following }) => following));
