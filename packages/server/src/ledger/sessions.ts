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
