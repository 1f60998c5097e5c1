/** Adapters for individual Shure devices that use command strings: over TCP, and over UDP for the older UHF-R. */

import type { UpstreamClient } from '../../../upstream/client.ts'
import { defineAdapter, type OnLevels, type PushEvent, type SubscriptionTargets, withoutParts } from '../../plugin.ts'
import { isCharger, isPossibleNumber } from './families.ts'
import { lights } from './lights.ts'
import { type DeviceUpdate, openSession } from './session.ts'
import { idPrefix, type StringsDevice, toChannelReading, toDeviceReport, toLevels } from './translate.ts'

export const strings = defineAdapter<StringsDevice>({
  ...withoutParts,
  listDevices,
  transformDeviceData: toDeviceReport,
  transport: 'tcp',
  pushesEverything: true,
  startsWithFullReport: true,
  subscribe,
  lights,
  // A report from the device itself takes precedence over one from a system.
  precedence: 1,
  idPrefix,
})

export const uhfrStrings = { ...strings, transport: 'udp' as const }

/** Opens a session and closes it when the device has reported everything once. */
async function listDevices(client: UpstreamClient, signal?: AbortSignal) {
  const done = new AbortController()
  const lifetime = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal])
  try {
    for await (const { device } of openSession(client, lifetime)) {
      return { devices: [{ ...device, values: { ...device.values } }], malformed: 0 }
    }
    signal?.throwIfAborted()
    throw new client.errors.ApiError('the connection ended before the device reported anything')
  } finally {
    done.abort()
  }
}

async function* subscribe(
  client: UpstreamClient,
  _: SubscriptionTargets,
  signal: AbortSignal,
  onLevels?: OnLevels,
): AsyncGenerator<PushEvent> {
  let isOpen = false
  try {
    for await (const update of openSession(client, signal, onLevels)) {
      if (!isOpen) yield { type: 'open' }
      isOpen = true
      const event = toEvent(update)
      if (event !== null) yield event
      if (update.malformed > 0) yield { type: 'ignored', reason: `${update.malformed} frames could not be parsed` }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function toEvent({ device, affectsDevice, channels, metered }: DeviceUpdate): PushEvent | null {
  const { id, family, values } = device
  // A charger's report must contain all its packs, because a missing pack is treated as removed.
  if (affectsDevice || (isCharger(family) && channels.size + metered.size > 0)) {
    return { type: 'report', isComplete: true, report: toDeviceReport({ ...device, values: { ...values } }) }
  }
  const numbers = [...new Set([...channels, ...metered])].filter((number) => isPossibleNumber(family, values, number))
  const readings = numbers.map((channel) =>
    channels.has(channel) ? toChannelReading(family, values, channel) : toLevels(family, values, channel),
  )
  if (readings.length === 0) return null
  return { type: 'report', report: { id, kind: 'receiver', channels: readings } }
}
