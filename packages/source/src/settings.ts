// The settings alone, for who wants their table without what reads a directory: this entry loads nothing from npm.
export {
  type Setting,
  type SettingKey,
  type SettingKind,
  type SettingValue,
  settingTable,
} from "./settings/setting-table.ts";
export { readSettingValue, type ValueResult, type ValueTrouble } from "./settings/setting-value.ts";
