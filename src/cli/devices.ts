/**
 * add_<vendor>_devices: adds addresses to an upstream's discovery list, or removes them. A manufacturer whose devices
 * are monitored individually has no such list; the devices that respond are added to its configuration.
 */

import type { Command } from 'commander'
import { addSingleDevices, findSingleDevices, removeSingleDevices } from '../actions/equipment/add-devices.ts'
import { type Registration, registerAddresses } from '../actions/equipment/scan-network.ts'
import { hostAddresses, parseScanAddresses, parseScanSubnet } from '../domain/identity/network.ts'
import { plugins } from '../manufacturers/index.ts'
import type { Plugin } from '../manufacturers/plugin.ts'
import { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'
import { listManufacturers } from '../storage/settings.ts'
import { createLog } from './log.ts'
import { actorOf, sourcesOf } from './store.ts'
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

interface AddOptions extends CommonOptions {
  readonly ips?: readonly string[]
  readonly cidr?: string
  readonly remove?: boolean
  readonly manufacturer?: string
}

/** Creates one command for every plugin that has discovery lists or can search for individual devices. */
export function addDevicesCommands(terminal: Terminal, done: (code: ExitCode) => void): Command[] {
  return plugins
    .filter((plugin) => hasDiscoveryList(plugin) || plugin.search !== undefined)
    .map((plugin) =>
      createCommand(`add_${plugin.code}_devices`, describe(plugin))
        .option('--ips <ip...>', 'these addresses')
        .option('--cidr <network>', 'all addresses in this network, at most 1,024')
        .option('--remove', 'remove the addresses instead of adding them')
        .option('--manufacturer <code>', 'required if several manufacturers use this plugin')
        .action(async (options: AddOptions) => done(await addDevices(plugin, options, terminal))),
    )
}

function describe(plugin: Plugin): string {
  return hasDiscoveryList(plugin)
    ? `Add addresses to the discovery list of ${plugin.name} systems`
    : `Search addresses for ${plugin.name} devices, and monitor those that respond`
}

function hasDiscoveryList({ adapters }: Plugin): boolean {
  return adapters.some(({ discovery }) => discovery !== undefined)
}

async function addDevices(plugin: Plugin, options: AddOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal)
  const ips = readAddresses(options, config.discovery_ranges)
  const service = await Service.open(config, { log: createLog(terminal, config), pid: terminal.pid })
  try {
    const manufacturer = await chooseManufacturer(service, plugin, options.manufacturer)
    const sources = sourcesOf(service, manufacturer)
    const operation = options.remove ? 'remove' : 'add'
    const hasList = sources.some(({ adapter }) => adapter.discovery !== undefined)
    if (!hasList && plugin.search !== undefined) {
      const isInFile = config.manufacturers.some(
        ({ code, config }) => code === manufacturer && config?.devices !== undefined,
      )
      return await changeSingleDevices(service, terminal, { ...options, operation, manufacturer, ips, isInFile })
    }
    const registered = await registerAddresses(sources, operation, ips, terminal.signal)
    await writeDiscoveryAudit(service, terminal, { operation, manufacturer, ips, registered })
    const lists = await Promise.all(registered.map((registration) => readBack(registration, terminal.signal)))
    if (options.json) printJson(terminal, { manufacturer, action: operation, addresses: ips.length, sources: lists })
    else {
      const count = lists.some(({ error }) => error === null) ? `${ips.length} address(es)` : 'nothing'
      terminal.out(`${options.remove ? 'Removed' : 'Added'} ${count}, manufacturer ${manufacturer}:`)
      const rows = lists.map(({ source, error, listed }) => [source, error === null ? 'ok' : 'failed', listed])
      terminal.out(formatTable(['system', 'result', 'addresses in discovery list'], rows))
    }
    for (const { source, error } of lists) if (error !== null) terminal.err(`${plain(source)}: ${plain(error)}`)
    return lists.some(({ error }) => error !== null) ? exitCodes.failed : exitCodes.ok
  } finally {
    await service.close()
  }
}

function readAddresses({ ips, cidr }: AddOptions, ranges: readonly string[]): readonly string[] {
  if ((ips === undefined) === (cidr === undefined)) throw new UsageError('expected either --ips or --cidr')
  if (cidr !== undefined) {
    const subnet = parseScanSubnet(cidr, ranges)
    if ('error' in subnet) throw new UsageError(`--cidr: ${subnet.error}`)
    return hostAddresses(subnet)
  }
  const addresses = parseScanAddresses((ips ?? []).flatMap((text) => text.split(',')).filter(Boolean), ranges)
  if ('error' in addresses) throw new UsageError(`--ips: ${addresses.error}`)
  if (addresses.length === 0) throw new UsageError('--ips: expected at least one address')
  return addresses
}

/** Returns the manufacturer that uses the plugin; if there are several, the one that the user named. */
async function chooseManufacturer(service: Service, plugin: Plugin, named: string | undefined): Promise<string> {
  const enabled = new Set(
    service.sourceRegistry.manufacturers().flatMap(({ code, isEnabled }) => (isEnabled ? [code] : [])),
  )
  const records = await listManufacturers(service.db.read, service.secrets)
  const hasSource = (code: string) => service.sourceRegistry.sources().some((source) => source.manufacturer === code)
  const codes = records
    .filter((record) => record.plugin === plugin.code && enabled.has(record.code))
    .map(({ code }) => code)
    .filter((code) => plugin.search !== undefined || hasSource(code))
  if (named !== undefined) {
    // Throws separate errors for an unknown and for a disabled manufacturer.
    sourcesOf(service, named)
    if (!codes.includes(named)) throw new UsageError(`manufacturer ${named} does not use the plugin ${plugin.code}`)
    return named
  }
  const [only, ...others] = codes
  if (only === undefined) throw new UsageError(`no enabled manufacturer uses the plugin ${plugin.code}`)
  if (others.length > 0)
    throw new UsageError(
      `several manufacturers use ${plugin.code}; choose one with --manufacturer: ${codes.join(', ')}`,
    )
  return only
}

const nothingFound = { found: [], unsupported: [] }

interface SingleDevicesChange {
  readonly operation: 'add' | 'remove'
  readonly manufacturer: string
  readonly ips: readonly string[]
  /**
   * True if the configuration file lists this manufacturer's devices. The file then overrides the stored list at the
   * next start.
   */
  readonly isInFile: boolean
  readonly json?: boolean | undefined
}

/** Adds the devices that respond at these IP addresses to the manufacturer's `devices`, or removes those addresses. */
async function changeSingleDevices(
  service: Service,
  terminal: Terminal,
  change: SingleDevicesChange,
): Promise<ExitCode> {
  const { operation, manufacturer, ips, isInFile, json } = change
  const actor = actorOf(terminal)
  const searched =
    operation === 'add' ? await findSingleDevices(service, manufacturer, ips, terminal.signal) : nothingFound
  const { found: responding, unsupported: errors } = searched
  for (const { error } of errors) terminal.err(`${manufacturer}: ${plain(error)}`)
  const found = responding.filter(({ kind }) => kind === 'device')
  const systems = responding.flatMap(({ kind, address }) => (kind === 'system' ? [address] : []))
  for (const address of systems) terminal.err(`a system responds at ${address}: set api_base_url to that address`)
  const addresses = found.map(({ address }) => address)
  if (isInFile && (operation === 'remove' || addresses.length > 0)) {
    const what = operation === 'add' ? `add ${addresses.join(', ')}` : 'remove the given addresses'
    terminal.err(`the devices of ${plain(manufacturer)} are listed in the configuration file; ${plain(what)} there`)
    return exitCodes.failed
  }
  const removed = operation === 'remove' ? await removeSingleDevices(service, actor, manufacturer, ips) : []
  await addSingleDevices(service, actor, manufacturer, addresses)
  if (json) {
    const result = { manufacturer, action: operation, addresses: ips.length, sources: [], found, systems, removed }
    printJson(terminal, { ...result, ...(errors.length > 0 && { errors }) })
  } else if (operation === 'remove')
    terminal.out(`Removed ${removed.length} device(s) from manufacturer ${manufacturer}.`)
  else {
    terminal.out(`Searched ${ips.length} address(es), added ${found.length} device(s) to manufacturer ${manufacturer}:`)
    const rows = found.map(({ address, model, channels }) => [address, model ?? '', channels])
    terminal.out(formatTable(['address', 'model', 'channels'], rows))
  }
  return exitCodes.ok
}

/** Reads how many addresses are on the list now, so that the output confirms the change. */
async function readBack({ source, error }: Registration, signal: AbortSignal) {
  const { discovery } = source.adapter
  const listed = error === null ? await discovery?.getDiscoveryIps(source.client, signal).catch(() => null) : null
  return { source: source.settings.baseUrl, error, listed: listed?.length ?? null }
}

async function writeDiscoveryAudit(
  service: Service,
  terminal: Terminal,
  change: {
    operation: 'add' | 'remove'
    manufacturer: string
    ips: readonly string[]
    registered: readonly Registration[]
  },
): Promise<void> {
  const { operation, manufacturer, ips, registered } = change
  const actor = actorOf(terminal)
  const result = registered.every(({ error }) => error !== null) ? 'failed' : 'ok'
  const details = { addresses: ips.length, first: ips[0], last: ips.at(-1) }
  const target = `manufacturer ${manufacturer}`
  await service.db.transaction((tx) =>
    writeAudit(tx, { actor, action: `discovery_list.${operation}`, target, result, details }),
  )
}
