/** `GET /api/summary/` uses the same functions, but also counts handled channels. */

import type { ReceiverInData } from '../../src/contract/receivers.ts'
import { hasRow } from '../../src/domain/conditions/condition.ts'
import { type Summary, summarizeConditions } from '../../src/domain/conditions/summary.ts'
import { handledChannels } from './channel-state.ts'
import type { WatchState } from './watch-state.ts'

type SummaryState = Pick<WatchState, 'receivers' | 'sources' | 'placeholders' | 'alerts'>

export function summarize({ receivers, sources, placeholders, alerts }: SummaryState): Summary {
  const failing = failingManufacturers(sources)
  const handled = handledChannels(alerts)
  return summarizeConditions({
    receivers: [...receivers.values()].map(({ id: receiverId, is_active, manufacturer, channels }) => ({
      isActive: is_active,
      failingSource: failing.has(manufacturer) ? manufacturer : null,
      channels: channels.map(({ id, condition, transmitter }) => {
        const isHandled = handled.has(manufacturer, receiverId, id, condition)
        return {
          condition: { state: condition.state, attention: condition.attention && !isHandled },
          hasTransmitter: transmitter !== null,
          isReplaceSoon: transmitter !== null && hasRow(condition, 'battery_replace_soon'),
          isHandled,
        }
      }),
    })),
    placeholders: placeholders.length,
    sources: sources.map(({ status }) =>
      isFailing(status) ? 'failing' : status === 'healthy' ? 'healthy' : 'unknown',
    ),
  })
}

/** The live state does not contain the source of a receiver, so a manufacturer counts when all its sources fail. */
function failingManufacturers(sources: WatchState['sources']): ReadonlySet<string> {
  const codes = new Set(sources.filter(({ status }) => isFailing(status)).map(({ code }) => code))
  for (const { code, status } of sources) if (!isFailing(status)) codes.delete(code)
  return codes
}

function isFailing(status: string | null): boolean {
  return status === 'degraded' || status === 'unhealthy'
}

export interface ReceiverProblems {
  readonly offline: number
  /** Channels of the other receivers. A lost receiver counts once, not once for each channel. */
  readonly attention: number
}

export function receiverProblems(
  receivers: readonly Pick<ReceiverInData, 'is_active' | 'channels'>[],
): ReceiverProblems {
  const online = receivers.filter(({ is_active }) => is_active)
  const channels = online.flatMap(({ channels }) => channels)
  return {
    offline: receivers.length - online.length,
    attention: channels.filter(({ condition }) => condition.attention).length,
  }
}
