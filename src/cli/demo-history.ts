/** Stores the day that the demo plays: levels, states, events, markers and shows. */

import type { DayTarget, MonitoredChannel } from '../../simulators/demo-day.ts'
import type { PlayedEvent } from '../../simulators/show/day-events.ts'
import type { PlayedState } from '../../simulators/show/day-levels.ts'
import { noData } from '../domain/alerts/alert.ts'
import type { Channel, Receiver } from '../domain/equipment/receiver.ts'
import { aboutChannel, aboutReceiver } from '../domain/events/channel-events.ts'
import { aboutAll, draftEvent, type EventDraft } from '../domain/events/event.ts'
import { toShowEvent } from '../domain/events/event-drafts.ts'
import { toChannelState } from '../domain/history/channel-state.ts'
import type { Service } from '../service.ts'
import { saveChannelStates } from '../storage/channel-states.ts'
import type { Tx } from '../storage/database.ts'
import { importEvents } from '../storage/events.ts'
import { nextRevision } from '../storage/revision.ts'
import { insertShow } from '../storage/shows.ts'

/** Rows per transaction, so that live data never wait long. */
const rowsAtOnce = 50
/** The author of the markers. */
const crewName = 'RF crew'

export function createDayTarget(service: Service): DayTarget {
  const { db, receiverStore, history } = service
  const channelsById = () =>
    new Map(receiverStore.listFacts().flatMap(({ channels }) => channels.map((channel) => [channel.id, channel])))
  const saveInParts = async <T>(rows: readonly T[], save: (tx: Tx, part: readonly T[]) => Promise<unknown>) => {
    for (let first = 0; first < rows.length; first += rowsAtOnce) {
      await db.transaction((tx) => save(tx, rows.slice(first, first + rowsAtOnce)))
    }
  }
  return {
    listChannels: () => receiverStore.listFacts().flatMap(toMonitoredChannels),
    importSeconds: (seconds) => history.levels.importSeconds(seconds),
    async addEvents(events) {
      const channels = channelsById()
      const drafts = events.flatMap((event) => {
        const receiver = event.receiverId === null ? null : (receiverStore.facts(event.receiverId) ?? null)
        return toDraft(event, receiver, channels.get(event.channelId ?? 0) ?? null)
      })
      await saveInParts(drafts, importEvents)
    },
    async addStates(states) {
      const channels = channelsById()
      const rows = states.flatMap((state) => {
        const channel = channels.get(state.channelId)
        if (channel === undefined) return []
        return [{ channel_id: channel.id, time: state.time, state: toChannelState(toPlayed(channel, state), null) }]
      })
      await saveInParts(rows, saveChannelStates)
    },
    async addShow({ title, startedAt, endedAt }) {
      await db.transaction(async (tx) => {
        await nextRevision(tx, 'shows')
        const times = { starts_at: startedAt, ends_at: endedAt, started_at: startedAt, ended_at: endedAt }
        const show = await insertShow(tx, { title, ...times, group_ids: [], notes: '', channel_ids: null })
        await importEvents(tx, [toShowEvent({ ...show, ended_at: null }, crewName), toShowEvent(show, crewName)])
      })
      await service.reload()
    },
  }
}

function toMonitoredChannels({ id, manufacturer, api_device_id, channels }: Receiver): MonitoredChannel[] {
  return channels.map((channel) => ({
    ...{ id: channel.id, channel: channel.channel, receiverId: id, manufacturer, deviceId: api_device_id },
  }))
}

/** Returns no draft if the channel or receiver was removed. */
function toDraft(event: PlayedEvent, receiver: Receiver | null, channel: Channel | null): EventDraft[] {
  const { kind, time, until, channelId, receiverId, text, data } = event
  if ((receiverId !== null && receiver === null) || (channelId !== null && channel === null)) return []
  const about =
    receiver === null ? aboutAll : channel === null ? aboutReceiver(receiver) : aboutChannel(receiver, channel)
  if (kind === 'marker') return [draftEvent(kind, about, { time, until, text: text ?? '', by: crewName })]
  const name = channel === null ? receiver?.name : (channel.transmitter?.name ?? channel.name)
  const common = { ...noData, name: name ?? null, slot: channel?.slot ?? null, receiver: receiver?.name ?? null }
  return [draftEvent(kind, about, { time, until, data: { ...common, ...data } })]
}

/** Other values are those of the channel now. */
function toPlayed(channel: Channel, { time, isOn, isMuted, battery, condition }: PlayedState): Channel {
  const { transmitter } = channel
  const { state, severity, attention } = condition
  const details = transmitter?.details && { details: { ...transmitter.details, muted: isMuted } }
  return {
    ...channel,
    transmitter: isOn && transmitter !== null ? { ...transmitter, battery, ...details } : null,
    last_transmitter: null,
    condition: {
      state,
      severity,
      attention: attention === true || attention === 'in_use',
      since: time,
      since_known: true,
      flags: [],
    },
  }
}
