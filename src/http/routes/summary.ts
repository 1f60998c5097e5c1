/** `GET /api/summary/`: how many channels there are, and how many need attention. */

import { dataOperations } from '../../contract/data.ts'
import { HandledChannels } from '../../domain/alerts/handled.ts'
import {
  type ConflictCounts,
  countConflicts,
  findFailingSource,
  type ManufacturerSources,
  mustBeReplacedSoon,
  type SummaryReceiver,
  summarizeConditions,
} from '../../domain/conditions/summary.ts'
import { addressOf, type ManufacturerHealth, type ServiceHealth } from '../../domain/equipment/health.ts'
import type { Channel, Receiver } from '../../domain/equipment/receiver.ts'
import { localSite, recordOfSite } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import type { LiveCarrier } from '../../domain/frequencies/live-carriers.ts'
import { selectReceivers } from '../../domain/live/filter.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import type { LiveData } from '../../live/live-data.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import type { ContractServer } from '../server/contract.ts'
import type { AlertRoutesDeps } from './alerts.ts'
import type { FrequencyRoutesDeps } from './frequencies.ts'

export interface SummaryDeps {
  readonly receiverStore: ReceiverStore
  readonly liveData: Pick<LiveData, 'requireGroup' | 'members' | 'placeholders' | 'alerts' | 'pending'>
  readonly connections: AlertRoutesDeps['connections']
  readonly frequencyDeps: FrequencyRoutesDeps['frequencyDeps']
  health(manufacturer: string | undefined): ServiceHealth
  /** Returns the ids of the sources that report a receiver; empty as long as they are not known. */
  reportingSources(receiverId: number): readonly string[]
  /** Returns `BATTERY_REPLACE_SOON` in force for a channel. */
  replaceSoon(receiver: Receiver, channel: Channel): number
}

const noSources: ManufacturerSources = { count: 0, failing: new Set() }

export function summaryRoutes(app: ContractServer, deps: SummaryDeps): void {
  app.route({
    ...dataOperations.getSummary,
    handler: async ({ query }) => {
      deps.liveData.requireGroup(query.group)
      const members = deps.liveData.members(query)
      const site = query.site ?? localSite
      const all = deps.receiverStore.listAllFacts({ manufacturer: query.manufacturer, site })
      const receivers =
        members === null
          ? all
          : selectReceivers(
              all.filter(({ id }) => members.receivers.has(id)),
              members,
            )
      const manufacturers = deps.health(undefined).manufacturers.filter(({ code, status }) => {
        const isSelected = query.manufacturer === undefined || code === query.manufacturer
        return status !== 'disabled' && isSelected && (members === null || members.manufacturers.has(code))
      })
      const placeholders = deps.liveData.placeholders(query)
      const summary = summarizeConditions({
        receivers: await summarizeReceivers(receivers, manufacturers, deps),
        placeholders: placeholders.length,
        sources: manufacturers.flatMap(({ sources }) =>
          sources.map(({ status, consecutive_failures }) => {
            if (consecutive_failures > 0) return 'failing'
            return status === 'healthy' ? 'healthy' : 'unknown'
          }),
        ),
      })
      const channelIds = new Set(receivers.flatMap(({ channels }) => channels.map(({ id }) => id)))
      const placeholderIds = new Set(placeholders.map(({ id }) => id))
      const conflicts = await checkConflicts(deps, site, ({ channelId, placeholderId }) =>
        channelId === null ? placeholderIds.has(placeholderId ?? 0) : channelIds.has(channelId),
      )
      const record = query.manufacturer ?? (site === localSite ? undefined : recordOfSite(site))
      const disconnected = deps.connections.listDisconnected().filter(({ receiver, manufacturer }) => {
        if (record !== undefined && manufacturer !== record) return false
        return members === null || (receiver !== null && members.receivers.has(receiver))
      })
      return {
        ...summary,
        conflicts,
        queue_pending: deps.liveData.pending(query),
        disconnected: disconnected.length,
      }
    },
  })
}

async function summarizeReceivers(
  receivers: readonly Receiver[],
  manufacturers: readonly ManufacturerHealth[],
  deps: SummaryDeps,
): Promise<readonly SummaryReceiver[]> {
  const sources = new Map(manufacturers.map((manufacturer) => [manufacturer.code, sourcesOf(manufacturer)]))
  const handled = new HandledChannels(deps.liveData.alerts({}))
  const failingSource = ({ id, manufacturer, is_active }: Receiver) => {
    const reporting = deps.reportingSources(id).map((source) => addressOf(source, manufacturer))
    const address = findFailingSource(is_active, reporting, sources.get(manufacturer) ?? noSources)
    return address === null ? null : `${manufacturer}:${address}`
  }
  const summarized: SummaryReceiver[] = []
  for (const receiver of receivers) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    summarized.push({
      isActive: receiver.is_active,
      failingSource: failingSource(receiver),
      channels: receiver.channels.map((channel) => ({
        condition: channel.condition,
        hasTransmitter: channel.transmitter !== null,
        isReplaceSoon: mustBeReplacedSoon(channel.transmitter?.battery ?? null, deps.replaceSoon(receiver, channel)),
        isHandled: handled.has(receiver.manufacturer, receiver.id, channel.id, channel.condition),
      })),
    })
  }
  return summarized
}

/** Counts the conflicts of the included carriers; null if there are too many carriers to check. */
async function checkConflicts(
  { frequencyDeps: { frequencies } }: SummaryDeps,
  site: string,
  isIncluded: (carrier: LiveCarrier) => boolean,
): Promise<ConflictCounts | null> {
  const filter = { level: 'standard', isOnlyOn: false, slots: null } as const
  try {
    // The check is the same for all clients, so it counts for none of them.
    const { carriers, result } = await frequencies.check(filter, site, null)
    return countConflicts(carriers, result, isIncluded)
  } catch (error) {
    if (error instanceof RequestError && error.code === 'wrong_state') return null
    throw error
  }
}

function sourcesOf({ sources }: ManufacturerHealth): ManufacturerSources {
  const failing = sources.filter(({ consecutive_failures }) => consecutive_failures > 0)
  return { count: sources.length, failing: new Set(failing.map(({ source }) => source)) }
}
