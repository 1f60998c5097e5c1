/** Builds the report of a show from its recorded levels, its events and its alerts. Times are epoch milliseconds. */

import type { ReportedAlert, ReportedChannel, ShowReport } from '../../contract/reports.ts'
import type { EventKind } from '../../contract/values.ts'
import { type Alert, type AlertData, happenedAt, isMutedOnPurpose } from '../alerts/alert.ts'
import { byteOrderMark, toCell, toLine } from '../csv.ts'
import { type TitleNames, titleOf } from '../equipment/slot-record.ts'
import { type EventRecord, toEventBody, toSeconds } from '../events/event.ts'
import type { ChannelState } from '../history/channel-state.ts'
import { type LevelSummary, percentile } from '../history/level-summary.ts'
import { type Show, stateOf, toShowBody } from '../shows.ts'
import { toTimestamp } from '../timestamp.ts'

/** Both ends are included. */
export interface ReportRange {
  readonly from: number
  readonly to: number
}

/** Returns null before the show has started. */
export function reportRange(show: Show, now: number): ReportRange | null {
  const { started_at: from, ended_at } = show
  if (from === null) return null
  return { from, to: stateOf(show) === 'ended' && ended_at !== null ? ended_at : Math.max(from, now) }
}

/** The kinds of events that a report uses. */
export const reportedKinds = [
  'rf_dropout',
  'interference',
  'muted',
  'clipping',
  'marker',
] as const satisfies readonly EventKind[]

export interface AlertOfShow {
  readonly id: number
  readonly kind: string
  readonly channel_id: number | null
  readonly receiver_id: number | null
  readonly raised_at: number
  readonly data: AlertData
  readonly acknowledged_at: number | null
  readonly snoozed_until: Alert['snoozed_until']
}

/** Null for a removed channel. */
export interface CurrentChannel {
  readonly receiverId: number
  readonly slot: number
  readonly title: string | null
  readonly name: string | null
  readonly performer: string | null
  readonly pack: string | null
  /** The names of the title that are not recorded. */
  readonly lasting: Pick<TitleNames, 'label' | 'receiver'>
}

export interface ChannelOfShow {
  readonly id: number
  readonly current: CurrentChannel | null
  /** The states of the channel during the show, oldest first. */
  readonly states: readonly ChannelState[]
  readonly summary: LevelSummary
}

export interface ShowStory {
  readonly isRunning: boolean
  readonly range: ReportRange
  /** The events of each channel, oldest first. Those of all channels have the key null. */
  readonly events: ReadonlyMap<number | null, readonly EventRecord[]>
  /** Oldest first. */
  readonly alerts: readonly AlertOfShow[]
}

export function toReport(
  show: Show,
  { from, to }: ReportRange,
  channels: readonly ReportedChannel[],
  summaries: readonly LevelSummary[],
): Omit<ShowReport, 'checks'> {
  const steps = summaries.flatMap(({ stepSeconds }) => stepSeconds ?? [])
  return {
    show: toShowBody(show),
    from: toTimestamp(from),
    to: toTimestamp(to),
    step_seconds: steps.length === 0 ? null : Math.max(...steps),
    channels: channels.toSorted(bySlot),
  }
}

/** Removed channels are last. */
function bySlot(a: ReportedChannel, b: ReportedChannel): number {
  const slotOf = ({ slot }: ReportedChannel) => slot ?? Number.POSITIVE_INFINITY
  return slotOf(a) === slotOf(b) ? a.channel_id - b.channel_id : slotOf(a) - slotOf(b)
}

export function toReportedChannel(channel: ChannelOfShow, story: ShowStory): ReportedChannel {
  const { id, current, summary } = channel
  const events = story.events.get(id) ?? []
  const ofKind = (kind: (typeof reportedKinds)[number]) => events.filter((event) => event.kind === kind)
  const alerts = story.alerts.filter((alert) => concerns(alert, id, current?.receiverId))
  const onPurpose = alerts.filter(isMutedOnPurpose)
  const markers = [...ofKind('marker'), ...(story.events.get(null) ?? [])].toSorted(
    (a, b) => a.time - b.time || a.id - b.id,
  )
  return {
    channel_id: id,
    slot: current?.slot ?? null,
    ...describeChannel(channel, story),
    is_recorded: summary.stepSeconds !== null,
    minutes_on: Math.round(summary.secondsOn / 6) / 10,
    battery_start: summary.batteryStart,
    battery_end: summary.batteryEnd,
    rf_lowest: summary.rfLowest,
    rf_p1: percentile(summary, 0.01),
    dropouts: countDropouts(ofKind('rf_dropout'), story.range),
    interference: ofKind('interference').length,
    mutes: ofKind('muted').length,
    clipping: countRanges(ofKind('clipping'), story.range),
    mutes_on_purpose: onPurpose.length,
    alerts: alerts.filter((alert) => !onPurpose.includes(alert)).map(toReportedAlert),
    markers: markers.map(toEventBody),
  }
}

/**
 * Returns the names at the end of the show, and all performers and packs during it. Without a stored state, current ones
 * apply only while the show runs.
 */
function describeChannel(
  { states, current }: ChannelOfShow,
  { isRunning }: Pick<ShowStory, 'isRunning'>,
): Pick<ReportedChannel, 'title' | 'name' | 'performer' | 'pack'> {
  const last = states.at(-1)
  if (last === undefined) {
    const { title = null, name = null, performer = null, pack = null, lasting = {} } = current ?? {}
    if (isRunning) return { title, name, performer, pack }
    return { title: titleOf({ channel: name, ...lasting }).title, name, performer: null, pack: null }
  }
  const names = { performer: last.assignment?.performer.name, channel: last.name, transmitter: last.transmitter?.name }
  const title = isRunning && current !== null ? current.title : titleOf({ ...names, ...current?.lasting }).title
  const performer = joinNames(states.map(({ assignment }) => assignment?.performer.name))
  const pack = joinNames(states.map(packOf)) ?? last.last_transmitter?.name ?? null
  return { title, name: last.name, performer, pack }
}

/** Returns the name of the transmitter, else of the channel. */
export function packOf({
  transmitter,
  name,
}: Pick<ChannelState, 'name'> & { readonly transmitter: { readonly name: string | null } | null }) {
  return transmitter === null ? null : (transmitter.name ?? name)
}

function joinNames(names: readonly (string | null | undefined)[]): string | null {
  const distinct = new Set(names.filter((name) => name !== null && name !== undefined && name !== ''))
  return distinct.size === 0 ? null : [...distinct].join('; ')
}

function countDropouts(events: readonly EventRecord[], range: ReportRange): ReportedChannel['dropouts'] {
  const { count, seconds } = countRanges(events, range)
  return {
    count,
    seconds,
    longest_seconds: Math.max(0, ...events.map((event) => secondsWithin(event, range))),
    times: events.map(({ time }) => toTimestamp(Math.max(time, range.from))),
  }
}

function countRanges(events: readonly EventRecord[], range: ReportRange) {
  const seconds = events.reduce((sum, event) => sum + secondsWithin(event, range), 0)
  return { count: events.length, seconds: Math.round(seconds * 10) / 10 }
}

/** Returns the duration of an event within the show, to 0.1 s. */
function secondsWithin({ time, until, is_open }: EventRecord, { from, to }: ReportRange): number {
  const end = is_open ? to : Math.min(to, until ?? time)
  return toSeconds(Math.max(0, end - Math.max(time, from)))
}

/** An alert about a receiver applies to all its channels. */
function concerns(
  { channel_id, receiver_id }: AlertOfShow,
  channelId: number,
  receiverId: number | undefined,
): boolean {
  return channel_id === null ? receiver_id !== null && receiver_id === receiverId : channel_id === channelId
}

function toReportedAlert({ id, kind, raised_at: raised, data, acknowledged_at }: AlertOfShow): ReportedAlert {
  const raised_at = toTimestamp(raised)
  const happened_at = happenedAt({ raised_at, data })
  return {
    ...{ id, kind, raised_at, happened_at },
    acknowledged_at: acknowledged_at === null ? null : toTimestamp(acknowledged_at),
    seconds_to_acknowledge: acknowledged_at === null ? null : secondsBetween(happened_at, acknowledged_at),
  }
}

function secondsBetween(from: string, to: number): number {
  return toSeconds(Math.max(0, to - Date.parse(from)))
}

const columns = [
  'channel_id',
  'slot',
  'name',
  'performer',
  'pack',
  'minutes_on',
  'battery_start',
  'battery_end',
  'rf_lowest',
  'rf_p1',
  'dropouts',
  'dropout_seconds',
  'longest_dropout_seconds',
  'dropout_times',
  'interference',
  'mutes',
  'clipping',
  'clipping_seconds',
  'alerts',
  'markers',
  'mutes_on_purpose',
] as const

type Cells = Readonly<Record<(typeof columns)[number], string | number | null>>

export function toReportCsv({ channels }: ShowReport): string {
  return byteOrderMark + toLine(columns) + channels.map(toReportLine).join('')
}

function toReportLine(channel: ReportedChannel): string {
  const { title, is_recorded, minutes_on, dropouts, clipping, alerts, markers, ...values } = channel
  const cells: Cells = {
    ...values,
    name: title,
    minutes_on: is_recorded ? minutes_on : null,
    dropouts: dropouts.count,
    dropout_seconds: dropouts.seconds,
    longest_dropout_seconds: dropouts.longest_seconds,
    dropout_times: dropouts.times.join('; '),
    clipping: clipping.count,
    clipping_seconds: clipping.seconds,
    alerts: alerts.map(alertText).join('; '),
    markers: markers.map(({ time, text }) => `${time} ${text}`).join('; '),
  }
  return toLine(columns.map((column) => toCell(cells[column])))
}

function alertText({ kind, happened_at, seconds_to_acknowledge: seconds }: ReportedChannel['alerts'][number]): string {
  return `${happened_at} ${kind}${seconds === null ? '' : `, acknowledged after ${seconds} s`}`
}
