/** Messages of a followed site are reduced to valid values, whatever the site sends. */

import fc from 'fast-check'
import { Errors } from 'typebox/schema'
import { expect, it } from 'vitest'
import { type FollowedMessage, followedMessages } from '../src/contract/followed-messages.ts'
import { toAlertBody } from '../src/domain/alerts/alert.ts'
import { emptyChannel } from '../src/domain/equipment/receiver.ts'
import { toChannelBody, toReceiverDetail } from '../src/domain/equipment/receiver-body.ts'
import { toChannelRecord } from '../src/domain/equipment/slot-record.ts'
import { toEventBody } from '../src/domain/events/event.ts'
import { createMessage } from '../src/domain/notifications/message.ts'
import { toNotificationText } from '../src/domain/notifications/text.ts'
import {
  toAlertCopy,
  toFollowedEvent,
  toFollowedReceiver,
  toFollowedSample,
  toFollowedTitle,
  withChannelFields,
  withReceiverFields,
  withTitle,
} from '../src/domain/sites/followed.ts'
import {
  nothingAnnounced,
  toAnnouncedSites,
  toFollowedAssignments,
  withAnnouncement,
} from '../src/domain/sites/sites.ts'
import { readMessage } from '../src/manufacturers/micwatch/adapter.ts'
import { Dropped } from '../src/manufacturers/micwatch/reader.ts'
import { followedExamples, mutationsOf } from './support/hostile-messages.ts'

const now = Date.parse('2026-05-01T19:00:00.000Z')
const record = { code: 'evil', name: 'Evil', url: 'https://evil.example', installation: 'i1' }
const schemas = new Map<string, (typeof followedMessages)[number]>(
  followedMessages.map((schema) => [schema.properties.type.const, schema]),
)
const unsafe = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

it.each([...schemas.keys()])('reads %s without loss', async (type) => {
  const dropped = new Dropped()
  const message = await readMessage({ type, ...followedExamples[type] }, dropped)
  expect({ message, first: dropped.first }).toMatchObject({ message: { type }, first: null })
})

// Conformance: C-18.47.
it.each([...schemas.keys()])('reads only valid values of any %s', async (type) => {
  const schema = schemas.get(type)
  const property = fc.asyncProperty(mutationsOf(type), async (text) => {
    const message = await readMessage(JSON.parse(text), new Dropped())
    if (message === null) return
    // The last levels may be left out.
    if (schema !== undefined && type !== 'levels') expect(Errors(schema, message)[1]).toEqual([])
    expect(JSON.stringify(message)).not.toMatch(unsafe)
    convert(message)
  })
  await fc.assert(property, { numRuns: 300 })
})

/** Converts a message to what the service shows and sends. */
function convert(message: FollowedMessage): void {
  const announced = withAnnouncement(nothingAnnounced, message)
  toAnnouncedSites(record, announced)
  toFollowedAssignments(record, announced.assignments, () => 1)
  switch (message.type) {
    case 'snapshot':
      message.data.receivers.forEach(convertReceiver)
      message.data.alerts?.forEach(convertAlert)
      break
    case 'receiver_added':
      convertReceiver(message.receiver)
      break
    case 'receiver':
      withReceiverFields(toFollowedReceiver(firstReceiver, undefined, { record, now }), message, record)
      break
    case 'channel':
      toChannelBody(withChannelFields(emptyChannel(0, 1, 0), message))
      break
    case 'slot_records':
      for (const { channel_id, ...title } of message.slots) {
        const receiver = toFollowedReceiver(firstReceiver, undefined, { record, now })
        const titled = withTitle(receiver, channel_id ?? 0, toFollowedTitle(title))
        for (const one of titled.channels)
          toChannelRecord(titled, one, { entry: undefined, performer: undefined }, null)
      }
      break
    case 'levels':
      for (const entry of message.values) toFollowedSample(emptyChannel(0, 1, 0), entry)
      break
    case 'alert':
      convertAlert(message)
      break
    case 'event':
    case 'event_changed': {
      const draft = toFollowedEvent(message.event, record, {
        receiverOf: () => 1,
        channelOf: () => ({ id: 1, slot: 1 }),
        slotOf: () => undefined,
      })
      if (draft !== null) toEventBody({ id: 1, ...draft })
      break
    }
    default:
  }
}

type Receiver = Extract<FollowedMessage, { type: 'receiver_added' }>['receiver']
const firstReceiver = followedExamples.receiver_added?.receiver as Receiver

function convertReceiver(body: Receiver): void {
  toReceiverDetail(
    toFollowedReceiver(body, undefined, { record, now }),
    { thresholdsOf: () => ({ alert_battery_threshold: 20 }) },
    [],
  )
}

function convertAlert(body: Extract<FollowedMessage, { type: 'alert' }> | SnapshotAlert): void {
  const copy = toAlertCopy(body, record, {
    receiver: { id: 1 },
    channel: { id: 1, slot: 1 },
    slotOf: () => undefined,
  })
  if (copy === null) return
  const alert = { ...copy, id: 1, state: 'raised' } as const
  toAlertBody(alert, { now, isSilenced: false })
  const message = createMessage({ id: 'm', type: 'alert.raised', created_at: now }, [alert], {
    now,
    without_names: false,
    marksOf: () => ({ isSilenced: false }),
    onUnlisted: (_, error) => {
      throw error
    },
  })
  toNotificationText(message, 'https://micwatch.example')
}

type SnapshotAlert = NonNullable<Extract<FollowedMessage, { type: 'snapshot' }>['data']['alerts']>[number]
