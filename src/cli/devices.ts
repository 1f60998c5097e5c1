/**
 * add_<vendor>_devices: registers addresses with an upstream's discovery list, or takes them off it. A manufacturer whose
 * devices speak for themselves has no such list; there the devices that answer join its configuration.
 */

import type { Command } from 'commander'
import { addSingleDevices, findSingleDevices, removeSingleDevices } from '../actions/add-devices.ts'
import { type Registration, registerAddresses } from '../actions/scan-network.ts'
import { plugins } from '../manufacturers/index.ts'
import type { Plugin } from '../manufacturers/plugin.ts'
import type { Actor } from '../model/access.ts'
import { hostAddresses, parseScanAddresses, parseScanSubnet } from '../model/network.ts'
import { openRuntime, type Runtime } from '../runtime.ts'
import { writeAudit } from '../store/audit.ts'
import { listManufacturers } from '../store/settings.ts'
import { sourcesOf } from './sources.ts'
import {
  type CommonOptions,
  createCommand,
  createLog,
  type ExitCode,
  exitCodes,
  formatTable,
  plain,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
} from './terminal.ts'

interface AddOptions extends CommonOptions {
  readonly ips?: readonly string[]
  readonly cidr?: string
  readonly remove?: boolean
  readonly manufacturer?: string
}

/** One command for every plugin whose systems keep such a list, or whose devices can be found without one. */
export function addDevicesCommands(terminal: Terminal, done: (code: ExitCode) => void): Command[] {
  return plugins
    .filter((plugin) => hasDiscoveryList(plugin) || plugin.search !== undefined)
    .map((plugin) =>
      createCommand(`add_${plugin.code}_devices`, describe(plugin))
        .option('--ips <ip...>', 'these addresses')
        .option('--cidr <network>', 'all addresses of this network, at most 1,024')
        .option('--remove', 'take them off the list instead')
        .option('--manufacturer <code>', 'which one, where several use this plugin')
        .action(async (options: AddOptions) => done(await addDevices(plugin, options, terminal))),
    )
}

function describe(plugin: Plugin): string {
  return hasDiscoveryList(plugin)
    ? `Register addresses with ${plugin.name}’s discovery list`
    : `Search addresses for ${plugin.name} devices, and listen to those that answer`
}

function hasDiscoveryList({ adapters }: Plugin): boolean {
  return adapters.some(({ discovery }) => discovery !== undefined)
}

async function addDevices(plugin: Plugin, options: AddOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal)
  const ips = readAddresses(options, config.discovery_ranges)
  const runtime = await openRuntime(config, { log: createLog(terminal, 'error'), pid: terminal.pid })
  try {
    const manufacturer = await chooseManufacturer(runtime, plugin, options.manufacturer)
    const sources = sourcesOf(runtime, manufacturer)
    const verb = options.remove ? 'remove' : 'add'
    const keepsList = sources.some(({ adapter }) => adapter.discovery !== undefined)
    if (!keepsList && plugin.search !== undefined) {
      const isInFile = config.manufacturers.some(
        (one) => one.code === manufacturer && one.config?.devices !== undefined,
      )
      return await changeSingleDevices(runtime, terminal, { ...options, verb, manufacturer, ips, isInFile })
    }
    const registered = await registerAddresses(sources, verb, ips, terminal.signal)
    await note(runtime, terminal, { verb, manufacturer, ips, registered })
    const lists = await Promise.all(registered.map((one) => readBack(one, terminal.signal)))
    if (options.json) printJson(terminal, { manufacturer, action: verb, addresses: ips.length, sources: lists })
    else {
      const count = lists.some(({ error }) => error === null) ? `${ips.length} address(es)` : 'nothing'
      terminal.out(`${options.remove ? 'Removed' : 'Added'} ${count}, manufacturer ${manufacturer}:`)
      const rows = lists.map(({ source, error, listed }) => [source, error === null ? 'ok' : 'failed', listed])
      terminal.out(formatTable(['system', 'result', 'addresses on its list'], rows))
    }
    for (const { source, error } of lists) if (error !== null) terminal.err(`${plain(source)}: ${plain(error)}`)
    return lists.some(({ error }) => error !== null) ? exitCodes.failed : exitCodes.ok
  } finally {
    await runtime.close()
  }
}

function readAddresses({ ips, cidr }: AddOptions, ranges: readonly string[]): readonly string[] {
  if ((ips === undefined) === (cidr === undefined)) throw new UsageError('give either --ips or --cidr')
  if (cidr !== undefined) {
    const subnet = parseScanSubnet(cidr, ranges)
    if ('error' in subnet) throw new UsageError(`--cidr: ${subnet.error}`)
    return hostAddresses(subnet)
  }
  const addresses = parseScanAddresses((ips ?? []).flatMap((text) => text.split(',')).filter(Boolean), ranges)
  if ('error' in addresses) throw new UsageError(`--ips: ${addresses.error}`)
  if (addresses.length === 0) throw new UsageError('--ips: give at least one address')
  return addresses
}

/** The one that uses the plugin; with several of them, the one that was named. */
async function chooseManufacturer(runtime: Runtime, plugin: Plugin, named: string | undefined): Promise<string> {
  const enabled = new Set(runtime.manufacturers().flatMap(({ code, isEnabled }) => (isEnabled ? [code] : [])))
  const records = await listManufacturers(runtime.db.read, runtime.secrets)
  const isHeard = (code: string) => runtime.sources.some((source) => source.manufacturer === code)
  const codes = records
    .filter((one) => one.plugin === plugin.code && enabled.has(one.code))
    .map(({ code }) => code)
    .filter((code) => plugin.search !== undefined || isHeard(code))
  if (named !== undefined) {
    // An unknown or disabled one is told apart there.
    sourcesOf(runtime, named)
    if (!codes.includes(named)) throw new UsageError(`manufacturer ${named} does not use the plugin ${plugin.code}`)
    return named
  }
  const [only, ...others] = codes
  if (only === undefined) throw new UsageError(`no enabled manufacturer uses the plugin ${plugin.code}`)
  if (others.length > 0)
    throw new UsageError(`several use ${plugin.code}; name one with --manufacturer: ${codes.join(', ')}`)
  return only
}

const nothingFound = { found: [], unsupported: [] }

interface SingleDevicesChange {
  readonly verb: 'add' | 'remove'
  readonly manufacturer: string
  readonly ips: readonly string[]
  /** The configuration file names its devices, and has the last word at the next start. */
  readonly isInFile: boolean
  readonly json?: boolean | undefined
}

/** Looks who answers at the addresses and puts them among the manufacturer's `devices`, or takes those there out. */
async function changeSingleDevices(
  runtime: Runtime,
  terminal: Terminal,
  about: SingleDevicesChange,
): Promise<ExitCode> {
  const { verb, manufacturer, ips, isInFile, json } = about
  const { db, secrets, sourceDeps, reload } = runtime
  const deps = { ...sourceDeps, db, secrets, reload, sources: () => runtime.sources }
  const actor = actorOf(terminal)
  const searched = verb === 'add' ? await findSingleDevices(deps, manufacturer, ips, terminal.signal) : nothingFound
  const { found: answering, unsupported: errors } = searched
  for (const { error } of errors) terminal.err(`${manufacturer}: ${plain(error)}`)
  const found = answering.filter(({ kind }) => kind === 'device')
  const systems = answering.flatMap(({ kind, address }) => (kind === 'system' ? [address] : []))
  for (const address of systems) terminal.err(`a system answers at ${address}: put that into api_base_url`)
  const addresses = found.map(({ address }) => address)
  if (isInFile && (verb === 'remove' || addresses.length > 0)) {
    const what = verb === 'add' ? `add ${addresses.join(', ')}` : 'take them out'
    terminal.err(`the devices of ${plain(manufacturer)} stand in the configuration file; ${plain(what)} there`)
    return exitCodes.failed
  }
  const removed = verb === 'remove' ? await removeSingleDevices(deps, actor, manufacturer, ips) : []
  await addSingleDevices(deps, actor, manufacturer, addresses)
  if (json) {
    const result = { manufacturer, action: verb, addresses: ips.length, sources: [], found, systems, removed }
    printJson(terminal, { ...result, ...(errors.length > 0 && { errors }) })
  } else if (verb === 'remove') terminal.out(`Removed ${removed.length} device(s), manufacturer ${manufacturer}.`)
  else {
    terminal.out(`Asked ${ips.length} address(es), added ${found.length} device(s), manufacturer ${manufacturer}:`)
    const rows = found.map(({ address, model, channels }) => [address, model ?? '', channels])
    terminal.out(formatTable(['address', 'model', 'channels'], rows))
  }
  return exitCodes.ok
}

function actorOf({ env }: Terminal): Actor {
  return { kind: 'cli', id: null, name: env.USER ?? env.LOGNAME ?? 'cli', role: 'admin', address: null }
}

/** How many addresses are on the list now, for the person who wants to see that it worked. */
async function readBack({ source, error }: Registration, signal: AbortSignal) {
  const { discovery } = source.adapter
  const listed = error === null ? await discovery?.getDiscoveryIps(source.client, signal).catch(() => null) : null
  return { source: source.settings.baseUrl, error, listed: listed?.length ?? null }
}

async function note(
  runtime: Runtime,
  terminal: Terminal,
  about: { verb: string; manufacturer: string; ips: readonly string[]; registered: readonly Registration[] },
): Promise<void> {
  const { verb, manufacturer, ips, registered } = about
  const actor = actorOf(terminal)
  const result = registered.every(({ error }) => error !== null) ? 'failed' : 'ok'
  const details = { addresses: ips.length, first: ips[0], last: ips.at(-1) }
  const target = `manufacturer ${manufacturer}`
  await runtime.db.transaction((tx) =>
    writeAudit(tx, { actor, action: `discovery_list.${verb}`, target, result, details }),
  )
}
