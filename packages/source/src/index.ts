export type { Progress } from "./directory/file-cache.ts";
export {
  createDirectorySource,
  type DirectorySource,
  type DirectorySourceOptions,
  sameLoad,
} from "./directory-source.ts";
export { columnInExcerpt } from "./document/text-position.ts";
export { type FileFormat, type FileRole, roleOf, settingsFile } from "./layout.ts";
export {
  type Load,
  type LoadedState,
  layerChangesBetween,
  type ReadingTimes,
  transactionBetween,
} from "./loaded-state.ts";
export { createModuleSource, type ModuleSourceOptions, type ResourceSource } from "./module-source.ts";
export type { Place, Problem, SourceProblemCode } from "./problem.ts";
export { type ProblemCounts, problemCounts } from "./problem-bound.ts";
export type { Patience } from "./quiet.ts";
export type { ValidationLevel } from "./read-resource.ts";
export { readSettings } from "./read-settings.ts";
export type { RecountedFile } from "./recounted-files.ts";
export type { AskedResource, ResourcePlace } from "./resource-places.ts";
export type { ListenerSettings, ListenerTls } from "./settings/choice-reading.ts";
export {
  type Bounds,
  type Setting,
  type SettingKey,
  type SettingKind,
  type Settings,
  type SettingValue,
  settingTable,
} from "./settings/setting-table.ts";
export { readSettingValue, type ValueResult, type ValueTrouble } from "./settings/setting-value.ts";
export type { PlacedRule, SettingPlaces, SettingsContent } from "./settings/settings-file.ts";
export { readServerSwitches } from "./settings/switch-value.ts";
