/** export, import: the configuration of an installation as a readable file. */

import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { Document, visit } from 'yaml'
import { exportInstallation } from '../actions/installation/export-installation.ts'
import { ImportError } from '../actions/installation/import-context.ts'
import { type ImportReport, importInstallation } from '../actions/installation/import-installation.ts'
import { InstallationFile, kinds, toInstallationFile } from '../actions/installation/installation-file.ts'
import { findSchemaError } from '../config/config-error.ts'
import { decodeText, parseYaml } from '../config/text-file.ts'
import { createDestinationsExcluding } from '../manufacturers/sources.ts'
import { describeReadError } from '../platform/file-error.ts'
import { openSecrets } from '../storage/secrets.ts'
import { writeText } from '../storage/sqlite-file.ts'
import { escapeControls } from './output.ts'
import { actorOf, withNewStore, withStore } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  formatTable,
  plain,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
} from './terminal.ts'

interface ExportOptions extends CommonOptions {
  readonly output?: string
  readonly withSecrets?: boolean
}

export function exportCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('export', 'Export the configuration of this installation as one YAML file')
    .option('--output <file>', 'file to write (default: standard output)')
    .option('--with-secrets', 'include passwords and keys instead of ********')
    .action(async (options: ExportOptions) => done(await runExport(options, terminal)))
}

async function runExport(options: ExportOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const { output, withSecrets = false } = options
  const installation = await withStore(config, async (db) =>
    exportInstallation({ db, secrets: await openSecrets(config.data_dir, config.secret_key) }),
  )
  const file = toInstallationFile(installation, { withSecrets })
  const content = options.json ? toJsonText(file) : toYamlText(file)
  if (output === undefined) terminal.out(content.trimEnd())
  else {
    await writeText(output, content)
    terminal.err(`Wrote ${plain(output)}: ${describe(file)}.`)
  }
  const unreadable = [
    ...installation.manufacturers.flatMap(({ code, secretsUnreadable }) => (secretsUnreadable ? code : [])),
    ...installation.notification_channels.flatMap(({ name, secrets }) => (secrets === null ? name : [])),
  ]
  if (withSecrets && unreadable.length > 0) {
    terminal.err(`The credentials of ${unreadable.map(plain).join(', ')} cannot be decrypted and are not exported.`)
  }
  return exitCodes.ok
}

function describe(file: InstallationFile): string {
  return kinds
    .filter((kind) => kind !== 'settings' && kind !== 'planning_center')
    .map((kind) => `${file[kind]?.length ?? 0} ${kind}`)
    .join(', ')
}

interface ImportOptions extends CommonOptions {
  readonly dryRun?: boolean
}

export function importCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('import', 'Import a file written by export; adds and changes records, but removes none')
    .argument('<file>', 'YAML or JSON; - for standard input')
    .option('--dry-run', 'show what would change, without changing anything')
    .action(async (file: string, options: ImportOptions) => done(await runImport(file, options, terminal)))
}

async function runImport(path: string, options: ImportOptions, terminal: Terminal): Promise<ExitCode> {
  const { dryRun: isDryRun = false } = options
  const config = readOptions(options, terminal, { isOffline: true })
  const source = path === '-' ? 'standard input' : path
  const file = parseInstallationFile(path === '-' ? await terminal.readAll() : await readText(path), source)
  const secrets = await openSecrets(config.data_dir, config.secret_key)
  try {
    const destinations = createDestinationsExcluding(config.server)
    const report = await withNewStore(config, (db) =>
      importInstallation(db, secrets, destinations, actorOf(terminal), file, { isDryRun, source }),
    )
    if (options.json) printJson(terminal, { dry_run: isDryRun, ...report })
    else print(terminal, report, isDryRun)
    return exitCodes.ok
  } catch (error) {
    if (error instanceof ImportError) throw new UsageError(`${source}: ${error.message}`)
    throw error
  }
}

async function readText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error) => Promise.reject(describeReadError(path, error)))
  return decodeText(path, bytes)
}

function print(terminal: Terminal, { counts, unknown }: ImportReport, isDryRun: boolean): void {
  terminal.out(isDryRun ? 'Dry run: nothing was changed. An import would do this:' : 'Imported:')
  const rows = kinds.map((kind) => [kind, counts[kind].created, counts[kind].updated, counts[kind].unchanged])
  terminal.out(formatTable(['', 'created', 'updated', 'unchanged'], rows))
  if (unknown.length === 0) return
  terminal.out(`Not known yet (${unknown.length}): ${unknown.map(plain).join('; ')}`)
  terminal.out('Import the file again after these devices have been found.')
}

/** Throws a UsageError with the file, the path of the invalid value and the expected value in one line. */
export function parseInstallationFile(content: string, filename: string): InstallationFile {
  let values: unknown
  try {
    values = parseYaml(content)
  } catch (error) {
    throw new UsageError(`${filename}: ${(error as Error).message}`)
  }
  const error = findSchemaError(InstallationFile, values)
  if (error !== null) throw new UsageError(`${filename}: ${error.key === '' ? '' : `${error.key}: `}${error.problem}`)
  return values as InstallationFile
}

const explanation = ` The configuration of an installation, written by micwatch export.

 Import it with micwatch import, which adds and changes the records of the file and removes none. Manufacturers are
 matched by code, locations by their names, groups by title, performers by name, receivers by manufacturer and serial
 number (otherwise by MAC address, otherwise by the id that their system gives them), placeholders by slot, shows by
 title and planned start, markers by time, channel and text, line checks by show, channel and times, notification
 channels by name and type, notification rules by name, frequency profiles by id.

 "********" stands for a secret that was not exported; the import leaves the stored secret unchanged.
 Accounts, tokens, the review queue and the logs are not included: micwatch backup copies everything.`

export function toYamlText(file: InstallationFile): string {
  const document = new Document(file)
  document.commentBefore = explanation
  visit(document, {
    Scalar(_, scalar) {
      // YAML has escapes only in double-quoted strings.
      if (typeof scalar.value === 'string' && escapeControls(scalar.value) !== scalar.value)
        scalar.type = 'QUOTE_DOUBLE'
    },
  })
  // A line width of 0 means no limit, so that long values, such as pictures, stay on one line.
  return escapeControls(document.toString({ lineWidth: 0 }))
}

export function toJsonText(file: InstallationFile): string {
  return escapeControls(`${JSON.stringify(file, null, 2)}\n`)
}
