/** Settings: the effective values, and where each comes from. */

import Type, { type TSchema } from 'typebox'
import { type Body, flag, named, oneOf, textOrNull, whole } from '../described.ts'

export const Configuration = named('Config', 'Effective settings.', {
  polling_interval: whole('Seconds between two polls.'),
  alert_battery_threshold: whole('Battery level in percent at or below which an alert is raised.'),
  enable_websocket: flag('False while real-time updates are disabled.'),
})
export type Settings = Body<typeof Configuration>

const sourced = <Value extends TSchema>(value: Value) =>
  Type.Object(
    { value, source: oneOf(['stored', 'global', 'configured', 'default'], 'Where the value comes from.') },
    { description: 'An effective value.' },
  )

export const ScopedSettings = named('ScopedSettings', 'The settings of one scope.', {
  manufacturer: textOrNull('Code of the manufacturer; null for the global settings.'),
  settings: Type.Object(
    {
      polling_interval: sourced(whole('Seconds between two polls.')),
      alert_battery_threshold: sourced(whole('Battery level in percent at or below which an alert is raised.')),
      enable_websocket: sourced(flag('False while real-time updates are disabled.')),
    },
    { description: 'By key.' },
  ),
})
export type SettingsBody = Body<typeof ScopedSettings>
