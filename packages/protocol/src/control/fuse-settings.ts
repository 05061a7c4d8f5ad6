/** When fuses hold a change. A share is of 1; "off" never holds. */
export interface FuseSettings {
  /** Holds what leaves a layer without more than this share of the resources of a type. */
  readonly resourcesRemoved: number | "off";
  /** Up to so many resources may always go. */
  readonly resourcesRemovedFloor: number;
  /** Holds what leaves a view without its last listener. */
  readonly lastListener: boolean;
  /** Holds what gives more than this share of the connected nodes other layers. */
  readonly nodesMoved: number | "off";
  /** Up to so many nodes may always move. */
  readonly nodesMovedFloor: number;
  /** Holds what would cut off more than this share of the connected nodes. */
  readonly nodesCutOff: number | "off";
  /** Holds what makes a layer's resources of a type larger by this share or more. */
  readonly sizeGrown: number | "off";
  /** Holds what makes them smaller by this share or more. */
  readonly sizeShrunk: number | "off";
  /** A difference of up to so many bytes is always fine. */
  readonly sizeFloor: number;
  /** For how long endpoints that become empty are held back, each by itself, in milliseconds. */
  readonly endpointsEmptiedMs: number | "off";
}

export const defaultFuses: FuseSettings = {
  resourcesRemoved: 0.5,
  resourcesRemovedFloor: 10,
  lastListener: true,
  nodesMoved: 0.5,
  nodesMovedFloor: 1,
  nodesCutOff: 0.05,
  sizeGrown: 1,
  sizeShrunk: 0.5,
  sizeFloor: 16 * 1024,
  endpointsEmptiedMs: 10 * 60_000,
};
