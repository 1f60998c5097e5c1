/** Reports what happened during a show. The recorded levels are summed up in their worker thread. */

import type { CheckReport, ReportedChannel, ShowReport } from '../../contract/reports.ts'
import { toCheckStates } from '../../domain/checks.ts'
import { localSite } from '../../domain/equipment/sites.ts'
import { namesOfChannel } from '../../domain/equipment/slot-record.ts'
import { RequestError } from '../../domain/errors.ts'
import type { EventRecord } from '../../domain/events/event.ts'
import { toCheckReport } from '../../domain/reports/check-report.ts'
import { listSlotsOfShow } from '../../domain/reports/crew-sheet.ts'
import {
  type CurrentChannel,
  packOf,
  type ReportRange,
  reportedKinds,
  reportRange,
  type ShowStory,
  toReport,
  toReportedChannel,
} from '../../domain/reports/show-report.ts'
import { listChannelsOfShow, type Show, stateOf } from '../../domain/shows.ts'
import { now } from '../../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import type { Service } from '../../service.ts'
import { listAlertsDuring } from '../../storage/alerts.ts'
import { listStatesOfChannel } from '../../storage/channel-states.ts'
import type { Reader } from '../../storage/database.ts'
import { readEvents } from '../../storage/events.ts'
import { listChecks } from '../../storage/shows.ts'
import { storeRecentSeconds } from '../store-recent-seconds.ts'
import { readLineCheck } from './read-line-check.ts'

/** Throws a RequestError if the show has not started. */
export async function reportShow(service: Service, show: Show, client: string): Promise<ShowReport> {
  const range = reportRange(show, now())
  if (range === null) {
    throw new RequestError('wrong_state', { subject: 'The show has not started, so it has no report yet.' })
  }
  const current = listCurrentChannels(service)
  const ids = listChannelsOfShow(
    show,
    [...current].map(([id, { slot }]) => ({ id, slot })),
    service.lists.current.groups,
  )
  await storeRecentSeconds(service.history, range.to)
  const seconds = [Math.floor(range.from / 1000), Math.ceil(range.to / 1000)] as const
  const summaries = await service.history.levels.ofClient(client).summarize(ids, ...seconds)
  const story: ShowStory = {
    range,
    isRunning: stateOf(show) === 'running',
    events: await readEventsByChannel(service.db.read, range),
    alerts: await listAlertsDuring(service.db.read, range),
  }
  const channels: ReportedChannel[] = []
  for (const summary of summaries) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    const id = summary.channelId
    const states = await listStatesOfChannel(service.db.read, id, range)
    channels.push(toReportedChannel({ id, states, summary, current: current.get(id) ?? null }, story))
  }
  return { ...toReport(show, range, channels, summaries), checks: (await reportChecks(service, show, client)).slots }
}

export async function reportChecks(service: Service, show: Show, client: string): Promise<CheckReport> {
  const { receiverStore, slotRecords, lists } = service
  const slots = listSlotsOfShow(show, {
    channels: receiverStore.listFacts().flatMap(({ channels }) => channels),
    records: slotRecords.list(),
    groups: lists.current.groups,
  })
  const states = toCheckStates(await listChecks(service.db.read, show.id))
  const unchecked = stateOf(show) === 'ended' ? [] : slots.flatMap(({ channel }) => channel?.id ?? [])
  const open = new Set(unchecked.filter((id) => (states.get(id)?.last ?? null) === null))
  const readings = open.size === 0 ? [] : await readLineCheck(service, show, client, open)
  return toCheckReport(show, {
    slots,
    states,
    readings: new Map(readings.map((reading) => [reading.channel_id, reading])),
  })
}

function listCurrentChannels(service: Service): ReadonlyMap<number, CurrentChannel> {
  const { receiverStore, slotRecords } = service
  return new Map(
    receiverStore.listFacts().flatMap((receiver) =>
      receiver.channels.map((channel): [number, CurrentChannel] => {
        const { id, slot, name, last_transmitter } = channel
        const pack = packOf(channel) ?? last_transmitter?.name ?? null
        const { title, performer, label } = slotRecords.find(slot) ?? { title: null, performer: null, label: null }
        const lasting = { label, receiver: namesOfChannel(receiver, channel).receiver ?? null }
        return [id, { receiverId: receiver.id, slot, title, name, performer: performer?.name ?? null, pack, lasting }]
      }),
    ),
  )
}

/** Returns the events of a report by channel, oldest first. */
async function readEventsByChannel(reader: Reader, range: ReportRange): Promise<ShowStory['events']> {
  const byChannel = new Map<number | null, EventRecord[]>()
  for await (const page of readEvents(reader, { ...range, kinds: reportedKinds, site: localSite })) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    for (const event of page) {
      const known = byChannel.get(event.channel_id)
      if (known === undefined) byChannel.set(event.channel_id, [event])
      else known.push(event)
    }
  }
  for (const events of byChannel.values()) events.reverse()
  return byChannel
}
