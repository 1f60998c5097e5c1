/** `GET /api/summary/`: how many channels there are, and how many need attention. */

import { dataOperations } from '../../contract/data.ts'
import { HandledChannels } from '../../domain/alerts/handled.ts'
import { mustBeReplacedSoon } from '../../domain/conditions/battery.ts'
import {
  type ConflictCounts,
  countConflicts,
  findFailingSource,
  type ManufacturerSources,
  type SummaryReceiver,
  summarizeConditions,
} from '../../domain/conditions/summary.ts'
import { addressOf, type ManufacturerHealth } from '../../domain/equipment/health.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { localSite, recordOfSite } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import type { LiveCarrier } from '../../domain/frequencies/live-carriers.ts'
import { selectReceivers } from '../../domain/live/filter.ts'
import type { LiveData } from '../../live/live-data.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'

const noSources: ManufacturerSources = { count: 0, failing: new Set() }

export function summaryRoutes(app: ContractServer, service: Service, liveData: LiveData): void {
  app.route({
    ...dataOperations.getSummary,
    handler: async ({ query }) => {
      liveData.requireGroup(query.group)
      const members = liveData.members(query)
      const site = query.site ?? localSite
      const all = service.receiverStore.listAllFacts({ manufacturer: query.manufacturer, site })
      const receivers =
        members === null
          ? all
          : selectReceivers(
              all.filter(({ id }) => members.receivers.has(id)),
              members,
            )
      const manufacturers = service.health().manufacturers.filter(({ code, status }) => {
        const isSelected = query.manufacturer === undefined || code === query.manufacturer
        return status !== 'disabled' && isSelected && (members === null || members.manufacturers.has(code))
      })
      const placeholders = liveData.placeholders(query)
      const summary = summarizeConditions({
        receivers: await summarizeReceivers(
          service,
          receivers,
          manufacturers,
          new HandledChannels(liveData.alerts({})),
        ),
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
      const conflicts = await checkConflicts(service, site, ({ channelId, placeholderId }) =>
        channelId === null ? placeholderIds.has(placeholderId ?? 0) : channelIds.has(channelId),
      )
      const record = query.manufacturer ?? (site === localSite ? undefined : recordOfSite(site))
      const disconnected = service.connections.listDisconnected().filter(({ receiver, manufacturer }) => {
        if (record !== undefined && manufacturer !== record) return false
        return members === null || (receiver !== null && members.receivers.has(receiver))
      })
      return {
        ...summary,
        conflicts,
        queue_pending: liveData.pending(query),
        disconnected: disconnected.length,
      }
    },
  })
}

async function summarizeReceivers(
  service: Service,
  receivers: readonly Receiver[],
  manufacturers: readonly ManufacturerHealth[],
  handled: HandledChannels,
): Promise<readonly SummaryReceiver[]> {
  const sources = new Map(manufacturers.map((manufacturer) => [manufacturer.code, sourcesOf(manufacturer)]))
  const failingSource = ({ id, manufacturer, is_active }: Receiver) => {
    const reporting = service.receiverSources.list(id).map((source) => addressOf(source, manufacturer))
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
        isReplaceSoon: mustBeReplacedSoon(
          channel.transmitter?.battery ?? null,
          service.conditions.thresholdsOf(receiver, channel),
        ),
        isHandled: handled.has(receiver.manufacturer, receiver.id, channel.id, channel.condition),
      })),
    })
  }
  return summarized
}

/** Counts the conflicts of the included carriers; null if there are too many carriers to check. */
async function checkConflicts(
  { frequencies }: Service,
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
