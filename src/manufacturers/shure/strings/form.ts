/** Shure receivers that are spoken to one by one, in command strings: over TCP, the older UHF-R over UDP. */

import type { UpstreamClient } from '../../../upstream/client.ts'
import { defineAdapter, type PushEvent, type SubscriptionTargets, withoutParts } from '../../plugin.ts'
import { isCharger } from './families.ts'
import { converse, type News } from './session.ts'
import { idPrefix, type StringsDevice, toChannelReading, toLevels, toObservation } from './translate.ts'

export const strings = defineAdapter<StringsDevice>({
  ...withoutParts,
  listDevices,
  transformDeviceData: toObservation,
  transport: 'tcp',
  pushesEverything: true,
  subscribe,
  // The receiver's own word, before that of a system that speaks for many.
  precedence: 1,
  idPrefix,
})

export const uhfrStrings = { ...strings, transport: 'udp' as const }

/** A short conversation: until everything has been told once. */
async function listDevices(client: UpstreamClient, signal?: AbortSignal) {
  const done = new AbortController()
  const lifetime = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal])
  try {
    for await (const { device } of converse(client, lifetime)) {
      return { devices: [{ ...device, words: { ...device.words } }], malformed: 0 }
    }
    signal?.throwIfAborted()
    throw new client.errors.ApiError('the conversation ended before it began')
  } finally {
    done.abort()
  }
}

async function* subscribe(
  client: UpstreamClient,
  _: SubscriptionTargets,
  signal: AbortSignal,
): AsyncGenerator<PushEvent> {
  let isOpen = false
  try {
    for await (const news of converse(client, signal)) {
      if (!isOpen) yield { type: 'open' }
      isOpen = true
      const told = toEvent(news)
      if (told !== null) yield told
      if (news.malformed > 0) yield { type: 'ignored', reason: `${news.malformed} frames make no sense` }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function toEvent({ device, isWhole, channels, metered }: News): PushEvent | null {
  const { id, family, words } = device
  // A charger tells of all its packs, or the others would seem to have left.
  if (isWhole || (isCharger(family) && channels.size + metered.size > 0)) {
    return { type: 'told', isComplete: true, report: toObservation({ ...device, words: { ...words } }) }
  }
  const readings = [...channels].map((channel) => toChannelReading(family, words, channel))
  for (const channel of metered) if (!channels.has(channel)) readings.push(toLevels(family, words, channel))
  if (readings.length === 0) return null
  return { type: 'told', report: { id, kind: 'receiver', channels: readings } }
}
