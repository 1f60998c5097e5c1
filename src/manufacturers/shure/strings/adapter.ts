/** Adapters for individual Shure devices that use command strings: over TCP, and over UDP for the older UHF-R. */

import type { ChannelReading } from '../../../domain/equipment/receiver.ts'
import { withoutLevels } from '../../../domain/levels/level-sample.ts'
import { readFirst, toPushEvents } from '../../device-session.ts'
import { defineAdapter, type PushEvent, withoutParts } from '../../plugin.ts'
import { isCharger, isPossibleNumber, levelsOfType } from './families.ts'
import { lights } from './lights.ts'
import { type DeviceUpdate, openSession } from './session.ts'
import { idPrefix, type StringsDevice, toChannelReading, toDeviceReport, toLevels } from './translate.ts'

export const strings = defineAdapter<StringsDevice>({
  ...withoutParts,
  listDevices: (client, signal) =>
    readFirst(
      client,
      signal,
      (lifetime) => openSession(client, lifetime),
      ({ device, problems }) => ({ devices: [{ ...device, values: { ...device.values } }], malformed: 0, problems }),
    ),
  transformDeviceData: toDeviceReport,
  levels: levelsOfType,
  transport: 'tcp',
  pushesEverything: true,
  startsWithFullReport: true,
  subscribe: (client, _targets, signal, onLevels, onProblems) =>
    toPushEvents(openSession(client, signal, onLevels), signal, toEvent, 'frames', onProblems),
  lights,
  // Reports of the device itself take precedence over those of a system.
  precedence: 1,
  idPrefix,
})

export const uhfrStrings = { ...strings, transport: 'udp' as const }

function toEvent({ device, affectsDevice, channels, metered }: DeviceUpdate): PushEvent | null {
  const { id, family, values } = device
  // Meter values are kept with all other values, and each is reported once.
  const withNewLevels = (reading: ChannelReading) => (metered.has(reading.channel) ? reading : withoutLevels(reading))
  // A charger's report must contain all its packs, because a missing pack counts as removed.
  if (affectsDevice || (isCharger(family) && channels.size + metered.size > 0)) {
    const report = toDeviceReport({ ...device, values: { ...values } })
    return { type: 'report', isComplete: true, report: { ...report, channels: report.channels?.map(withNewLevels) } }
  }
  const numbers = [...new Set([...channels, ...metered])].filter((number) => isPossibleNumber(family, values, number))
  const readings = numbers.map((channel) =>
    channels.has(channel)
      ? withNewLevels(toChannelReading(family, values, channel))
      : toLevels(family, values, channel),
  )
  if (readings.length === 0) return null
  return { type: 'report', report: { id, kind: 'receiver', channels: readings } }
}
