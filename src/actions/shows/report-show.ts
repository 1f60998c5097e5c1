/** Reports what happened during a show. The recorded levels are summed up in their worker thread. */

import type { Group } from '../../contract/groups.ts'
import type { ChannelAssignment } from '../../contract/performers.ts'
import type { ReportedChannel, ShowReport } from '../../contract/reports.ts'
import { localSite } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import type { EventRecord } from '../../domain/events/event.ts'
import type { LevelReader } from '../../domain/history/level-history.ts'
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
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import { listAlertsDuring } from '../../storage/alerts.ts'
import { listStatesOfChannel } from '../../storage/channel-states.ts'
import type { Database, Reader } from '../../storage/database.ts'
import { readEvents } from '../../storage/events.ts'
import { type RecordingHistory, storeRecentSeconds } from '../store-recent-seconds.ts'

export interface ReportDeps {
  readonly db: Database
  readonly history: RecordingHistory
  readonly receiverStore: Pick<ReceiverStore, 'listFacts'>
  groups(): readonly Group[]
  /** Returns the active assignments. */
  assignments(): readonly ChannelAssignment[]
  now(): number
}

/** Throws a RequestError if the show has not started. */
export async function reportShow(
  deps: ReportDeps,
  levels: Pick<LevelReader, 'summarize'>,
  show: Show,
): Promise<ShowReport> {
  const range = reportRange(show, deps.now())
  if (range === null) {
    throw new RequestError('wrong_state', { subject: 'The show has not started, so it has no report yet.' })
  }
  const current = listCurrentChannels(deps)
  const ids = listChannelsOfShow(
    show,
    [...current].map(([id, { slot }]) => ({ id, slot })),
    deps.groups(),
  )
  await storeRecentSeconds(deps, range.to)
  const seconds = [Math.floor(range.from / 1000), Math.ceil(range.to / 1000)] as const
  const summaries = await levels.summarize(ids, ...seconds)
  const story: ShowStory = {
    range,
    isRunning: stateOf(show) === 'running',
    events: await readEventsByChannel(deps.db.read, range),
    alerts: await listAlertsDuring(deps.db.read, range),
  }
  const channels: ReportedChannel[] = []
  for (const summary of summaries) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    const id = summary.channelId
    const states = await listStatesOfChannel(deps.db.read, id, range)
    channels.push(toReportedChannel({ id, states, summary, current: current.get(id) ?? null }, story))
  }
  return toReport(show, range, channels, summaries)
}

function listCurrentChannels({ receiverStore, assignments }: ReportDeps): ReadonlyMap<number, CurrentChannel> {
  const performers = new Map(assignments().map(({ channel_id, performer }) => [channel_id, performer.name]))
  return new Map(
    receiverStore.listFacts().flatMap(({ id: receiverId, channels }) =>
      channels.map((channel): [number, CurrentChannel] => {
        const { id, slot, name, last_transmitter } = channel
        const pack = packOf(channel) ?? last_transmitter?.name ?? null
        return [id, { receiverId, slot, name, performer: performers.get(id) ?? null, pack }]
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
