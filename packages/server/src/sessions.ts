import type { Hub } from "./hub/hub.ts";
import type { SessionCounts, Sessions } from "./ledger/sessions.ts";
import type { GrpcTransport } from "./transport/grpc/server.ts";
import type { WorkerPool } from "./workers/pool.ts";

export function ownSessions(hub: Hub, transports: () => readonly GrpcTransport[]): Sessions {
  return {
    count() {
      const { deployed, pending, waiting, nacked } = hub.deployments.states(hub.revision);
      const connections = transports().reduce((sum, transport) => sum + transport.staying, 0);
      return Promise.resolve({ nodes: deployed + pending + waiting + nacked, deployed, connections });
    },
    move(connections) {
      let left = connections;
      for (const transport of transports()) left -= transport.moveOldest(left);
      return Promise.resolve(connections - left);
    },
  };
}

/** The sessions of a server, which are those of its workers if it has any. */
export function allSessions(own: Sessions, pool: () => WorkerPool | undefined): Sessions {
  const sessions = (): Sessions => {
    const workers = pool();
    return workers === undefined ? own : sessionsOf(workers);
  };
  return {
    count: async () => await sessions().count(),
    move: async (connections) => await sessions().move(connections),
  };
}

/** A node with connections to several workers counts at each. */
function sessionsOf(pool: WorkerPool): Sessions {
  return {
    async count() {
      const answers = await pool.askAll("count-sessions", {});
      const sum = (of: (counts: SessionCounts) => number): number =>
        answers.reduce((total, counts) => total + of(counts), 0);
      return {
        nodes: sum(({ nodes }) => nodes),
        deployed: sum(({ deployed }) => deployed),
        connections: sum(({ connections }) => connections),
      };
    },
    move: async (connections) => await pool.moveConnections(connections),
  };
}
