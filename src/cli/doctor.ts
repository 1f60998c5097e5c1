/** doctor: checks the installation and everything that it depends on, and says what to do. Changes nothing. */

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { listVariableWarnings } from '../config/environment.ts'
import { type Config, ConfigError } from '../config.ts'
import { selectLocalAddresses } from '../domain/identity/network.ts'
import { Service } from '../service.ts'
import { isMissing } from '../storage/folder.ts'
import { listHeldLeases } from '../storage/leases.ts'
import {
  asServiceUser,
  type Check,
  failed,
  isAccessDenied,
  passed,
  reasonOf,
  runCheck,
  undetermined,
  within,
} from './doctor/check.ts'
import { checkDataFolder, checkDisk } from './doctor/machine.ts'
import { checkClock, checkMulticast, checkProvider } from './doctor/network.ts'
import { checkCertificate, checkMcpPort, checkOscPort, checkPort } from './doctor/server.ts'
import { checkSources } from './doctor/sources.ts'
import { checkBackup, checkDatabase, checkRedis, type StoreReport } from './doctor/stores.ts'
import { createLog } from './log.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  plain,
  printJson,
  readOptions,
  type Terminal,
  withTemporaryFolder,
} from './terminal.ts'

/** The limits add up to less than 15 s, with that of one check (`checkLimitMs`). */
const databaseMs = 4_500
const openMs = 3_000
/** A name server that does not respond would otherwise hold the process after the result has been printed. */
const exitAfterMs = 500

export function doctorCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  return createCommand('doctor', 'Check the installation and everything it depends on; changes nothing').action(
    async (options: CommonOptions) => done(await doctor(options, terminal)),
  )
}

async function doctor(options: CommonOptions, terminal: Terminal): Promise<ExitCode> {
  const versions = `Micwatch ${terminal.version}, Node.js ${terminal.nodeVersion}.`
  const { config, check } = readConfiguration(options, terminal)
  const checks = [{ name: 'versions', ...passed(versions) }, check]
  if (config !== null)
    checks.push(
      ...(await withTemporaryFolder('micwatch-doctor-', terminal, (folder) => checkAll(config, folder, terminal))),
    )
  const ok = checks.every((each) => each.ok === true)
  if (options.json) printJson(terminal, { ok, checks })
  else print(terminal, checks)
  terminal.exitWithin(exitAfterMs)
  return ok ? exitCodes.ok : exitCodes.failed
}

/** Throws a ConfigError about a flag or a missing file; any other error of the configuration is a problem that was found. */
function readConfiguration(options: CommonOptions, terminal: Terminal): { config: Config | null; check: Check } {
  const name = 'configuration'
  try {
    const config = readOptions(options, terminal, { isOffline: true })
    const source =
      config.file === null ? 'There is no configuration file; the defaults apply.' : `${config.file} is valid.`
    const found = [source, ...listVariableWarnings(terminal.env).map((warning) => `Warning: ${warning}`)].join(' ')
    try {
      readOptions(options, terminal)
      return { config, check: { name, ...passed(found) } }
    } catch (error) {
      const note = `${reasonOf(error)} for this command. The service may have it; otherwise its start fails.`
      return { config, check: { name, ...undetermined(note) } }
    }
  } catch (error) {
    if (!(error instanceof ConfigError) || error.message.startsWith('--') || isMissing(error.cause)) throw error
    const finding = isAccessDenied(error.cause)
      ? undetermined(`${reasonOf(error)}. ${asServiceUser}`)
      : failed(`Nothing else can be checked until this is corrected. ${reasonOf(error)}`)
    return { config: null, check: { name, ...finding } }
  }
}

async function checkAll(config: Config, folder: string, terminal: Terminal): Promise<Check[]> {
  const store = within(databaseMs, checkDatabase(config, folder)).catch(
    (error): StoreReport => ({
      finding: undetermined(`The database could not be checked: ${reasonOf(error)}.`),
      url: null,
    }),
  )
  const { redis_url } = config
  const listen = config.osc?.listen
  const first = Promise.all([
    runCheck('data_folder', () => checkDataFolder(config)),
    runCheck('disk', () => checkDisk(config)),
    runCheck('port', () => checkPort(config)),
    runCheck('osc', () => (listen ? checkOscPort(config, listen) : null)),
    runCheck('certificate', () => checkCertificate(config, Date.now())),
    runCheck('multicast', () => checkMulticast(selectLocalAddresses(networkInterfaces(), config.discovery_interfaces))),
    runCheck('redis', () => (redis_url === null ? null : checkRedis(redis_url))),
  ])
  const { finding, url } = await store
  const rest = await checkWithService(config, { folder, url }, terminal)
  return [...(await first).flat(), { name: 'database', ...finding }, ...rest]
}

/** Opens the stored and the configured manufacturers, and runs the checks that need them. */
async function checkWithService(config: Config, store: OpenStore, terminal: Terminal): Promise<Check[]> {
  let service: Service
  try {
    service = await within(openMs, openForChecks(config, store, terminal))
  } catch (error) {
    const message = `The sources could not be read: ${reasonOf(error)}.`
    return [{ name: 'sources', ...(error instanceof ConfigError ? failed(message) : undetermined(message)) }]
  }
  const { sourceRegistry, db, identityProvider } = service
  const sources = sourceRegistry.sources()
  try {
    const leases = await within(500, listHeldLeases(db.read)).catch(() => [])
    const mcpSources = sources.filter(({ settings }) => settings.baseUrl.startsWith('mcp:'))
    const isPolled = leases.some(({ source }) => mcpSources.some(({ id }) => id === source))
    // Before the sources are checked, because that uses the port.
    const ports = await runCheck('mcp_port', () => (mcpSources.length === 0 ? null : checkMcpPort(isPolled)))
    const isStoreRead = store.url !== null
    const checks = await Promise.all([
      runCheck('backup', () => (isStoreRead ? checkBackup(service, config, Date.now()) : unknownBackup)),
      runCheck('clock', () => checkClock(sources)),
      runCheck('single_sign_on', () => (identityProvider === null ? null : checkProvider(identityProvider))),
      checkSources(service, { leases, isStoreRead }),
    ])
    return [...ports, ...checks.flat()]
  } finally {
    await within(500, service.close()).catch(() => {})
  }
}

const unknownBackup = undetermined('The database does not say when it was last backed up.')

interface OpenStore {
  /** A temporary folder. */
  readonly folder: string
  /** The database to read; null for an empty one. */
  readonly url: string | null
}

/** PostgreSQL is opened without writing to it; everything else is a copy in the temporary folder. */
async function openForChecks(config: Config, { folder, url }: OpenStore, terminal: Terminal): Promise<Service> {
  const database_url = url ?? `sqlite:${join(folder, 'empty.db')}`
  const secret_key = config.secret_key ?? (await readKey(config.data_dir)) ?? randomBytes(32).toString('hex')
  const copied = { ...config, data_dir: folder, database_url, secret_key, redis_url: null }
  const isReadOnly = !database_url.startsWith('sqlite:')
  const log = createLog(terminal, { ...config, log: 'silent' })
  return Service.open(copied, { log, pid: terminal.pid, isReadOnly, isRecording: false })
}

/** Reads the key that decrypts the stored credentials; null if this user cannot read it. */
async function readKey(dataDir: string): Promise<string | null> {
  const text = await readFile(join(dataDir, 'secret.key'), 'utf8').catch(() => '')
  return /^[0-9a-f]{64}\s*$/i.test(text) ? text.trim() : null
}

const labels = new Map<boolean | null, string>([
  [true, 'ok'],
  [false, 'PROBLEM'],
  [null, 'unknown'],
])

function print(terminal: Terminal, checks: readonly Check[]): void {
  const width = Math.max(...checks.filter(({ name }) => !name.startsWith('source ')).map(({ name }) => name.length))
  for (const { name, ok, message } of checks) {
    const label = String(labels.get(ok)).padEnd('PROBLEM'.length)
    if (name.length <= width) terminal.out(`${label}  ${name.replace('_', ' ').padEnd(width)}  ${plain(message)}`)
    else terminal.out(`${label}  ${plain(name)}\n${' '.repeat(label.length + width + 4)}${plain(message)}`)
  }
  terminal.out(`\n${summarize(checks)}`)
}

function summarize(checks: readonly Check[]): string {
  const [problems, unknown] = [false, null].map((state) => checks.filter(({ ok }) => ok === state).length)
  const sentences = [
    ...(problems ? [`${problems === 1 ? '1 problem was' : `${problems} problems were`} found.`] : []),
    ...(unknown ? [`${unknown === 1 ? '1 check' : `${unknown} checks`} could not be completed.`] : []),
  ]
  return sentences.length === 0 ? 'No problem was found.' : sentences.join(' ')
}
