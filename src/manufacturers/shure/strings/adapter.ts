/** Adapters for individual Shure devices that use command strings: over TCP, and over UDP for the older UHF-R. */

import type { ChannelReading } from '../../../domain/equipment/receiver.ts'
import { withoutLevels } from '../../../domain/levels/level-sample.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import { describeNoResponse } from '../../../upstream/errors.ts'
import { openTcpSocket } from '../../../upstream/tcp.ts'
import { readFirst, toPushEvents } from '../../device-session.ts'
import {
  defineAdapter,
  type Flashing,
  type FlashRequest,
  type Lights,
  type PushEvent,
  withoutParts,
} from '../../plugin.ts'
import { isCharger, isPossibleNumber, levelsOfType } from './families.ts'
import { parseFrame, splitAngleFrames } from './frames.ts'
import { type DeviceUpdate, openSession } from './session.ts'
import { idPrefix, type StringsDevice, toChannelReading, toDeviceReport, toLevels } from './translate.ts'

/** Family -> the parts that can flash. Source: Shure's command strings. */
const scopes: Readonly<Record<string, 'device' | 'channel'>> = {
  ulxd: 'channel',
  ad: 'channel',
  slxd: 'device',
  mxw: 'device',
}

const lights: Lights = { areIn: (deviceType) => scopes[deviceType] !== undefined, flash }

async function flash(
  client: UpstreamClient,
  { deviceType, channel, isOn }: FlashRequest,
  signal: AbortSignal,
): Promise<Flashing | null> {
  const scope = scopes[deviceType]
  if (scope === undefined) return null
  const number = scope === 'channel' ? channel : null
  const { host } = new URL(client.settings.baseUrl)
  const socket = await openTcpSocket(client, { signal, framing: splitAngleFrames })
  try {
    await socket.send(`< SET ${number === null ? '' : `${number} `}FLASH ${isOn ? 'ON' : 'OFF'} >`)
    for await (const messages of socket.messages) {
      for (const frame of messages.map(parseFrame)) {
        if (frame?.type === 'refused') return null
        if (frame?.type === 'property' && frame.key === 'FLASH' && frame.channel === number) return { channel: number }
      }
    }
    throw new client.errors.ApiError(describeNoResponse(host, client.settings.timeoutMs))
  } finally {
    socket.close()
  }
}

export const strings = defineAdapter<StringsDevice>({
  protocol: 'strings',
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

export const uhfrStrings = { ...strings, protocol: 'uhf-r', transport: 'udp' as const }

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
