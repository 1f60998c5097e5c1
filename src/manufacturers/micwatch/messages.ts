/** Parses the messages and responses of another installation (`contract/followed-messages.ts`). */

import {
  FollowedEvents,
  type FollowedMessage,
  followedMessages,
  FollowedReceiver as ReceiverSchema,
} from '../../contract/followed-messages.ts'
import { siteLimits } from '../../contract/sites.ts'
import { isRecord, type Json } from '../../domain/json.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import { createReader, type Dropped, unreadable } from './reader.ts'

const readers = new Map(followedMessages.map((schema) => [schema.properties.type.const, createReader(schema)]))
const readEventList = createReader(FollowedEvents)
const readOneReceiver = createReader(ReceiverSchema)

/** Returns null for a message of an unused type, or one that does not match its schema. */
export async function readMessage(message: Json, dropped: Dropped): Promise<FollowedMessage | null> {
  const read = readers.get(message.type as FollowedMessage['type'])
  if (read === undefined) return null
  dropped.path.push(String(message.type))
  if (message.type !== 'snapshot' || !isRecord(message.data)) return found(read(message, dropped))
  dropped.path.push('data')
  const receivers = await readReceivers(message.data.receivers, dropped)
  dropped.path.pop()
  const snapshot = found<Snapshot>(read({ ...message, data: { ...message.data, receivers: receivers && [] } }, dropped))
  return snapshot && receivers && { ...snapshot, data: { ...snapshot.data, receivers } }
}

type Snapshot = Extract<FollowedMessage, { type: 'snapshot' }>
type Receivers = Snapshot['data']['receivers']
export type FollowedReceiver = Receivers[number]

/** Parses a list of receivers in time slices. Returns null for anything else. */
export async function readReceivers(list: unknown, dropped: Dropped): Promise<Receivers | null> {
  if (!Array.isArray(list)) return null
  const receivers: FollowedReceiver[] = []
  for (const [index, receiver] of list.entries()) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    dropped.path.push('receivers', index)
    const read =
      receivers.length < siteLimits.receivers
        ? readOneReceiver(receiver, dropped)
        : dropped.add(`at most ${siteLimits.receivers} receivers`)
    if (read !== unreadable) receivers.push(read as FollowedReceiver)
    dropped.path.length -= 2
  }
  return receivers
}

export function readEvents(body: unknown, dropped: Dropped): FollowedEvents | null {
  return found(readEventList(body, dropped))
}

function found<Value>(value: unknown): Value | null {
  return value === unreadable ? null : (value as Value)
}
