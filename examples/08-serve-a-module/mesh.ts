import inventory from "./inventory.json" with { type: "json" };
import { cluster, listener, type Resource } from "./resources.ts";

interface Service {
  readonly name: string;
  readonly port: number;
  readonly instances: readonly number[];
}

const services: readonly Service[] = inventory;

/** A cluster and a port for each service; canaries try the first instance alone. */
const layers: Readonly<Record<string, readonly Resource[]>> = {
  base: services.flatMap(({ name, port, instances }) => [cluster(name, instances), listener(name, port, name)]),
  "group/canary": services.map(({ name, instances }) => cluster(name, instances.slice(0, 1))),
};

export default { layers };
