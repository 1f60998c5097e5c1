/** The schedule of backups, and the backups that the service has written. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  flag,
  listOf,
  named,
  oneOf,
  orNull,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from './schema.ts'
import { backupStates, weekdays } from './values.ts'

const BackupSchedule = Type.Object({
  folder: text('The absolute path of the folder.'),
  at: text('HH:MM in `time_zone`.'),
  days: listOf(oneOf(weekdays, 'A day.'), 'The days.'),
  time_zone: text('The time zone of the installation.'),
  keep: whole('The number of backups to keep.'),
  with_history: flag('Whether recorded levels are included.'),
})

const Backup = Type.Object({
  file: text('The name of the file in the folder.'),
  path: text('The absolute path of the file.'),
  written_at: time('When it was begun.'),
  duration_ms: whole('How long writing and verifying took, in milliseconds.'),
  bytes: whole('Size of the file.'),
  with_history: flag('Whether it contains recorded levels.'),
  state: oneOf(backupStates, '`changed`: the file has another size. `missing`: it is no longer in the folder.'),
})

export const Backups = named('Backups', 'The schedule of backups, and the backups that the service has written.', {
  configuration_file: textOrNull('The path of the configuration file; null if there is none.'),
  schedule: orNull(BackupSchedule, 'The section `backup` of the configuration; null without one.'),
  next_at: timeOrNull(
    'When the next one is due; null without a schedule, and while one is overdue, which is tried again every 10 minutes.',
  ),
  writer: orNull(
    Type.Object({
      host: text('Host name of its machine.'),
      pid: whole('Process id.'),
      responds: flag('Whether it is the process that responds.'),
    }),
    'The process that writes the backups; null while there is none.',
  ),
  running_since: timeOrNull('When the process that responds began to write a backup; null if it writes none.'),
  failure: orNull(
    Type.Object({ at: time('When it failed.'), error: text('What is wrong and how to fix it.') }),
    'Why the latest backup failed; null if it did not.',
  ),
  last_at: timeOrNull('When a backup was last written, by the service or by `micwatch backup`; null if never.'),
  free_bytes: wholeOrNull('Free space in the folder; null if it is not known.'),
  folder_error: textOrNull('Why the process that responds cannot use the folder; null if it can.'),
  backups: listOf(Backup, 'The backups that the service has written and not deleted, the newest first.'),
})
export type BackupsBody = Body<typeof Backups>

const BackupStarted = named('BackupStarted', 'A backup that is being written.', {
  started_at: time('When it was begun. `running_since` is null when it has ended.'),
})
export type BackupStartedBody = Body<typeof BackupStarted>

export const backupOperations = operationsOf({
  listBackups: endpoint('GET', '/api/admin/backups/', {
    ...about('Administration', 'The schedule of backups, and the backups that the service has written.'),
    response: { 200: Backups },
  }),

  createBackup: endpoint('POST', '/api/admin/backups/', {
    ...about('Administration', 'Begins to write a backup into the folder of the scheduled backups.'),
    response: { 202: BackupStarted, 409: ErrorResponse },
  }),
})
