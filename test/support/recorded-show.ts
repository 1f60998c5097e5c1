/** A show of the past, with recorded levels, events, alerts and states of its channels. */

import type { Alert } from '../../src/domain/alerts/alert.ts'
import { noData } from '../../src/domain/alerts/alert.ts'
import { draftEvent, type EventDraft, endEvent } from '../../src/domain/events/event.ts'
import type { ChannelState } from '../../src/domain/history/channel-state.ts'
import {
  type ColumnName,
  columnNames,
  noValue,
  type RecordedSeconds,
  stateLetters,
} from '../../src/domain/history/columns.ts'
import type { Show } from '../../src/domain/shows.ts'
import { acknowledgeAlert, clearAlert, raiseAlert, snoozeAlert } from '../../src/storage/alerts.ts'
import { saveChannelStates } from '../../src/storage/channel-states.ts'
import type { Tx } from '../../src/storage/database.ts'
import { insertEvents } from '../../src/storage/events.ts'
import { nextRevision } from '../../src/storage/revision.ts'
import { insertShow } from '../../src/storage/shows.ts'
import { type TestApp, until } from './app.ts'
import { withDatabase } from './store/databases.ts'
import { tokenHeaders } from './tokens.ts'

type Second = Readonly<Record<'rf_min' | 'battery', number>> & { readonly letter: string }

/** Returns seconds of channels; `at` describes the second `index` of a channel. */
export function buildSeconds(
  channelIds: readonly number[],
  from: number,
  count: number,
  at: (channelId: number, index: number) => Second,
): RecordedSeconds {
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(count * channelIds.length).fill(noValue)]),
  ) as Record<ColumnName, Int16Array>
  for (const [channel, id] of channelIds.entries()) {
    for (let index = 0; index < count; index++) {
      const { letter, rf_min, battery } = at(id, index)
      const position = channel * count + index
      columns.state[position] = (stateLetters as readonly string[]).indexOf(letter)
      columns.rows[position] = 0
      columns.rf_min[position] = rf_min
      columns.rf_max[position] = rf_min
      columns.battery[position] = battery
      columns.weak_ms[position] = 0
    }
  }
  return { from, count, channelIds, columns }
}

const change = <T>(app: TestApp, work: (tx: Tx) => Promise<T>): Promise<T> =>
  withDatabase(app, (db) => db.transaction(work))

export async function addShow(app: TestApp, fields: Partial<Show>): Promise<Show> {
  const show = await change(app, async (tx) => {
    await nextRevision(tx, 'shows')
    return insertShow(tx, {
      ...{ title: 'Cabaret', starts_at: null, ends_at: null, group_ids: [], notes: '' },
      ...{ started_at: null, ended_at: null, channel_ids: null },
      ...fields,
    })
  })
  const listed = async () => (await app.get(`/api/shows/${show.id}/`, await tokenHeaders(app, 'viewer'))).status === 200
  await until('the show is listed', listed)
  return show
}

/** Stores an event. `until` makes it a range. */
export async function addEvent(
  app: TestApp,
  kind: EventDraft['kind'],
  channelId: number | null,
  fields: Partial<EventDraft> & { readonly time: number },
): Promise<void> {
  const { until = null, ...rest } = fields
  const draft = draftEvent(kind, { channel_id: channelId, receiver_id: null, manufacturer: null }, rest)
  const event = until === null ? draft : endEvent(draft, until)
  await change(app, (tx) => insertEvents(tx, [event]))
}

export async function addAlert(
  app: TestApp,
  fields: Pick<Alert, 'kind' | 'channel_id' | 'receiver_id' | 'raised_at'> & Partial<Alert>,
): Promise<number> {
  const { raised_at, acknowledged_at = null, snoozed_until: until = null, cleared_at = null, ...cause } = fields
  const alert = await change(app, async (tx) => {
    const revision = await nextRevision(tx, 'alerts')
    const raised = await raiseAlert(
      tx,
      revision,
      {
        ...{ subject: `test:${Math.random()}`, severity: 'warning', message: 'Test', manufacturer: null, data: noData },
        ...cause,
      },
      raised_at,
    )
    if (raised === null) throw new Error('The alert was not raised.')
    const { id } = raised
    if (acknowledged_at !== null)
      await acknowledgeAlert(tx, revision, raised, { by: 'Kim', at: acknowledged_at, note: null })
    if (until !== null) await snoozeAlert(tx, revision, id, { by: 'Kim', at: raised_at, until })
    if (cleared_at !== null) await clearAlert(tx, revision, id, { message: 'Test', at: cleared_at })
    return id
  })
  return alert
}

export async function addState(
  app: TestApp,
  channelId: number,
  time: number,
  { pack, performer, ...fields }: Partial<ChannelState> & { readonly pack: string | null; readonly performer?: string },
): Promise<void> {
  const condition = { state: 'ok', severity: 'ok', attention: false, since: time } as const
  const state: ChannelState = {
    ...{ name: 'Vox', frequency: '610.000', condition, last_transmitter: null },
    transmitter: pack === null ? null : { upstream_slot: null, name: pack, battery: 80, frequency: null },
    assignment: performer === undefined ? null : { wireless_unit: 1, performer: { id: 1, name: performer } },
    ...fields,
  }
  await change(app, (tx) => saveChannelStates(tx, [{ channel_id: channelId, time, state }]))
}
