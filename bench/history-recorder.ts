/** The cost of the recorder, before its seconds are stored. */

import { unknownCondition } from '../src/domain/conditions/condition.ts'
import { emptyChannel, type Receiver } from '../src/domain/equipment/receiver.ts'
import {
  type ClosedSecond,
  CurrentSecond,
  columnCount,
  createRecordedValues,
  toParts,
  toRecordedFacts,
} from '../src/domain/history/second.ts'
import { toDraft } from '../src/domain/identity/ingest-plan.ts'
import { LevelStore } from '../src/ingest/level-store.ts'
import { batchSeconds, channelIds, start } from './history-levels.ts'

const channelsPerReceiver = 4
const samplesPerSecond = 10
const maxChannels = 1000

/** Returns the CPU time in ms for folding the samples of all channels into seconds and passing these on. */
export function measureFolding(seconds: number): number {
  const levels = new LevelStore()
  const current = new CurrentSecond()
  const values = createRecordedValues()
  values.hasTransmitter = true
  const rows = createReceivers().flatMap((receiver) => {
    levels.load(receiver, 0)
    for (const channel of receiver.channels) current.setFacts(current.add(), toRecordedFacts(receiver, channel, true))
    return levels.rowsOf(receiver.id)?.rows ?? []
  })
  const before = process.cpuUsage()
  let closed: ClosedSecond[] = []
  for (let second = 0; second < seconds; second++) {
    for (let sample = 0; sample < samplesPerSecond; sample++) {
      for (const [index, row] of rows.entries()) {
        levels.readRecorded(row, values)
        current.fold(index, values, -85, second * 1000 + sample * (1000 / samplesPerSecond))
      }
    }
    const target = new Int16Array(rows.length * columnCount)
    for (const index of rows.keys()) current.close(index, (second + 1) * 1000, target, index * columnCount)
    closed.push({ after: null, time: start + second, channelIds, values: target })
    if (closed.length < batchSeconds) continue
    for (const part of toParts(closed, maxChannels))
      if (part.count !== batchSeconds) throw new Error('Seconds are missing.')
    closed = []
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function createReceivers(): Receiver[] {
  const transmitter = {
    upstream_slot: null,
    name: 'Nora',
    battery: 80,
    frequency: null,
    audio_level: -20,
    rf_level: -60,
  }
  return Array.from({ length: channelIds.length / channelsPerReceiver }, (_, index) => ({
    ...toDraft('shure', { id: String(index), kind: 'receiver' }, 0),
    id: index + 1,
    channels: Array.from({ length: channelsPerReceiver }, (__, channel) => ({
      ...emptyChannel(index * channelsPerReceiver + channel + 1, channel + 1, 0),
      condition: unknownCondition,
      transmitter,
    })),
  }))
}
