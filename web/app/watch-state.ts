/**
 * The transitions of the live state. The functions are pure: every event contains its time. A connection begins with
 * a `snapshot`, which replaces everything, or with `resumed` and the missed messages. The state is then fresh until
 * the connection is lost.
 */

import type { AlertBody, SilenceBody } from '../../src/contract/alerts.ts'
import type { ChannelBody } from '../../src/contract/channels.ts'
import type { DataBody } from '../../src/contract/data.ts'
import type { Group } from '../../src/contract/groups.ts'
import type { HealthBody } from '../../src/contract/health.ts'
import type { EventBody } from '../../src/contract/history.ts'
import type { LiveMessage, SourceBody } from '../../src/contract/live-messages.ts'
import type { ChannelAssignment, Performer } from '../../src/contract/performers.ts'
import type { PlaceholderInData } from '../../src/contract/placeholders.ts'
import type { ReceiverInData } from '../../src/contract/receivers.ts'
import { defaultSettings, type Settings } from '../../src/contract/settings.ts'
import type { AnnouncedShow, ShowBody } from '../../src/contract/shows.ts'
import type { AnnouncedSiteBody } from '../../src/contract/sites.ts'
import type { SlotRecord } from '../../src/contract/slots.ts'
import { toPlaceholderInData } from '../../src/domain/equipment/slots.ts'
import { withChangedDetails } from '../../src/domain/live/receiver-changes.ts'
import type { Problem } from './api.ts'
import type { Edit } from './arrangement.ts'

/**
 * `polling`: updates are disabled in the configuration; snapshots are loaded periodically. `replay`: the state is that of
 * an earlier time, which `now` contains.
 */
export type ConnectionState = 'connecting' | 'open' | 'lost' | 'polling' | 'replay'

export interface EventChange {
  readonly id: number
  readonly event: EventBody | null
}

const maxEventChanges = 1_000

export interface WatchState {
  readonly phase: 'loading' | 'ready' | 'failed'
  readonly problem: Problem | null
  readonly connection: ConnectionState
  readonly nextTryAt: number | null
  /** The session has ended, but the page can still be read without it. */
  readonly hasSessionEnded: boolean
  /** No update since the snapshot was missed. */
  readonly isFresh: boolean
  /** Seconds that a slow line is behind; otherwise 0. */
  readonly behindSeconds: number
  /** As of the latest tick of the page. */
  readonly receivedAt: number | null
  readonly receivers: ReadonlyMap<number, ReceiverInData>
  readonly groups: readonly Group[]
  readonly performers: readonly Performer[]
  /** The performers of packs, with the channels that receive these. */
  readonly assignments: readonly ChannelAssignment[]
  /** By slot: the title, what people entered, and what the slot holds. */
  readonly slotRecords: ReadonlyMap<number, SlotRecord>
  /** Equipment without telemetry, and blank places on the wall. */
  readonly placeholders: readonly PlaceholderInData[]
  /** Alerts that are not cleared, oldest first. */
  readonly alerts: readonly AlertBody[]
  readonly sources: readonly SourceBody[]
  readonly sites: readonly AnnouncedSiteBody[]
  /** Running shows. */
  readonly shows: readonly ShowBody[]
  readonly eventChanges: readonly EventChange[]
  readonly silences: readonly SilenceBody[]
  readonly pending: number
  /** Who listens; null if listening is off or unknown. */
  readonly listeners: SnapshotLists['listeners']
  readonly config: Settings
  readonly health: HealthBody | null
  readonly now: number
}

export function isSignedOut({ connection, problem }: Pick<WatchState, 'connection' | 'problem'>): boolean {
  return connection === 'lost' && problem?.kind === 'sign_in'
}

type SnapshotLists = Extract<LiveMessage, { type: 'snapshot' }>['data']

/** The data of a snapshot. `GET /api/data.json` contains less, so the other lists are optional. */
export type SnapshotData = Pick<
  DataBody,
  'receivers' | 'groups' | 'config' | 'assignments' | 'placeholders' | 'slot_records'
> &
  Partial<
    Pick<SnapshotLists, 'performers' | 'alerts' | 'sources' | 'sites' | 'shows' | 'silences' | 'queue' | 'listeners'>
  >

export type WatchEvent = { readonly at: number } & (
  | { readonly type: 'message'; readonly message: LiveMessage }
  /** The body of `GET /api/data.json`, polled while live updates are disabled, or of a replayed time. */
  | { readonly type: 'polled'; readonly data: SnapshotData }
  | { readonly type: 'failed'; readonly problem: Problem }
  | { readonly type: 'health'; readonly health: HealthBody }
  /** The user's own edit. The messages about it may arrive later. */
  | { readonly type: 'edited'; readonly edit: Edit }
  | { readonly type: 'connection'; readonly connection: ConnectionState; readonly nextTryAt?: number }
  | { readonly type: 'session_ended' }
  | { readonly type: 'delay'; readonly seconds: number }
  | { readonly type: 'received' }
  | { readonly type: 'tick' }
)

export function initialState(now: number): WatchState {
  return {
    phase: 'loading',
    problem: null,
    connection: 'connecting',
    nextTryAt: null,
    hasSessionEnded: false,
    isFresh: false,
    behindSeconds: 0,
    receivedAt: null,
    receivers: new Map(),
    groups: [],
    performers: [],
    assignments: [],
    slotRecords: new Map(),
    placeholders: [],
    alerts: [],
    sources: [],
    sites: [],
    shows: [],
    eventChanges: [],
    silences: [],
    listeners: null,
    pending: 0,
    config: defaultSettings,
    health: null,
    now,
  }
}

/** Applies events in order. They share one copy of the receivers, of which there may be many thousands. */
export function applyAll(watchState: WatchState, events: readonly WatchEvent[]): WatchState {
  const copies: Copies = new WeakSet()
  return events.reduce((state, event) => apply(state, event, copies), watchState)
}

/** Maps that were copied for these events and may therefore be changed. */
type Copies = WeakSet<ReadonlyMap<number, ReceiverInData>>

export function apply(watchState: WatchState, event: WatchEvent, copies: Copies = new WeakSet()): WatchState {
  switch (event.type) {
    case 'message':
      return applyMessage(watchState, event, copies)
    case 'polled':
      return {
        ...applySnapshot(watchState, event.data, event.at),
        isFresh: ['polling', 'replay'].includes(watchState.connection),
      }
    case 'failed': {
      const isSignedOut = event.problem.kind === 'sign_in'
      // Earlier values belong to another time.
      const isReplay = watchState.connection === 'replay'
      return {
        ...watchState,
        problem: event.problem,
        phase: watchState.phase === 'ready' && !isSignedOut && !isReplay ? 'ready' : 'failed',
      }
    }
    case 'health':
      return { ...watchState, health: event.health }
    case 'edited':
      return applyOwnEdit(watchState, event.edit, event.at)
    case 'connection':
      return applyConnection(watchState, event.connection, event.nextTryAt ?? null, event.at)
    case 'session_ended':
      return { ...watchState, hasSessionEnded: true }
    case 'delay':
      return { ...watchState, behindSeconds: event.seconds }
    case 'received':
      return { ...watchState, receivedAt: event.at }
    case 'tick':
      return { ...watchState, now: event.at }
    default:
      return event satisfies never
  }
}

/** Ignores types that are not part of the state. */
function applyMessage(
  watchState: WatchState,
  { message, at }: Extract<WatchEvent, { type: 'message' }>,
  copies: Copies,
): WatchState {
  switch (message.type) {
    case 'snapshot':
      return applySnapshot(watchState, message.data, at)
    case 'resumed':
      return { ...watchState, problem: null, isFresh: true }
    case 'receiver_added':
      return setReceiver(watchState, message.receiver, copies)
    case 'receiver_removed': {
      const receivers = copyOf(watchState.receivers, copies)
      receivers.delete(message.id)
      return { ...watchState, receivers }
    }
    case 'receiver': {
      const { type: _, seq: __, ...fields } = message
      const before = watchState.receivers.get(message.id)
      return before === undefined ? watchState : setReceiver(watchState, { ...before, ...fields }, copies)
    }
    case 'channel':
      return applyChannel(watchState, message, copies)
    case 'channel_removed':
      return updateChannels(watchState, copies, message.receiver_id, (channels) =>
        channels.filter(({ id }) => id !== message.id),
      )
    case 'slots':
      return applySlots(watchState, new Map(message.values.map(([id = 0, slot = 0]) => [id, slot])))
    case 'groups':
      return { ...watchState, groups: message.groups }
    case 'performers':
      return { ...watchState, performers: message.performers }
    case 'assignments':
      return { ...watchState, assignments: message.assignments }
    case 'slot_records': {
      const slotRecords = new Map(watchState.slotRecords)
      for (const slot of message.removed) slotRecords.delete(slot)
      for (const record of message.slots) slotRecords.set(record.slot, record)
      return { ...watchState, slotRecords }
    }
    case 'placeholders':
      return { ...watchState, placeholders: message.placeholders }
    case 'silences':
      return { ...watchState, silences: message.silences }
    case 'alert': {
      const { type: _, seq: __, ...alert } = message
      return { ...watchState, alerts: withAlert(watchState.alerts, alert) }
    }
    case 'source': {
      const { type: _, seq: __, ...source } = message
      return { ...watchState, sources: withSource(watchState.sources, source) }
    }
    case 'site': {
      const { type: _, seq: __, ...site } = message
      return { ...watchState, sites: [...watchState.sites.filter(({ code }) => code !== site.code), site] }
    }
    case 'site_removed':
      return { ...watchState, sites: watchState.sites.filter(({ code }) => code !== message.code) }
    case 'show':
      return { ...watchState, shows: withShow(watchState.shows, message.show) }
    case 'event':
    case 'event_changed':
      return withEventChange(watchState, { id: message.event.id, event: message.event })
    case 'event_deleted':
      return withEventChange(watchState, { id: message.id, event: null })
    case 'listeners':
      return { ...watchState, listeners: message.listeners }
    case 'queue':
      return { ...watchState, pending: message.pending }
    case 'settings':
      return message.manufacturer === null && message.group === null
        ? { ...watchState, config: { ...watchState.config, ...message.config } }
        : watchState
    default:
      return watchState
  }
}

function applySnapshot(watchState: WatchState, data: SnapshotData, at: number): WatchState {
  const { receivers, groups, config, assignments, placeholders, slot_records, queue, ...lists } = data
  return {
    ...watchState,
    phase: 'ready',
    problem: null,
    receivers: new Map(receivers.map((receiver) => [receiver.id, receiver])),
    // Equal groups stay the same object, so that the page is not rendered again.
    groups: isSameJson(watchState.groups, groups) ? watchState.groups : groups,
    assignments,
    placeholders,
    slotRecords: new Map(slot_records.map((record) => [record.slot, record])),
    performers: lists.performers ?? watchState.performers,
    alerts: lists.alerts ?? watchState.alerts,
    sources: lists.sources ?? watchState.sources,
    sites: lists.sites ?? watchState.sites,
    shows: lists.shows ?? watchState.shows,
    silences: lists.silences ?? watchState.silences,
    pending: queue?.pending ?? watchState.pending,
    listeners: lists.listeners === undefined ? watchState.listeners : lists.listeners,
    config,
    isFresh: true,
    receivedAt: at,
    now: at,
  }
}

function setReceiver(watchState: WatchState, receiver: ReceiverInData, copies: Copies): WatchState {
  return { ...watchState, receivers: copyOf(watchState.receivers, copies).set(receiver.id, receiver) }
}

function copyOf(receivers: WatchState['receivers'], copies: Copies): Map<number, ReceiverInData> {
  if (copies.has(receivers)) return receivers as Map<number, ReceiverInData>
  const copy = new Map(receivers)
  copies.add(copy)
  return copy
}

function updateChannels(
  watchState: WatchState,
  copies: Copies,
  receiverId: number,
  update: (channels: readonly ChannelBody[]) => ChannelBody[],
): WatchState {
  const receiver = watchState.receivers.get(receiverId)
  return receiver === undefined
    ? watchState
    : setReceiver(watchState, { ...receiver, channels: update(receiver.channels) }, copies)
}

function applyChannel(
  watchState: WatchState,
  { type: _, seq: __, receiver_id, details, last_transmitter, ...fields }: Extract<LiveMessage, { type: 'channel' }>,
  copies: Copies,
): WatchState {
  const known = watchState.receivers.get(receiver_id)?.channels.find(({ id }) => id === fields.id)
  const {
    details: detailsBefore,
    last_transmitter: lastBefore,
    ...before
  } = known ?? { ...unknownChannel, id: fields.id }
  const after = withChangedDetails(detailsBefore, details)
  const last = last_transmitter === undefined ? lastBefore : (last_transmitter ?? undefined)
  const channel: ChannelBody = {
    ...before,
    ...fields,
    ...(after !== undefined && { details: after }),
    ...(last !== undefined && { last_transmitter: last }),
  }
  return updateChannels(watchState, copies, receiver_id, (channels) =>
    known === undefined
      ? [...channels, channel].sort((a, b) => a.channel - b.channel)
      : channels.map((other) => (other === known ? channel : other)),
  )
}

/** The message of a new channel is complete, so none of these values remains. */
const unknownChannel: Omit<ChannelBody, 'id'> = {
  ...{ channel: 0, slot: 0, name: null, frequency: null, audio_level: null, rf_level: null, transmitter: null },
  condition: { state: 'ok', severity: 'ok', attention: false, since: '', since_known: false, flags: [] },
  not_now: null,
}

function applySlots(watchState: WatchState, slots: ReadonlyMap<number, number>): WatchState {
  const receivers = [...watchState.receivers].map(([id, receiver]): [number, ReceiverInData] => {
    if (!receiver.channels.some((channel) => slots.has(channel.id))) return [id, receiver]
    const channels = receiver.channels.map((channel) => {
      const slot = slots.get(channel.id)
      if (slot === undefined) return channel
      return { ...channel, slot, transmitter: channel.transmitter && { ...channel.transmitter, slot } }
    })
    return [id, { ...receiver, channels }]
  })
  return { ...watchState, receivers: new Map(receivers) }
}

function applyOwnEdit(watchState: WatchState, edit: Edit, at: number): WatchState {
  const { groups, placeholders } = watchState
  switch (edit.type) {
    case 'move': {
      const slotsOf = (kind: 'channel' | 'placeholder') =>
        new Map(edit.moves.filter((move) => move.kind === kind).map(({ id, to }) => [id, to]))
      const slots = slotsOf('placeholder')
      const moved = placeholders
        .filter(({ id }) => !edit.merged?.includes(id))
        .map((item) => ({ ...item, slot: slots.get(item.id) ?? item.slot }))
      return { ...applySlots(watchState, slotsOf('channel')), placeholders: moved }
    }
    case 'add_placeholder':
    case 'change_placeholder': {
      const placeholder = edit.type === 'add_placeholder' ? edit.placeholder : edit.after
      const stored = toPlaceholderInData({ ...placeholder, created_at: at })
      return { ...watchState, placeholders: withRecord(placeholders, stored) }
    }
    case 'delete_placeholder':
      return { ...watchState, placeholders: placeholders.filter(({ id }) => id !== edit.placeholder.id) }
    case 'change_group':
      return { ...watchState, groups: withRecord(groups, edit.after) }
    case 'create_group':
      return { ...watchState, groups: withRecord(groups, edit.group) }
    case 'delete_group':
      return { ...watchState, groups: groups.filter(({ id }) => id !== edit.group.id) }
    default:
      return edit satisfies never
  }
}

function withRecord<Record extends { readonly id: number }>(records: readonly Record[], record: Record) {
  if (!records.some(({ id }) => id === record.id)) return [...records, record]
  return records.map((other) => (other.id === record.id ? record : other))
}

function withAlert(alerts: readonly AlertBody[], alert: AlertBody): readonly AlertBody[] {
  if (alert.cleared_at !== null) return alerts.filter(({ id }) => id !== alert.id)
  if (!alerts.some(({ id }) => id === alert.id)) return [...alerts, alert]
  return alerts.map((other) => (other.id === alert.id ? alert : other))
}

function withSource(sources: readonly SourceBody[], source: SourceBody): readonly SourceBody[] {
  const isSource = ({ code, address }: SourceBody) => code === source.code && address === source.address
  if (source.status === null) return sources.filter((other) => !isSource(other))
  if (!sources.some(isSource)) return [...sources, source]
  return sources.map((other) => (isSource(other) ? source : other))
}

function withShow(shows: readonly ShowBody[], { state, ...show }: AnnouncedShow): readonly ShowBody[] {
  if (state !== 'running') return shows.filter(({ id }) => id !== show.id)
  const running: ShowBody = { ...show, state }
  if (!shows.some(({ id }) => id === show.id)) return [...shows, running]
  return shows.map((other) => (other.id === show.id ? running : other))
}

function withEventChange(watchState: WatchState, change: EventChange): WatchState {
  return { ...watchState, eventChanges: [...watchState.eventChanges.slice(1 - maxEventChanges), change] }
}

function isSameJson(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}

function applyConnection(
  watchState: WatchState,
  connection: ConnectionState,
  nextTryAt: number | null,
  at: number,
): WatchState {
  // A new connection does not make the state fresh; its first message does. `now` is updated too, so that ages are
  // correct before the next tick.
  const isFresh = connection === 'polling' && watchState.connection === 'polling' && watchState.isFresh
  return { ...watchState, now: at, connection, nextTryAt, isFresh }
}
