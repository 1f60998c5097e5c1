import type { ManufacturerHealth } from '../../../src/contract/health.ts'
import type { SourceBody } from '../../../src/contract/live-messages.ts'
import type { ReceiverInData } from '../../../src/contract/receivers.ts'
import { upstreamStatuses } from '../../../src/contract/values.ts'
import { recordOfSite } from '../../../src/domain/equipment/sites.ts'
import { useWatchState } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import type { WatchState } from '../../app/watch-state.ts'

/** `reported`: scripts report the receivers of a manufacturer without an address. */
const shownStatuses = [...upstreamStatuses, 'reported'] as const
export type ShownStatus = (typeof shownStatuses)[number]

type Manufacturer = Pick<ManufacturerHealth, 'code' | 'status'>

/** Down if no channel can be trusted, even if some sources respond. */
export function shownStatus({ code, status }: Manufacturer, receivers: WatchState['receivers']): ShownStatus {
  if (status !== 'degraded' && status !== 'unconfigured') return status
  const own = [...receivers.values()].filter((receiver) => recordOf(receiver) === code)
  if (status === 'unconfigured') return own.length > 0 ? 'reported' : status
  const channels = own.flatMap(({ channels }) => channels)
  const areAllLost = channels.every(({ condition: { state } }) => state === 'receiver_offline' || state === 'stale')
  return channels.length > 0 && areAllLost ? 'unhealthy' : status
}

export function useShownStatus(manufacturer: Manufacturer): ShownStatus {
  return useWatchState(({ receivers }) => shownStatus(manufacturer, receivers))
}

export function useShownStatuses(manufacturers: readonly Manufacturer[]): ReadonlyMap<string, ShownStatus> {
  const statuses = useWatchState(({ receivers }) =>
    manufacturers.map((manufacturer) => shownStatus(manufacturer, receivers)).join(),
  )
  const list = statuses.split(',') as ShownStatus[]
  return new Map(manufacturers.map(({ code }, index) => [code, list[index] ?? 'unknown']))
}

/** A source that was removed has no status. */
export function statusText(status: string | null): string {
  const known = shownStatuses.find((one) => one === status)
  return t(`health.statuses.${known ?? 'unknown'}`)
}

/** Epoch milliseconds; null if no source is silent. */
export function firstSilence(sources: readonly SourceBody[]): number | null {
  const times = sources.flatMap(({ silent_since }) => (silent_since === null ? [] : [Date.parse(silent_since)]))
  return times.length === 0 ? null : Math.min(...times)
}

/** One message per failing source, with its name if there are several. Otherwise the manufacturer's own error. */
export function listErrors({ sources, error }: Pick<ManufacturerHealth, 'sources' | 'error'>): readonly string[] {
  const failing = sources.flatMap(({ source, error: reason }) => (reason === null ? [] : [{ source, reason }]))
  if (failing.length === 0) return error === null ? [] : [error]
  return failing.map(({ source, reason }) => (sources.length === 1 ? reason : t('health.failing', { source, reason })))
}

/** One message per listed device, and one with the number of failing devices that are not listed. */
export function listDeviceErrors(about: Pick<ManufacturerHealth, 'device_errors' | 'more'>): readonly string[] {
  const { device_errors, more } = about
  const listed = device_errors.map(({ device, error }) => t('health.failing', { source: device, reason: error }))
  return more === 0 ? listed : [...listed, t('health.moreDevices', { count: more })]
}

type Located = Pick<ReceiverInData, 'manufacturer' | 'ip' | 'site'>

/** Receivers of a site belong to the record that follows it. */
export function recordOf({ manufacturer, site }: Located): string {
  return site === null ? manufacturer : recordOfSite(site.code)
}

/** While `reporting` is empty, the source at the receiver's address, otherwise all sources of its manufacturer. */
export function sourcesOf(
  receiver: Located,
  sources: readonly SourceBody[],
  reporting: readonly string[],
): readonly SourceBody[] {
  const { ip } = receiver
  const record = recordOf(receiver)
  const own = sources.filter(({ code }) => code === record)
  const known = own.filter(({ address }) => reporting.includes(address))
  if (known.length > 0) return known
  const direct = own.filter(({ address }) => ip !== null && hostOf(address) === ip)
  return direct.length > 0 ? direct : own
}

/** The error of a source if all sources of the receiver fail, otherwise the receiver itself. */
export function offlineReason(sources: readonly SourceBody[]): string {
  const failing = sources.filter(({ status }) => status === 'degraded' || status === 'unhealthy')
  const [first] = failing
  if (first === undefined || failing.length < sources.length) return t('receiver.noResponse')
  const { address, error } = first
  return error === null
    ? t('receiver.sourceFails', { address })
    : t('receiver.sourceFailsWith', { address, error: plainText(error) })
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).hostname : address
}
