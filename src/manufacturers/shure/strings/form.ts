/** Shure receivers that are spoken to one by one, in command strings: over TCP, the older UHF-R over UDP. */

import type { Link } from '../../../upstream/link.ts'
import { defineForm, type Interest, type PushEvent, toldAtOnce } from '../../plugin.ts'
import { isCharger } from './families.ts'
import { converse, type News } from './session.ts'
import { idPrefix, type StringsDevice, toChannelReading, toLevels, toObservation } from './translate.ts'

export const strings = defineForm<StringsDevice>({
  ...toldAtOnce,
  listDevices,
  transformDeviceData: toObservation,
  transport: 'tcp',
  tellsAll: true,
  subscribe,
  // The receiver's own word, before that of a system that speaks for many.
  rank: 1,
  idPrefix,
})

export const uhfrStrings = { ...strings, transport: 'udp' as const }

/** A short conversation: until everything has been told once. */
async function listDevices(link: Link, signal?: AbortSignal) {
  const done = new AbortController()
  const lifetime = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal])
  try {
    for await (const { device } of converse(link, lifetime)) {
      return { devices: [{ ...device, words: { ...device.words } }], malformed: 0 }
    }
    signal?.throwIfAborted()
    throw new link.errors.ApiError('the conversation ended before it began')
  } finally {
    done.abort()
  }
}

async function* subscribe(link: Link, _: Interest, signal: AbortSignal): AsyncGenerator<PushEvent> {
  let isOpen = false
  try {
    for await (const news of converse(link, signal)) {
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
    return { type: 'told', isWhole: true, observation: toObservation({ ...device, words: { ...words } }) }
  }
  const readings = [...channels].map((channel) => toChannelReading(family, words, channel))
  for (const channel of metered) if (!channels.has(channel)) readings.push(toLevels(family, words, channel))
  if (readings.length === 0) return null
  return { type: 'told', observation: { id, kind: 'receiver', channels: readings } }
}
