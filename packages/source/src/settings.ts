// The settings alone, for programs that need their table without reading directories: this entry imports nothing from
// npm.
export { describeBounds } from "./settings/setting-bounds.ts";
export {
  type Bounds,
  type Setting,
  type SettingKey,
  type SettingKind,
  type SettingValue,
  settingTable,
} from "./settings/setting-table.ts";
export { readSettingValue, type ValueResult, type ValueTrouble } from "./settings/setting-value.ts";
