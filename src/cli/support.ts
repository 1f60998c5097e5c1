/** support bundle: writes a file for those who help with a problem. Works with or without a running service. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { createSupportBundle } from '../actions/support-bundle.ts'
import type { Config } from '../config.ts'
import { isRecord, parseJson } from '../domain/json.ts'
import { pageNames } from '../domain/pages.ts'
import { Service } from '../service.ts'
import { writeText } from '../storage/sqlite-file.ts'
import { localAddressOf, readLocal } from './doctor/server.ts'
import { createLog } from './log.ts'
import { actorOf, requireStore } from './store.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  plain,
  printJson,
  readOptions,
  type Terminal,
} from './terminal.ts'

interface BundleOptions extends CommonOptions {
  readonly withNames?: boolean
}

const defaultFile = 'micwatch-support.json'

export function supportCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  const bundle = createCommand('bundle', 'Write facts about this installation to a file, without secrets')
    .argument('[file]', `file to write (default: ${defaultFile})`)
    .option('--with-names', 'include names of people, channels and equipment')
    .action(async (file: string | undefined, options: BundleOptions) =>
      done(await writeBundle(file ?? defaultFile, options, terminal)),
    )
  return new Command('support').description('Collect what others need to help with a problem').addCommand(bundle)
}

async function writeBundle(file: string, options: BundleOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  await requireStore(config)
  const log = createLog(terminal, config)
  const service = await Service.open(config, { log, pid: terminal.pid, isReadOnly: true, isRecording: false })
  try {
    const withNames = options.withNames === true
    const [metrics, lines] = await Promise.all([readMetrics(config), readJournal()])
    const source = { version: terminal.version, config: { ...config }, metrics, log: lines, withNames }
    const bundle = await createSupportBundle(service, actorOf(terminal), source)
    await writeText(file, `${JSON.stringify(bundle, null, 2)}\n`)
    const missing = [metrics === null ? 'metrics' : [], lines.length === 0 ? 'log' : []].flat()
    if (options.json) printJson(terminal, { file, with_names: withNames, contents: Object.keys(bundle), missing })
    else terminal.out(`Wrote ${plain(file)}: ${Object.keys(bundle).join(', ')}. Read it before you pass it on.`)
    if (missing.length > 0)
      terminal.err(
        `Without ${missing.join(' and ')} of the service: download it on the page ${pageNames.about} to include them.`,
      )
    return exitCodes.ok
  } finally {
    await service.close()
  }
}

const maxMetricsChars = 20_000_000

/** Null if the service does not run, or requires a sign-in. */
async function readMetrics(config: Config): Promise<string | null> {
  const text = await readLocal(new URL(`${localAddressOf(config)}/metrics`), maxMetricsChars).catch(() => '')
  return text.startsWith('# HELP') ? text : null
}

/** Reads the log of the systemd service; empty if there is none. */
async function readJournal(): Promise<readonly string[]> {
  const args = ['--unit', 'micwatch', '--lines', '500', '--output', 'cat', '--no-pager']
  const limits = { timeout: 5_000, maxBuffer: 20_000_000 }
  const { stdout } = await promisify(execFile)('journalctl', args, limits).catch(() => ({ stdout: '' }))
  return stdout.split('\n').filter((line) => isRecord(parseJson(line)))
}
