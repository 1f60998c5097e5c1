import { createContext, useContext, useEffect, useSyncExternalStore } from 'react'
import type { SlotRecord } from '../../src/contract/slots.ts'
import type { Summary } from '../../src/domain/conditions/summary.ts'
import type { EntryHolder } from '../../src/domain/equipment/slot-entry.ts'
import type { ReplayPlayer } from '../replay/player.ts'
import type { Alarm } from './alarm.ts'
import type { Api } from './api.ts'
import type { ChannelFacts } from './channel-state.ts'
import type { ChartFill } from './chart-fill.ts'
import type { ChartSamples } from './history.ts'
import type { LiveUpdates } from './live-updates.ts'
import type { MissedAlerts } from './missed-alerts.ts'
import type { Painter } from './painter.ts'
import { recordOf } from './slot-records.ts'
import type { Watch } from './watch.ts'
import type { WatchState } from './watch-state.ts'

export interface Services {
  readonly mount: string
  readonly api: Api
  readonly watch: Watch
  readonly painter: Painter
  readonly history: ChartSamples
  readonly chartFill: ChartFill
  readonly alarm: Alarm
  readonly missedAlerts: MissedAlerts
  readonly live: LiveUpdates
  readonly replay: ReplayPlayer | null
}

export const ServicesContext = createContext<Services | null>(null)

export function useServices(): Services {
  const services = useContext(ServicesContext)
  if (services === null) throw new Error('useServices must be called within ServicesContext.')
  return services
}

/** `select` must return the identical value until something relevant changes. */
export function useWatchState<Piece>(select: (watchState: WatchState) => Piece): Piece {
  const { watch } = useServices()
  return useSyncExternalStore(watch.subscribe, () => select(watch.get()))
}

export function useSummary(): Summary {
  const { watch } = useServices()
  return useSyncExternalStore(watch.subscribe, watch.summary)
}

export function useFacts(receiverId: number, channelId: number): ChannelFacts | null {
  const { watch } = useServices()
  return useSyncExternalStore(watch.subscribe, () => watch.facts(receiverId, channelId))
}

/** The title, what people entered about a slot, and what it holds; undefined for an empty slot. */
export function useSlotRecord(slot: number): SlotRecord | undefined {
  return useWatchState(({ slotRecords }) => slotRecords.get(slot))
}

export function useRecordOf(kind: EntryHolder['kind'], id: number): SlotRecord | undefined {
  return useWatchState(({ slotRecords }) => recordOf(slotRecords, { kind, id }))
}

/** For components that take room from a chart while they are shown. */
export function useRemeasure(): void {
  const { painter } = useServices()
  useEffect(() => {
    painter.remeasure()
    return () => painter.remeasure()
  }, [painter])
}
