/** Detects channels that no longer send meter values although the session is open. */

import { levelLifetimeMs } from '../../../domain/levels/level-delivery.ts'
import { answeredNumbers, type Family, hasTransmitterKey, levelsOf, type RawValues } from './families.ts'

export interface MeterWatch {
  metered(channel: number): void
  /** Returns true if a channel has been silent for too long, once per silence. */
  takeSilence(): boolean
}

export function createMeterWatch(family: Family, values: RawValues): MeterWatch {
  const { rf, audio } = levelsOf(family)
  const delivery = rf ?? audio
  const lifetimeMs = delivery === null ? Number.POSITIVE_INFINITY : levelLifetimeMs(delivery, 0)
  const openedAt = performance.now()
  /** By channel number. */
  const meteredAt: number[] = []
  const isReported: boolean[] = []
  return {
    metered(channel) {
      meteredAt[channel] = performance.now()
      isReported[channel] = false
    },
    takeSilence() {
      const now = performance.now()
      const silent = answeredNumbers(family, values).filter((channel) => {
        if (isReported[channel] === true || !shouldMeter(family, values, channel)) return false
        return now - (meteredAt[channel] ?? openedAt) >= lifetimeMs
      })
      for (const channel of silent) isReported[channel] = true
      return silent.length > 0
    },
  }
}

function shouldMeter(family: Family, values: RawValues, channel: number): boolean {
  return family.presenceKeys.length === 0 || hasTransmitterKey(family, values, channel)
}
