/** The names in alerts: of a channel its title and its pack, of a receiver the titles of its channels. */

import type { Channel, Receiver } from '../equipment/receiver.ts'
import type { Title } from '../equipment/slot-record.ts'
import type { Alert, AlertCause, AlertData } from './alert.ts'
import { describeAlert, describeWith } from './describe-alert.ts'

type Named = Pick<AlertCause, 'kind' | 'channel_id' | 'data'>

/** Adds the names to a cause of an alert about the receiver or one of its channels. */
export function withNames<Cause extends Named>(
  cause: Cause,
  receiver: Receiver,
  titleOf: (channel: Channel) => Title,
): Cause {
  const channel = receiver.channels.find(({ id }) => id === cause.channel_id)
  const names = channel === undefined ? namesOfReceiver(cause, receiver, titleOf) : listNames(channel, titleOf(channel))
  return { ...cause, data: { ...cause.data, ...names } }
}

/** The names of a channel in an alert or event. */
export function listNames(
  { name, transmitter, last_transmitter }: Channel,
  { title, title_from }: Title,
): Pick<AlertData, 'title' | 'title_from' | 'pack' | 'channel_name'> {
  return { title, title_from, pack: (transmitter ?? last_transmitter)?.name ?? null, channel_name: name }
}

/** A channel that is known only by its receiver's name is not listed. */
function namesOfReceiver(
  { kind, data }: Named,
  { channels }: Receiver,
  titleOf: (channel: Channel) => Title,
): Partial<AlertData> {
  if (kind !== 'receiver_offline' && kind !== 'levels_lost') return {}
  const people = channels
    .filter(({ id }) => data.channels === undefined || data.channels.includes(id))
    .flatMap((channel) => {
      const { title, title_from } = titleOf(channel)
      return title === null || title_from === 'receiver' ? [] : { slot: channel.slot, title }
    })
  return people.length === 0 ? {} : { people: people.sort((a, b) => a.slot - b.slot) }
}

/** An alert keeps the names of its beginning. */
export function withFirstNames(data: AlertData, first: AlertData): AlertData {
  const { name, receiver, title, title_from, pack, channel_name } = first
  const titled = title === undefined ? {} : { title, title_from, pack: pack ?? data.pack, channel_name }
  const people = data.people?.map((one) => first.people?.find(({ slot }) => slot === one.slot) ?? one)
  return {
    ...data,
    ...{ name: name ?? data.name, receiver: receiver ?? data.receiver },
    ...titled,
    ...(people && { people }),
  }
}

/** Names channels by their slots alone. The receiver keeps its name. */
export function withoutNames(alert: Alert): Alert {
  const { first } = alert
  const data = withoutTitles(alert.data)
  const firstData = withoutTitles(first.data)
  return {
    ...alert,
    data,
    message: describeWith(alert, data),
    first: {
      ...first,
      data: firstData,
      message: describeAlert({ kind: first.kind, manufacturer: alert.manufacturer, data: firstData }),
    },
  }
}

function withoutTitles({ generators: _, people, conflicts_with: others, ...data }: AlertData): AlertData {
  // Packs are often named like the people who wear them.
  const ofChannel = { name: null, title: null, title_from: null, pack: null, channel_name: null }
  return {
    ...data,
    ...(data.slot !== null && ofChannel),
    ...(people && { people: people.map((one) => ({ ...one, title: null })) }),
    ...(others && { conflicts_with: others.map((one) => ({ ...one, title: null })) }),
  }
}
