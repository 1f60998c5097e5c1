/** Announces events to clients of both versions, and counts those of the receivers that this process evaluates. */

import { type EventChange, type EventRecord, toEventBody } from '../domain/events/event.ts'
import type { Feed } from '../live/version-1.ts'
import type { LivePublisher } from '../live/live-publisher.ts'
import type { Counters } from '../platform/counters.ts'

interface EventAnnouncementDeps {
  readonly feed: Pick<Feed, 'publish'>
  readonly live: Pick<LivePublisher, 'eventChanged'>
  readonly counters: Pick<Counters, 'countEvent'>
  isOwn(receiverId: number): boolean
}

/** Returns a function that announces a change of an event. */
export function createEventAnnouncements({ feed, live, counters, isOwn }: EventAnnouncementDeps) {
  const count = ({ kind, channel_id, receiver_id }: EventRecord) => {
    if (channel_id !== null && receiver_id !== null && isOwn(receiver_id)) counters.countEvent(kind, channel_id)
  }
  return (change: EventChange): void => {
    const message = change.type === 'event_deleted' ? change : { type: change.type, event: toEventBody(change.event) }
    if (change.type === 'event') count(change.event)
    feed.publish(message, message.type === 'event_deleted' ? undefined : (message.event.site?.code ?? null))
    live.eventChanged(message)
  }
}
