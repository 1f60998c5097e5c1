/** `GET /api/summary/`: how many channels there are, and how many need attention. */

import * as operations from '../../contract/operations/monitoring.ts'
import {
  findFailingSource,
  type ManufacturerSources,
  mustBeReplacedSoon,
  type SummaryReceiver,
  summarizeConditions,
} from '../../domain/conditions/summary.ts'
import { addressOf, type ManufacturerHealth, type ServiceHealth } from '../../domain/equipment/health.ts'
import type { Channel, Receiver } from '../../domain/equipment/receiver.ts'
import { localSite } from '../../domain/equipment/sites.ts'
import { selectReceivers } from '../../domain/live/filter.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import type { ContractServer } from '../server/contract.ts'
import type { LiveData } from '../server/live-data.ts'

export interface SummaryDeps {
  readonly receiverStore: ReceiverStore
  readonly liveData: Pick<LiveData, 'requireGroup' | 'members' | 'placeholders'>
  health(manufacturer: string | undefined): ServiceHealth
  /** Returns the ids of the sources that report a receiver; empty as long as they are not known. */
  reportingSources(receiverId: number): readonly string[]
  /** Returns `BATTERY_REPLACE_SOON` in force for a channel. */
  replaceSoon(receiver: Receiver, channel: Channel): number
}

const noSources: ManufacturerSources = { count: 0, failing: new Set() }

export function summaryRoutes(app: ContractServer, deps: SummaryDeps): void {
  app.route({
    ...operations.getSummary,
    handler: async ({ query }) => {
      deps.liveData.requireGroup(query.group)
      const members = deps.liveData.members(query)
      const all = deps.receiverStore.listAllFacts({ manufacturer: query.manufacturer, site: query.site ?? localSite })
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
      const sources = new Map(manufacturers.map((manufacturer) => [manufacturer.code, sourcesOf(manufacturer)]))
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
            isReplaceSoon: mustBeReplacedSoon(
              channel.transmitter?.battery ?? null,
              deps.replaceSoon(receiver, channel),
            ),
          })),
        })
      }
      return summarizeConditions({
        receivers: summarized,
        placeholders: deps.liveData.placeholders(query).length,
        sources: manufacturers.flatMap(({ sources }) =>
          sources.map(({ status, consecutive_failures }) => {
            if (consecutive_failures > 0) return 'failing'
            return status === 'healthy' ? 'healthy' : 'unknown'
          }),
        ),
      })
    },
  })
}

function sourcesOf({ sources }: ManufacturerHealth): ManufacturerSources {
  const failing = sources.filter(({ consecutive_failures }) => consecutive_failures > 0)
  return { count: sources.length, failing: new Set(failing.map(({ source }) => source)) }
}
