/** The section `backup` of the configuration: scheduled backups. */

import { join } from 'node:path'
import Type from 'typebox'
import { type Weekday, weekdays } from '../domain/backups.ts'
import { flag, integer, path, section } from './fields.ts'

export const BackupSection = section({
  at: Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'a time such as 04:45' }),
  days: Type.Array(Type.String({ pattern: `^(${weekdays.join('|')})$`, description: weekdays.join(', ') }), {
    minItems: 1,
    description: `a list of days: ${weekdays.join(', ')}`,
  }),
  keep: integer(1, 1000),
  with_history: flag,
  folder: path('a folder'),
})

export interface BackupConfig {
  /** HH:MM in the time zone of the installation. */
  readonly at: string
  readonly days: readonly Weekday[]
  /** The number of backups to keep. */
  readonly keep: number
  readonly with_history: boolean
  readonly folder: string
  /** True if the folder is the default one, which is created. */
  readonly isDefaultFolder: boolean
}

/** Returns null without any key. */
export function toBackup(entry: Type.Static<typeof BackupSection>, dataDir: string): BackupConfig | null {
  if (Object.keys(entry).length === 0) return null
  const { at = '04:45', days, keep = 7, with_history = false, folder } = entry
  return {
    at,
    days: weekdays.filter((day) => days?.includes(day) ?? true),
    keep,
    with_history,
    folder: folder ?? join(dataDir, 'backups'),
    isDefaultFolder: folder === undefined,
  }
}
