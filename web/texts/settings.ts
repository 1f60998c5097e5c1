/** Settings that take effect while the service runs. */

import type { SettingKey, SettingSource } from '../../src/model/settings.ts'

const keys: Record<SettingKey, { readonly title: string; readonly says: string; readonly unit: string }> = {
  polling_interval: {
    title: 'Polling interval',
    says: 'How long after the start of a poll the next one begins.',
    unit: 's',
  },
  alert_battery_threshold: {
    title: 'Battery alert',
    says: 'A battery at or under this raises an alert; 5 % above it clears it.',
    unit: '%',
  },
  enable_websocket: {
    title: 'Live updates',
    says: 'Pages are told of changes at once; without, they ask now and then.',
    unit: '',
  },
}

const sources: Record<SettingSource, string> = {
  stored: 'set here',
  global: 'as for all manufacturers',
  configured: 'from the configuration',
  default: 'default',
}

export const settingsTexts = {
  title: 'Settings',
  intro: 'What is changed here counts at once, in every process, without a restart.',
  everyMaker: 'All manufacturers',
  ofMaker: (code: string) => `Only ${code}`,
  caption: (scope: string) => `Settings: ${scope}`,
  none: 'No such manufacturer',
  columns: { setting: 'Setting', value: 'Value', source: 'Comes from', actions: 'Actions' },
  keys,
  sources,
  on: 'on',
  off: 'off',
  value: (value: number | boolean, unit: string) =>
    typeof value === 'boolean' ? (value ? 'on' : 'off') : `${value} ${unit}`,
  change: 'Change',
  changeTitle: (setting: string, scope: string) => `${setting}: ${scope}`,
  bounds: (min: number, max: number) => `A whole number from ${min} to ${max}.`,
  save: 'Save',
  changed: (setting: string, value: string) => `${setting} is ${value} now.`,
  forget: 'Forget',
  forgetTitle: (setting: string, scope: string) => `Forget ${setting} for ${scope}?`,
  forgetGlobal: 'What the configuration says, or else the default, counts again at once.',
  forgetOwn: 'What the configuration of this manufacturer says, or else what holds for all, counts again at once.',
  forgotten: (setting: string) => `${setting} is no longer set here.`,
} as const
