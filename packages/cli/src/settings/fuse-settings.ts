import { defaultFuses, type FuseSettings } from "@xdskit/protocol/internal";
import type { SettingKey } from "@xdskit/source/settings";
import type { SettingValues } from "./resolve-settings.ts";

/** What the settings say about fuses. */
export function fuseSettingsOf(values: SettingValues): FuseSettings {
  const number = (key: SettingKey, byDefault: number): number => values.number(key) ?? byDefault;
  const orOff = (key: SettingKey, byDefault: number | "off"): number | "off" =>
    values.text(key) === "off" ? "off" : (values.number(key) ?? byDefault);
  const usual = defaultFuses;
  return {
    resourcesRemoved: orOff("fuses.resources-removed", usual.resourcesRemoved),
    resourcesRemovedFloor: number("fuses.resources-removed-floor", usual.resourcesRemovedFloor),
    lastListener: values.flag("fuses.last-listener") ?? usual.lastListener,
    nodesMoved: orOff("fuses.nodes-moved", usual.nodesMoved),
    nodesMovedFloor: number("fuses.nodes-moved-floor", usual.nodesMovedFloor),
    nodesCutOff: orOff("fuses.nodes-cut-off", usual.nodesCutOff),
    sizeGrown: orOff("fuses.size-grown", usual.sizeGrown),
    sizeShrunk: orOff("fuses.size-shrunk", usual.sizeShrunk),
    sizeFloor: number("fuses.size-floor", usual.sizeFloor),
    endpointsEmptiedMs: orOff("fuses.endpoints-emptied", usual.endpointsEmptiedMs),
  };
}
