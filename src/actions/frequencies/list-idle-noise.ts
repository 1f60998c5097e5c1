/** Lists the noise that the receivers measured while their transmitters were off. */

import type { FrequencyNoiseBody } from '../../contract/frequencies.ts'
import { frequencyOf } from '../../domain/equipment/receiver.ts'
import { localSite } from '../../domain/equipment/sites.ts'
import { noiseStep } from '../../domain/history/idle-noise.ts'
import type { LevelReader } from '../../domain/history/level-history.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import type { Database } from '../../storage/database.ts'
import { readEvents } from '../../storage/events.ts'
import { storeRecentSeconds } from '../store-recent-seconds.ts'

export async function listIdleNoise(service: Service, levels: LevelReader, hours: number): Promise<FrequencyNoiseBody> {
  const to = Math.floor(now() / 1000)
  const from = to - hours * 3600
  await storeRecentSeconds(service.history, to * 1000)
  const channels = listTunedChannels(service)
  const tunedAt = await readTunedAt(service.db, from)
  const since = new Map([...channels.keys()].map((id) => [id, tunedAt.get(id) ?? from]))
  const found = await levels.findIdleNoise(since, from, to)
  return {
    from: toTimestamp(from * 1000),
    to: toTimestamp(to * 1000),
    step_seconds: noiseStep(to - from),
    channels: found.flatMap(({ channelId, seconds, median, highest, highestAt }) => {
      const channel = channels.get(channelId)
      if (channel === undefined) return []
      return {
        ...{ id: `c${channelId}`, channel_id: channelId, mhz: channel.mhz, seconds, median_dbm: median },
        ...{ highest_dbm: highest, highest_at: toTimestamp(highestAt * 1000), is_high: highest > channel.limitDbm },
      }
    }),
  }
}

function listTunedChannels({ receiverStore, conditions }: Service) {
  return new Map(
    receiverStore.listFacts().flatMap((receiver) =>
      receiver.channels.flatMap((channel) => {
        const mhz = frequencyOf(channel)
        const limitDbm = conditions.thresholdsOf(receiver, channel).RF_NOISE_DBM
        return mhz === null ? [] : [[channel.id, { mhz, limitDbm }] as const]
      }),
    ),
  )
}

/** Returns when each channel was last tuned to another frequency since `from`, in epoch seconds. */
async function readTunedAt({ read }: Database, from: number): Promise<ReadonlyMap<number, number>> {
  const tunedAt = new Map<number, number>()
  for await (const events of readEvents(read, { from: from * 1000, kinds: ['frequency_changed'], site: localSite })) {
    for (const { channel_id, time } of events) {
      if (channel_id !== null) tunedAt.set(channel_id, Math.max(tunedAt.get(channel_id) ?? 0, Math.ceil(time / 1000)))
    }
  }
  return tunedAt
}
