/** backup, restore: the whole database as one file. */

import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { describeReadError } from '../platform/file-error.ts'
import { writeBackup } from '../storage/backup.ts'
import { openDatabase } from '../storage/database.ts'
import { saveLastBackup } from '../storage/meta.ts'
import { restoreBackup, startEmpty } from '../storage/restore.ts'
import { openSecrets } from '../storage/secrets.ts'
import { listManufacturers } from '../storage/settings.ts'
import { sqlitePath } from '../storage/sqlite-file.ts'
import { actorOf, requireStore } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  createProgress,
  type ExitCode,
  exitCodes,
  plain,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
} from './terminal.ts'

interface FileOptions extends CommonOptions {
  readonly force?: boolean
}

interface BackupOptions extends FileOptions {
  readonly withHistory?: boolean
}

interface RestoreOptions extends FileOptions {
  readonly none?: boolean
}

export function backupCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('backup', 'Back up the whole database to one file, while it is in use')
    .argument('<file>', 'backup file to create; an existing file is only replaced with --force')
    .option('--force', 'replace an existing file')
    .option('--with-history', 'include the recorded levels (SQLite only)')
    .addHelpText('after', '\nExample: micwatch backup --with-history /media/usb/venue-friday.db')
    .action(async (file: string, options: BackupOptions) => done(await backup(file, options, terminal)))
}

/** A database of an older version is copied unchanged, without migrating it. */
async function backup(file: string, options: BackupOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  await requireStore(config)
  const overwrite = options.force === true
  if (!overwrite && existsSync(file)) throw new Error(`${file} already exists; use --force to replace it`)
  if (options.withHistory && sqlitePath(config.database_url) === null)
    throw new UsageError('--with-history requires SQLite. For PostgreSQL, use pg_dump, which includes the history')
  const progress = createProgress(terminal, 'Recorded levels')
  const withHistory = options.withHistory ? { onProgress: progress.show, signal: terminal.signal } : undefined
  const db = await openDatabase({ url: config.database_url })
  try {
    const written = await writeBackup(db, config.database_url, file, { overwrite, owner: 'process', withHistory })
    progress.end()
    // A database that is not writable can still be backed up.
    await db.transaction((tx) => saveLastBackup(tx, Date.now())).catch(() => {})
    if (options.json) printJson(terminal, { ...written, engine: db.dialect })
    else terminal.out(`Wrote ${plain(file)} (${written.bytes} bytes).`)
  } finally {
    progress.end()
    await db.close()
  }
  if (!options.json) {
    if (withHistory === undefined) terminal.err(describeMissingHistory(config))
    terminal.err(
      `The backup does not contain the key that encrypts the stored secrets. Keep a separate copy of ${config.data_dir}/secret.key.`,
    )
  }
  return exitCodes.ok
}

function describeMissingHistory({ database_url }: Config): string {
  const how = sqlitePath(database_url) === null ? 'use pg_dump' : 'use --with-history'
  return `The backup does not contain the recorded levels; to include them, ${how}.`
}

export function restoreCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('restore', 'Replace the database with a backup; no process may be using it')
    .argument('[file]', 'a file that the backup command wrote')
    .option('--force', 'replace a database that is not empty; a copy of it is kept')
    .option(
      '--none',
      'start with an empty database instead; the current database and its snapshots are kept under other names',
    )
    .action(async (file: string | undefined, options: RestoreOptions) => {
      if (file !== undefined && options.none === true) throw new UsageError('expected either a file or --none')
      if (options.none === true) return done(await resetDatabase(options, terminal))
      if (file === undefined)
        throw new UsageError('expected the backup to restore, or --none to start with an empty database')
      return done(await restore(file, options, terminal))
    })
}

async function resetDatabase(options: RestoreOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const aside = await startEmpty(config, Date.now())
  if (options.json) printJson(terminal, aside)
  else {
    terminal.out('The next start creates an empty database.')
    if (aside.database !== null) terminal.out(`The previous database was renamed to ${aside.database}`)
    if (aside.snapshots !== null) terminal.out(`The snapshots were moved to ${aside.snapshots}`)
    if (aside.history !== null) terminal.out(`The recorded levels were moved to ${aside.history}`)
  }
  return exitCodes.ok
}

async function restore(file: string, options: FileOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  await access(file, constants.R_OK).catch((error) => Promise.reject(describeReadError(file, error)))
  const isForced = options.force === true
  const progress = createProgress(terminal, 'Recorded levels')
  const restored = await restoreBackup({
    paths: config,
    file,
    isForced,
    actor: actorOf(terminal),
    now: Date.now,
    onProgress: progress.show,
    signal: terminal.signal,
  }).finally(progress.end)
  const unreadable = await findUnreadable(config)
  if (options.json) printJson(terminal, { file, ...restored, credentials_unreadable: unreadable })
  else {
    terminal.out(`Restored ${plain(file)}.`)
    if (restored.migrated.length > 0) terminal.out(`Migrated: ${restored.migrated.join(', ')}`)
    if (restored.safety_copy !== null) terminal.out(`The previous database is in ${restored.safety_copy}`)
    const { history, history_safety_copy } = restored
    if (history) terminal.out('The recorded levels were restored too.')
    if (history_safety_copy !== null) terminal.out(`The previous recorded levels are in ${history_safety_copy}`)
  }
  if (unreadable.length > 0) {
    terminal.err(
      `The credentials of ${unreadable.map(plain).join(', ')} were encrypted with another key. Copy the secret.key of the installation that wrote the backup to ${config.data_dir}, or enter the credentials again.`,
    )
  }
  return exitCodes.ok
}

/** Returns the manufacturers whose secrets this installation's key cannot decrypt. */
async function findUnreadable(config: Config): Promise<string[]> {
  const secrets = await openSecrets(config.data_dir, config.secret_key)
  const db = await openDatabase({ url: config.database_url })
  try {
    const records = await listManufacturers(db.read, secrets)
    return records.filter(({ secretsUnreadable }) => secretsUnreadable).map(({ code }) => code)
  } finally {
    await db.close()
  }
}
