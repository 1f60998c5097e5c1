/** Builds the body of `GET /api/data.json`, and the snapshots and filtered lists of the live interface. */

import type { Alerts } from '../alerts/alerts.ts'
import type { AlertBody } from '../contract/alerts.ts'
import type { Group } from '../contract/groups.ts'
import type { LiveChange } from '../contract/live-messages.ts'
import type { ChannelAssignment } from '../contract/performers.ts'
import type { PlaceholderInData } from '../contract/placeholders.ts'
import type { SlotRecord } from '../contract/slots.ts'
import { toAlertBody } from '../domain/alerts/alert.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import { toChannelBody, toReceiverWithoutChannels } from '../domain/equipment/receiver-body.ts'
import { includesSite } from '../domain/equipment/sites.ts'
import { RequestError } from '../domain/errors.ts'
import {
  findMembers,
  type GroupMembers,
  includesAssignment,
  includesSubject,
  type ListType,
  type LiveFilter,
  selectReceivers,
  settingScopeOf,
} from '../domain/live/filter.ts'
import { toShowBody } from '../domain/shows.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import { now } from '../platform/clock.ts'
import { type LiveLists, totalOf } from './live-lists.ts'
import { type Chunker, createChunker, type ResponseChunk, toChunk } from './response-chunks.ts'

type SlotRecordsMessage = Pick<Extract<LiveChange, { type: 'slot_records' }>, 'slots' | 'removed'>

export class LiveData {
  readonly #lists: LiveLists
  readonly #receiverStore: ReceiverStore
  readonly #alerts: Alerts
  readonly #chunkers = new Map<string, Chunker<Receiver>>()

  constructor(lists: LiveLists, receiverStore: ReceiverStore, alerts: Alerts) {
    this.#lists = lists
    this.#receiverStore = receiverStore
    this.#alerts = alerts
  }

  requireGroup(id: number | undefined): void {
    if (id === undefined || this.#lists.groups().some((group) => group.id === id)) return
    throw new RequestError('bad_request', { details: `group: there is no group ${id}` })
  }

  /** Null if the filter has no group. */
  members(filter: LiveFilter): GroupMembers | null {
    if (filter.group === undefined) return null
    const group = this.#lists.groups().find((candidate) => candidate.id === filter.group)
    return findMembers(group, this.#receiverStore.listAllFacts(filter), this.#placeholdersOf(filter))
  }

  dataJson(filter: LiveFilter): readonly ResponseChunk[] {
    return [...this.#receiversJson(filter), toChunk(`],${JSON.stringify(this.#listsOf(filter)).slice(1)}`)]
  }

  /** The field `data` of a snapshot. */
  snapshotJson(filter: LiveFilter): string {
    const members = this.members(filter)
    const more = {
      ...this.#listsOf(filter),
      alerts: this.alerts(filter),
      shows: this.#lists.runningShows().map(toShowBody),
      sources: this.#lists
        .sources()
        .filter(({ code: manufacturer }) => includesSubject({ manufacturer }, filter, members)),
      sites: this.#lists.sites(),
      performers: this.#lists.performers(),
      silences: this.#lists.silences(),
      queue: this.list('queue', filter),
      listeners: this.#lists.listeners(),
    }
    const receivers = this.#receiversJson(filter).map(({ bytes }) => bytes)
    return `${Buffer.concat(receivers)}],${JSON.stringify(more).slice(1)}`
  }

  /** Returns the fields of a message that contains a whole list. */
  list(type: ListType, filter: LiveFilter): object {
    switch (type) {
      case 'groups':
        return { groups: this.#groups(filter) }
      case 'placeholders':
        return { placeholders: this.placeholders(filter) }
      case 'assignments':
        return { assignments: this.#assignments(filter) }
      case 'discovered':
        return { discovered: this.#discovered(filter) }
      case 'queue':
        return { pending: this.pending(filter) }
      default:
        return type satisfies never
    }
  }

  /** Open alerts, newest first. */
  alerts(filter: LiveFilter): readonly AlertBody[] {
    const alerts = this.#alerts
    const members = this.members(filter)
    return [...alerts.list()]
      .sort((a, b) => b.raised_at - a.raised_at || b.id - a.id)
      .filter(({ manufacturer, site, receiver_id: receiverId, channel_id: channelId }) =>
        includesSubject({ manufacturer, site: site?.code ?? null, receiverId, channelId }, filter, members),
      )
      .map((alert) => toAlertBody(alert, { now: now(), ...alerts.context.marksOf(alert) }))
  }

  pending({ manufacturer }: LiveFilter): number {
    const pending = this.#receiverStore.pendingEntries()
    return manufacturer === undefined ? totalOf(pending) : (pending.get(manufacturer) ?? 0)
  }

  placeholders(filter: LiveFilter): readonly PlaceholderInData[] {
    const members = this.members(filter)
    return this.#placeholdersOf(filter).filter(({ id }) => members === null || members.placeholders.has(id))
  }

  /** Placeholders belong to no manufacturer, so a filter by manufacturer includes none. */
  #placeholdersOf({ manufacturer, site }: LiveFilter): readonly PlaceholderInData[] {
    return manufacturer === undefined && includesSite({ site }, null) ? this.#lists.placeholders() : []
  }

  #listsOf(filter: LiveFilter) {
    return {
      discovered: this.#discovered(filter),
      config: this.#lists.settingsIn(settingScopeOf(filter)),
      groups: this.#groups(filter),
      assignments: this.#assignments(filter),
      placeholders: this.placeholders(filter),
      slot_records: this.#slotRecords(filter),
    }
  }

  /** Returns the part of a message that the filter includes; null if it is empty. */
  narrowSlotRecords({ slots, removed }: SlotRecordsMessage, filter: LiveFilter): SlotRecordsMessage | null {
    const inGroup = this.#slotsOf(filter)
    const isInGroup = (slot: number) => inGroup === null || inGroup.has(slot)
    const { slotRecords } = this.#lists
    const known = slots.filter(({ slot }) => isInGroup(slot))
    const [included, excluded] = [true, false].map((isIncluded) =>
      known.filter(({ slot }) => slotRecords.isIncluded(slot, filter) === isIncluded),
    ) as [SlotRecord[], SlotRecord[]]
    const gone = [...removed.filter(isInGroup), ...excluded.map(({ slot }) => slot)]
    return included.length + gone.length === 0 ? null : { slots: included, removed: gone }
  }

  #slotRecords(filter: LiveFilter): SlotRecord[] {
    const slots = this.#slotsOf(filter)
    return this.#lists.slotRecords.list(filter).filter(({ slot }) => slots === null || slots.has(slot))
  }

  /** The slots of the group of a filter; null without a group. */
  #slotsOf({ group }: LiveFilter): ReadonlySet<number> | null {
    if (group === undefined) return null
    return new Set(this.#lists.groups().find(({ id }) => id === group)?.slots)
  }

  #groups({ manufacturer, group }: LiveFilter): readonly Group[] {
    const groups = this.#lists.groups(manufacturer)
    return group === undefined ? groups : groups.filter(({ id }) => id === group)
  }

  #assignments(filter: LiveFilter): readonly ChannelAssignment[] {
    const { manufacturer, site, group } = filter
    const assignments = this.#lists.assignments()
    if (group !== undefined) {
      const channels = this.members(filter)?.channels ?? null
      return assignments.filter((assignment) => includesAssignment(assignment, channels))
    }
    if (manufacturer === undefined && site === undefined) return assignments
    const channels = new Set(
      this.#receiverStore
        .listAllFacts({ manufacturer, site })
        .flatMap((receiver) => receiver.channels.map(({ id }) => id)),
    )
    return assignments.filter((assignment) => includesAssignment(assignment, channels))
  }

  #discovered({ manufacturer, site, group }: LiveFilter) {
    if (group !== undefined || !includesSite({ site }, null)) return []
    return this.#lists.discovered(manufacturer)
  }

  /** The start of the body, up to the last receiver. */
  #receiversJson(filter: LiveFilter): readonly ResponseChunk[] {
    const { manufacturer, site } = filter
    const members = this.members(filter)
    if (members !== null) {
      const receivers = [...members.receivers].flatMap((id) => this.#receiverStore.get(id) ?? [])
      return [toChunk(`{"receivers":[${selectReceivers(receivers, members).map(receiverJson).join(',')}`)]
    }
    const receivers = this.#receiverStore.listAll({ manufacturer, site })
    const key = JSON.stringify([manufacturer, site])
    const chunker = this.#chunkers.get(key) ?? createChunker(receiverJson)
    if (receivers.length > 0) this.#chunkers.set(key, chunker)
    return [toChunk('{"receivers":['), ...chunker.cut(receivers)]
  }
}

/** Receivers are immutable. */
const serialised = new WeakMap<Receiver, string>()
/** A replaced receiver often keeps its list of channels. */
const serialisedChannels = new WeakMap<Receiver['channels'], string>()

function receiverJson(receiver: Receiver): string {
  let json = serialised.get(receiver)
  if (json === undefined) {
    json = `${JSON.stringify(toReceiverWithoutChannels(receiver)).slice(0, -1)},"channels":${channelsJson(receiver.channels)}}`
    serialised.set(receiver, json)
  }
  return json
}

function channelsJson(channels: Receiver['channels']): string {
  let json = serialisedChannels.get(channels)
  if (json === undefined) {
    json = JSON.stringify(channels.map(toChannelBody))
    serialisedChannels.set(channels, json)
  }
  return json
}
