/** `GET /api/summary/`: how many channels there are, and how many need attention. */

import * as operations from '../../contract/operations/monitoring.ts'
import { mustBeReplacedSoon, summarizeConditions } from '../../domain/conditions/summary.ts'
import { addressOf, type ManufacturerHealth, type ServiceHealth } from '../../domain/equipment/health.ts'
import type { Channel, Receiver } from '../../domain/equipment/receiver.ts'
import { selectReceivers } from '../../domain/live/filter.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import type { ContractServer } from '../server/contract.ts'
import type { LiveData } from '../server/live-data.ts'

export interface SummaryDeps {
  readonly receiverStore: ReceiverStore
  readonly liveData: Pick<LiveData, 'requireGroup' | 'members' | 'placeholders'>
  health(manufacturer: string | undefined): ServiceHealth
  /** Returns the source that subscribes to a receiver; null if none does. */
  subscribedSource(receiverId: number): string | null
  /** Returns `BATTERY_REPLACE_SOON` in force for a channel. */
  replaceSoon(receiver: Receiver, channel: Channel): number
}

export function summaryRoutes(app: ContractServer, deps: SummaryDeps): void {
  app.route({
    ...operations.getSummary,
    handler: ({ query }) => {
      deps.liveData.requireGroup(query.group)
      const members = deps.liveData.members(query)
      const all = deps.receiverStore.list(query.manufacturer)
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
      const failing = new Map(manufacturers.map((manufacturer) => [manufacturer.code, failingSources(manufacturer)]))
      return summarizeConditions({
        receivers: receivers.map((receiver) => ({
          isActive: receiver.is_active,
          failingSource: findFailingSource(receiver, failing.get(receiver.manufacturer), deps),
          channels: receiver.channels.map((channel) => ({
            condition: channel.condition,
            hasTransmitter: channel.transmitter !== null,
            isReplaceSoon: mustBeReplacedSoon(
              channel.transmitter?.battery ?? null,
              deps.replaceSoon(receiver, channel),
            ),
          })),
        })),
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

interface Failing {
  readonly sources: ReadonlySet<string>
  readonly areAll: boolean
}

function failingSources({ sources }: ManufacturerHealth): Failing {
  const failing = sources.filter(({ consecutive_failures }) => consecutive_failures > 0)
  return {
    sources: new Set(failing.map(({ source }) => source)),
    areAll: sources.length > 0 && failing.length === sources.length,
  }
}

/** The source of a receiver without a subscription is not known; then all sources of its manufacturer must fail. */
function findFailingSource(
  { id, manufacturer }: Receiver,
  failing: Failing | undefined,
  { subscribedSource }: Pick<SummaryDeps, 'subscribedSource'>,
): string | null {
  if (failing === undefined || failing.sources.size === 0) return null
  const source = subscribedSource(id)
  const address = source === null ? undefined : addressOf(source, manufacturer)
  if (address !== undefined && failing.sources.has(address)) return `${manufacturer}:${address}`
  const [first] = failing.sources
  return failing.areAll && first !== undefined ? `${manufacturer}:${first}` : null
}
