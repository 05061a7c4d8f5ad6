import type { Hub } from "./hub/hub.ts";
import type { GrpcTransport } from "./transport/grpc/server.ts";
import type { WorkerPool } from "./workers/pool.ts";

/** The clients of a server, in this process or in its workers. */
export interface Sessions {
  /** Costs a look at each node. */
  count(): Promise<SessionCounts>;
  /**
   * Asks so many connections to leave, those first that are open longest; those that are young stay. Resolves with how
   * many were asked.
   */
  move(connections: number): Promise<number>;
}

export interface SessionCounts {
  readonly nodes: number;
  /** Nodes that have what is in force. */
  readonly deployed: number;
  /** Connections over HTTP/2 that were not asked to leave. */
  readonly connections: number;
}

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

/** A node with connections to several workers counts at each. */
export function sessionsOf(pool: WorkerPool): Sessions {
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
    async move(connections) {
      // Each has about as many as the others: the primary gives every connection to the worker with the fewest.
      const { length } = await pool.askAll("count-sessions", {});
      const answers = await pool.askAll("move-sessions", { connections: Math.ceil(connections / Math.max(1, length)) });
      return answers.reduce((sum, { moved }) => sum + moved, 0);
    },
  };
}
