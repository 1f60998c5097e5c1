import { useSyncExternalStore } from 'react'
import type { FrequencyNoiseBody } from '../../src/contract/frequencies.ts'
import { useServices } from '../app/context.ts'
import { formatClock, formatDbm } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { subscribeToSeconds } from '../app/now.ts'
import type { Watch } from '../app/watch.ts'
import type { ShownCarrier } from './carriers.ts'

export interface CarrierLevels {
  readonly rf: number | null
  readonly noise: number | null
}

type CarrierWithLevels = Pick<ShownCarrier, 'channel_id' | 'receiver_id' | 'state' | 'rf_level' | 'noise_dbm'>

/** The levels that were last received; those of the response until then. */
export function currentLevels(watch: Pick<Watch, 'get' | 'levels'>, carrier: CarrierWithLevels): CarrierLevels {
  const { channel_id = 0, receiver_id = 0, state, rf_level, noise_dbm } = carrier
  const receiver = watch.get().receivers.get(receiver_id)
  const channel = receiver?.channels.find(({ id }) => id === channel_id)
  if (channel === undefined) return { rf: state === 'on' ? rf_level : null, noise: noise_dbm }
  const { rf } = watch.levels(receiver_id, channel_id)
  return channel.transmitter === null ? { rf: null, noise: rf } : { rf, noise: null }
}

export function levelText({ rf, noise }: CarrierLevels): string | null {
  if (noise !== null) return t('frequencies.noise', { level: formatDbm(noise) })
  return rf === null ? null : formatDbm(rf)
}

/** Read once a second, because the browser lays out every row that changes. */
export function useLevelText(carrier: CarrierWithLevels): string | null {
  const { watch } = useServices()
  return useSyncExternalStore(subscribeToSeconds, () => levelText(currentLevels(watch, carrier)))
}

export type RecordedNoise = FrequencyNoiseBody['channels'][number]

/** Null if the noise did not change. Within 24 hours, the time says which day it was. */
export function timeOfNoise({ median_dbm, highest_dbm, highest_at }: RecordedNoise): string | null {
  return median_dbm === highest_dbm ? null : formatClock(Date.parse(highest_at))
}

/** For example `Noise in 24 hours: peak −71 dBm at 19:03, median −97 dBm`. */
export function noiseText(noise: RecordedNoise): string {
  const [level, median, time] = [formatDbm(noise.highest_dbm), formatDbm(noise.median_dbm), timeOfNoise(noise)]
  if (time === null) return t('frequencies.recordedNoise', { level })
  return t('frequencies.changingNoise', { level, time, median })
}

export function noiseByCarrier(
  { channels }: Pick<FrequencyNoiseBody, 'channels'>,
  carriers: readonly Pick<ShownCarrier, 'id' | 'presentMhz'>[],
): ReadonlyMap<string, RecordedNoise> {
  const present = new Map(carriers.map(({ id, presentMhz }) => [id, presentMhz]))
  return new Map(channels.filter(({ id, mhz }) => present.get(id) === mhz).map((noise) => [noise.id, noise]))
}
