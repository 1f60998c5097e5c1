/** Checks that each source responds, and describes why not. */

import { lookup } from 'node:dns/promises'
import type { HeldLease } from '../../domain/nodes.ts'
import { pageNames } from '../../domain/pages.ts'
import { plugins } from '../../manufacturers/index.ts'
import { searchAddresses } from '../../manufacturers/search.ts'
import { type MonitoredSource, type SourceFailure, toSourceFailure } from '../../manufacturers/sources.ts'
import type { Service } from '../../service.ts'
import { type Check, type Finding, failed, passed, runCheck, undetermined } from './check.ts'

/** Leaves time to search for the manufacturer of a system that responds unexpectedly. */
const requestMs = 3_500
const searchMs = 1_800

interface SourceOptions {
  /** Shows which sources the service polls. */
  readonly leases: readonly HeldLease[]
  /** False if only the sources in the configuration file are known. */
  readonly isStoreRead: boolean
}

/** Checks all sources in parallel, and the configuration of all enabled manufacturers. */
export async function checkSources(service: Service, { leases, isStoreRead }: SourceOptions): Promise<Check[]> {
  const unusable = service
    .health()
    .manufacturers.flatMap(({ code, status, sources, error }) =>
      status !== 'disabled' && sources.length === 0 && error !== null
        ? [{ name: `source ${code}`, ...failed(`${toSentence(error)} Change it under ${pageNames.manufacturers}.`) }]
        : [],
    )
  const polled = new Set(leases.map(({ source }) => source))
  const checked = await Promise.all(
    service.sourceRegistry
      .sources()
      .map((source) => runCheck(`source ${source.id}`, () => checkSource(service, source, polled.has(source.id)))),
  )
  const checks = [...unusable, ...checked.flat()]
  if (!isStoreRead) return [...checks, { name: 'sources', ...undetermined(unknownSources) }]
  if (checks.length > 0) return checks
  return [{ name: 'sources', ...passed(`No manufacturer is enabled. Add one under ${pageNames.manufacturers}.`) }]
}

const unknownSources = 'The database could not be read, so only the sources in the configuration file are known.'

async function checkSource(service: Service, source: MonitoredSource, isPolled: boolean): Promise<Finding> {
  const record = isPolled ? service.sourceRecords.get(source.id) : undefined
  if (record !== undefined) {
    const { error } = record
    // A second client would receive the datagrams that the service waits for.
    if (source.adapter.transport === 'udp')
      return error === null ? passed('The service receives data from it.') : failed(toSentence(error))
    // Another attempt could lock the account.
    if (error?.startsWith('credentials rejected'))
      return failed(`${toSentence(error)} The service does not try again until they change.`)
  }
  const signal = AbortSignal.timeout(requestMs)
  try {
    const { devices } = await source.listDevices(signal)
    return passed(`It responds and lists ${devices.length} ${devices.length === 1 ? 'device' : 'devices'}.`)
  } catch (error) {
    if (signal.aborted)
      return failed(
        `It does not respond within ${requestMs / 1000} s. Check that it is switched on, the address and the network.`,
      )
    const failure = toSourceFailure(error)
    // It requests a pause, so it is reachable.
    if (failure.retryAfter !== null) return passed(toSentence(failure.error))
    const other = await findManufacturer(service, source, failure)
    return failed(`${toSentence(failure.error)}${other === null ? '' : ` ${other}`}`)
  }
}

/** After an unexpected response, finds the manufacturer of the system or device. */
async function findManufacturer(
  { outbound, localAddresses }: Service,
  { plugin, settings }: MonitoredSource,
  { failureKind, isAccessDenied }: SourceFailure,
): Promise<string | null> {
  if (failureKind === 'none' && !isAccessDenied) return null
  const { hostname } = new URL(settings.baseUrl)
  const signal = AbortSignal.timeout(searchMs)
  const { address: ip } = await lookup(hostname.replace(/^\[|\]$/g, ''))
  const { destinations } = outbound
  const options = { ips: [ip], known: new Set<string>(), destinations, signal, localAddresses }
  const others = plugins.filter((candidate) => candidate !== plugin)
  const found = await Promise.all(
    others.map(async (other) => {
      const [first] = await searchAddresses(other, options)
      return first === undefined ? [] : [`A ${first.kind} of ${other.name} responds at ${first.address}.`]
    }),
  )
  const text = found.flat().join(' ')
  return text === '' ? null : `${text} Check that the manufacturer is the right one.`
}

/** Converts the beginning of a message that continues a line to a sentence. */
function toSentence(text: string): string {
  const first = /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
  return /[.!?]$/.test(first) ? first : `${first}.`
}
