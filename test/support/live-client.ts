/** A client of the live interface, version 2, which keeps a copy of the data up to date. */

import { expect } from 'vitest'
import { withChangedDetails } from '../../src/domain/live/receiver-changes.ts'
import type { TestApp } from './app.ts'
import type { ReceivedMessage, SocketOptions, TestSocket } from './socket-client.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever fields they expect
type Json = any

export interface LiveClient extends TestSocket {
  readonly snapshot: ReceivedMessage
  /** The number of the last message. */
  seq(): number
  /** Returns the copy of `data`, with all messages applied. */
  data(): Json
  /** Returns the messages that have a number, after the first snapshot. */
  changes(): readonly ReceivedMessage[]
}

/** Connects, and waits for the first message. */
export async function openLive(
  app: Pick<TestApp, 'socket'>,
  query = '',
  options: SocketOptions = {},
): Promise<LiveClient> {
  const socket = await app.socket(`/ws?protocol=2${query}`, options)
  const first = await socket.next(() => true)
  const numbered = () => socket.messages.filter(({ seq, type }) => seq !== undefined && type !== 'resumed')
  return {
    ...socket,
    // A method, because the spread would evaluate a getter.
    messages: socket.messages,
    snapshot: first,
    seq: () => numbered().at(-1)?.seq ?? first.seq,
    changes: () => numbered().filter((message) => message !== first),
    data: () => {
      const data: Json = {}
      for (const message of socket.messages) apply(data, message)
      return data
    },
  }
}

export function expectConsecutive(messages: readonly ReceivedMessage[]): void {
  const [first] = messages
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, index) => first?.seq + index))
}

/** Expects that each number is higher than the one before. */
export function expectRising(messages: readonly ReceivedMessage[]): void {
  const numbers = messages.map(({ seq }) => Number(seq))
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
}

const wholeLists = ['groups', 'performers', 'assignments', 'placeholders', 'discovered', 'silences']

function apply(data: Json, { at: _, sentAt: __, type, seq: ___, ...message }: ReceivedMessage): void {
  const receiverOf = (id: number) => data.receivers.find((receiver: Json) => receiver.id === id)
  const channelOf = (id: number) =>
    data.receivers.flatMap(({ channels }: Json) => channels).find((channel: Json) => channel.id === id)
  switch (type) {
    case 'slot_records': {
      const { slots, removed } = message as Json
      const gone = new Set([...removed, ...slots.map(({ slot }: Json) => slot)])
      const kept = data.slot_records.filter(({ slot }: Json) => !gone.has(slot))
      data.slot_records = [...kept, ...slots].sort((a: Json, b: Json) => a.slot - b.slot)
      return
    }
    case 'snapshot':
      Object.assign(data, structuredClone(message.data))
      break
    case 'receiver':
      setFields(receiverOf(message.id), message)
      break
    case 'receiver_added':
      data.receivers.push(structuredClone(message.receiver))
      data.receivers.sort((a: Json, b: Json) => a.id - b.id)
      break
    case 'receiver_removed':
      data.receivers = data.receivers.filter(({ id }: Json) => id !== message.id)
      break
    case 'channel': {
      const { receiver_id, ...fields } = message
      const channel = channelOf(message.id)
      if (channel !== undefined) {
        const { details } = fields
        setFields(channel, { ...fields, ...(details && { details: withChangedDetails(channel.details, details) }) })
      } else {
        const { channels } = receiverOf(receiver_id)
        channels.push(fields)
        channels.sort((a: Json, b: Json) => a.channel - b.channel)
      }
      break
    }
    case 'channel_removed': {
      const receiver = receiverOf(message.receiver_id)
      receiver.channels = receiver.channels.filter(({ id }: Json) => id !== message.id)
      break
    }
    case 'slots':
      for (const [id, slot] of message.values) channelOf(id).slot = slot
      break
    case 'levels':
      for (const [id, rf_level = null, audio_level = null] of message.values) {
        const channel = channelOf(id)
        Object.assign(channel.transmitter ?? channel, { rf_level, audio_level })
      }
      break
    case 'settings':
      if (message.manufacturer === null && message.group === null) Object.assign(data.config, message.config)
      break
    case 'source':
      data.sources = [...data.sources.filter(({ address }: Json) => address !== message.address), message]
      break
    case 'site':
      data.sites = [...data.sites.filter(({ code }: Json) => code !== message.code), message]
      break
    case 'site_removed':
      data.sites = data.sites.filter(({ code }: Json) => code !== message.code)
      break
    case 'queue':
      data.queue = message
      break
    case 'alert':
      data.alerts = data.alerts.filter(({ id }: Json) => id !== message.id)
      if (message.state !== 'cleared') data.alerts.push(message)
      break
    case 'show':
      data.shows = data.shows.filter(({ id }: Json) => id !== message.show.id)
      if (message.show.state === 'running') data.shows.push(message.show)
      break
    default:
      if (wholeLists.includes(type)) data[type] = message[type]
  }
}

function setFields(record: Json, fields: Json): void {
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'details' && value === null) delete record[name]
    else record[name] = value
  }
}
