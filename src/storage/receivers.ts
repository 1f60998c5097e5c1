/** Receivers and their channels, with their last readings. */

import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Fault } from '../contract/faults.ts'
import type { ReceiverDetails } from '../contract/receivers.ts'
import { type Channel, emptyChannel, type Receiver, type ReceiverOrigin } from '../domain/equipment/receiver.ts'
import { groupBy } from '../domain/group-by.ts'
import { parseNetworkMode } from '../domain/identity/network.ts'
import { macKey, serialKey } from '../domain/identity/reconcile.ts'
import type { Reader, Tx } from './database.ts'
import { addReadingCounters } from './revision.ts'
import { executeForRows, inChangedChunks, inChunks, type Row } from './rows.ts'
import type { ReceiverRow } from './schema/equipment.ts'
import type { ReceiverSourceRow } from './schema/monitoring.ts'
import { keepSlotEntries, renewReusedSlots } from './slot-entries.ts'
import { nextSlots } from './slots.ts'

/** The readings of a channel, without its identity; with its condition only if another installation evaluates it. */
type Reading = Omit<Channel, 'id' | 'channel' | 'slot' | 'profile' | 'not_now' | 'condition' | 'last_transmitter'> &
  Partial<Pick<Channel, 'condition' | 'last_transmitter'>>
type Readings = Readonly<Record<number, Reading>>

/** Selects receivers of a manufacturer whose readings changed after a value of its counter of readings. */
export interface ReadingsSince {
  readonly manufacturer: string
  readonly readings: number
}

export async function listReceivers(reader: Reader, since: number | ReadingsSince = -1): Promise<Receiver[]> {
  const isChanged =
    typeof since === 'number'
      ? sql<boolean>`revision > ${since}`
      : sql<boolean>`manufacturer = ${since.manufacturer} and reading_revision > ${since.readings}`
  return inChangedChunks(reader, 'receivers', isChanged, async (ids) => {
    const rows = await reader.selectFrom('receivers').selectAll().where('id', 'in', ids).orderBy('id').execute()
    const channels = await channelsOf(reader, ids)
    return rows.map((row) => toReceiver(row, channels.get(row.id) ?? []))
  })
}

/**
 * Inserts receivers with their channels and readings. Returns them in the same order, with the ids and the slots that
 * are assigned here, and their channels in the order of their numbers.
 */
export async function insertReceivers(tx: Tx, revision: number, receivers: readonly Receiver[]): Promise<Receiver[]> {
  const inserted: Receiver[] = []
  // The readings of receivers of other installations are never stored alone.
  const local = receivers.filter(({ origin }) => origin === undefined)
  await addReadingCounters(
    tx,
    local.map(({ manufacturer }) => manufacturer),
  )
  let used = 0
  const slots = await nextSlots(
    tx,
    receivers.reduce((sum, { channels }) => sum + channels.length, 0),
  )
  await inChunks(receivers, async (chunk) => {
    const rows = chunk.map(({ id: _, ...receiver }) => toRow(receiver, revision))
    const stored = await executeForRows(
      tx,
      rowColumns,
      rows,
      (input) => sql<{ id: number }>`
        insert into receivers (${names(rowColumns)}) select * from ${input} where true returning id`,
    )
    // Ids increase in the order of the rows, but the order of the returned rows is not guaranteed.
    const ids = stored.map(({ id }) => id).sort((a, b) => a - b)
    const channelsToInsert = chunk.flatMap(({ channels }, index) => {
      const numbers = channels.map(({ channel }) => channel).sort((a, b) => a - b)
      return numbers.map((channel) => ({ receiver_id: ids[index] ?? 0, channel, slot: slots[used++] ?? 0 }))
    })
    const storedChannels = groupBy(await insertChannels(tx, channelsToInsert), receiverOf)
    for (const [index, receiver] of chunk.entries()) {
      const id = ids[index] ?? 0
      const channels = (storedChannels.get(id) ?? []).flatMap((row) => {
        const channel = receiver.channels.find((candidate) => candidate.channel === row.channel)
        return channel === undefined ? [] : [{ ...channel, id: row.id, slot: row.slot }]
      })
      inserted.push({ ...receiver, id, channels })
    }
  })
  return inserted
}

export async function addChannels(
  tx: Tx,
  revision: number,
  receiver: Receiver,
  numbers: readonly number[],
): Promise<Receiver> {
  const slots = await nextSlots(tx, numbers.length)
  const sorted = [...numbers].sort((a, b) => a - b)
  const stored = await insertChannels(
    tx,
    sorted.map((channel, index) => ({ receiver_id: receiver.id, channel, slot: slots[index] ?? 0 })),
  )
  await tx.query.updateTable('receivers').set({ revision }).where('id', '=', receiver.id).execute()
  const added = stored.map((row) => emptyChannel(row.id, row.channel, row.slot))
  return { ...receiver, channels: [...receiver.channels, ...added].sort((a, b) => a.channel - b.channel) }
}

export async function saveReceivers(tx: Tx, revision: number, receivers: readonly Receiver[]): Promise<void> {
  await updateRows(tx, rowColumns, receivers, (receiver) => toRow(receiver, revision))
}

export async function saveReceiverVersion(tx: Tx, id: number, version: number): Promise<void> {
  await tx.query.updateTable('receivers').set({ version }).where('id', '=', id).execute()
}

/** The column that contains the value of the counter that the transaction has incremented. */
export type RevisionColumn = 'revision' | 'reading_revision'

/** Writes few columns, and updates only the index on `column`. */
export async function saveReadings(
  tx: Tx,
  revision: number,
  receivers: readonly Receiver[],
  column: RevisionColumn = 'revision',
): Promise<void> {
  const { last_seen, readings } = rowColumns
  await updateRows<Receiver, string>(tx, { last_seen, readings, [column]: 'bigint' }, receivers, (receiver) => ({
    last_seen: receiver.last_seen,
    readings: JSON.stringify(toReadings(receiver.channels)),
    [column]: revision,
  }))
}

export interface LastSeen {
  readonly id: number
  readonly last_seen: Receiver['last_seen']
}

export async function saveLastSeen(
  tx: Tx,
  revision: number,
  receivers: readonly LastSeen[],
  column: RevisionColumn = 'revision',
): Promise<void> {
  const { last_seen } = rowColumns
  const columns = { last_seen, [column]: 'bigint' } as const
  await updateRows<LastSeen, string>(tx, columns, receivers, (receiver) => ({
    last_seen: receiver.last_seen,
    [column]: revision,
  }))
}

async function updateRows<Item extends { readonly id: number }, Name extends string>(
  tx: Tx,
  columns: Readonly<Record<Name, 'bigint' | 'text'>>,
  receivers: readonly Item[],
  rowOf: (receiver: Item) => Row<NoInfer<Name>>,
): Promise<void> {
  const assignments = Object.keys(columns).map((name) => sql`${sql.ref(name)} = ${sql.ref(`input.${name}`)}`)
  await inChunks(receivers, async (chunk) => {
    const rows = chunk.map((receiver) => ({ id: receiver.id, ...rowOf(receiver) }))
    await executeForRows<unknown, string>(
      tx,
      { ...columns, id: 'bigint' },
      rows,
      (input) => sql`update receivers set ${sql.join(assignments)} from ${input} where receivers.id = input.id`,
    )
  })
}

/** Its queue entries and what was entered about its slots stay. The removal is recorded for the other processes. */
export async function removeReceiver(tx: Tx, revision: number, id: number): Promise<void> {
  await tx.query
    .updateTable('discovery_queue')
    .set({ existing_device: null, revision })
    .where('existing_device', '=', id)
    .execute()
  const channels = await tx.query.selectFrom('channels').select('id').where('receiver_id', '=', id).execute()
  await keepSlotEntries(
    tx,
    channels.map((channel) => channel.id),
  )
  await tx.query.deleteFrom('receivers').where('id', '=', id).execute()
  await tx.query.insertInto('removals').values({ receiver_id: id, revision }).execute()
}

export async function removeFollowed(tx: Tx, revision: number, record: string): Promise<void> {
  const rows = await tx.query
    .selectFrom('receivers')
    .select('id')
    .where('manufacturer', '=', record)
    .where('origin', 'is not', null)
    .execute()
  for (const { id } of rows) await removeReceiver(tx, revision, id)
}

export async function listRemovals(reader: Reader, sinceRevision: number): Promise<number[]> {
  const rows = await reader.selectFrom('removals').select('receiver_id').where('revision', '>', sinceRevision).execute()
  return rows.map(({ receiver_id }) => receiver_id)
}

interface StoredChannel {
  readonly id: number
  readonly receiver_id: number
  readonly channel: number
  readonly slot: number
  readonly profile: string | null
  readonly not_now: string | null
}

const receiverOf = ({ receiver_id }: StoredChannel) => receiver_id

type NewChannel = Omit<StoredChannel, 'id' | 'profile' | 'not_now'>

async function channelsOf(reader: Reader, receiverIds: readonly number[]) {
  const rows = await reader
    .selectFrom('channels')
    .selectAll()
    .where('receiver_id', 'in', receiverIds)
    .orderBy('receiver_id')
    .orderBy('channel')
    .execute()
  return groupBy(rows, receiverOf)
}

async function insertChannels(tx: Tx, channelsToInsert: readonly NewChannel[]): Promise<StoredChannel[]> {
  const rows = await executeForRows(
    tx,
    { receiver_id: 'bigint', channel: 'bigint', slot: 'bigint' },
    channelsToInsert as readonly Row<'receiver_id' | 'channel' | 'slot'>[],
    (input) => sql<StoredChannel>`
      insert into channels (receiver_id, channel, slot) select receiver_id, channel, slot from ${input} where true
      returning id, receiver_id, channel, slot, profile, not_now`,
  )
  await renewReusedSlots(tx, rows)
  return rows.sort((a, b) => a.receiver_id - b.receiver_id || a.channel - b.channel)
}

type StoredReceiver = Selectable<ReceiverRow>

/** The columns that `toRow` leaves out. */
type UnwrittenColumn = 'id' | 'reading_revision' | 'version'

const rowColumns = {
  manufacturer: 'text',
  api_device_id: 'text',
  name: 'text',
  device_type: 'text',
  model: 'text',
  serial_number: 'text',
  serial_key: 'text',
  mac_address: 'text',
  mac_key: 'text',
  ip: 'text',
  subnet_mask: 'text',
  gateway: 'text',
  network_mode: 'text',
  interface_id: 'text',
  description: 'text',
  firmware_version: 'text',
  hosted_firmware_version: 'text',
  is_active: 'bigint',
  last_seen: 'bigint',
  location_id: 'bigint',
  is_named_by_hand: 'bigint',
  is_spare: 'bigint',
  readings: 'text',
  fault: 'text',
  details: 'text',
  origin: 'text',
  revision: 'bigint',
} as const satisfies Record<keyof Omit<ReceiverRow, UnwrittenColumn>, 'bigint' | 'text'>

function names(columns: Readonly<Record<string, unknown>>): RawBuilder<unknown> {
  return sql.join(Object.keys(columns).map((name) => sql.ref(name)))
}

function toRow(receiver: Omit<Receiver, 'id'>, revision: number): Omit<ReceiverRow, UnwrittenColumn> {
  const {
    channels,
    is_active,
    is_named_by_hand,
    spare = false,
    location,
    origin,
    manufacturer,
    details = {},
    version: _,
    ...fields
  } = receiver
  const { fault, ...otherDetails } = details
  return {
    manufacturer: origin?.record ?? manufacturer,
    serial_key: serialKey(receiver.serial_number),
    mac_key: macKey(receiver.mac_address),
    is_active: is_active ? 1 : 0,
    is_named_by_hand: is_named_by_hand ? 1 : 0,
    is_spare: spare ? 1 : 0,
    location_id: location,
    readings: JSON.stringify(toReadings(channels)),
    fault: fault ?? null,
    details: Object.keys(otherDetails).length === 0 ? null : JSON.stringify(otherDetails),
    origin: origin === undefined ? null : toStoredOrigin(manufacturer, origin),
    revision,
    ...fields,
  }
}

type StoredOrigin = Pick<Receiver, 'manufacturer'> & Omit<ReceiverOrigin, 'record'>

function toStoredOrigin(manufacturer: string, { site, id }: ReceiverOrigin): string {
  return JSON.stringify({ manufacturer, site, id } satisfies StoredOrigin)
}

function readOrigin(record: string, origin: string | null): Pick<Receiver, 'manufacturer' | 'origin'> {
  if (origin === null) return { manufacturer: record }
  const { manufacturer, site, id } = JSON.parse(origin) as StoredOrigin
  return { manufacturer, origin: { record, site, id } }
}

function toReadings(channels: readonly Channel[]): Readings {
  const readings: Record<number, Reading> = {}
  for (const { id: _, slot: __, profile: ___, not_now: ____, condition, last_transmitter, ...channel } of channels) {
    const { channel: number, ...reading } = channel
    // The conditions of channels of this installation are stored by the process that evaluates them.
    readings[number] = channel.origin === undefined ? reading : { ...reading, condition, last_transmitter }
  }
  return readings
}

function toReceiver(row: StoredReceiver, channels: readonly StoredChannel[]): Receiver {
  const { serial_key: _, mac_key: __, revision: ___, reading_revision: ____, readings: json, is_active, ...named } = row
  const { is_named_by_hand, is_spare, location_id, network_mode, fault, details, origin, version, ...fields } = named
  const readings = JSON.parse(json) as Readings
  return {
    network_mode: parseNetworkMode(network_mode),
    is_active: is_active === 1,
    is_named_by_hand: is_named_by_hand === 1,
    ...(is_spare === 1 && { spare: true }),
    location: location_id,
    ...fields,
    ...((fault !== null || details !== null) && { details: toDetails(fault, details) }),
    ...(version !== null && { version }),
    ...readOrigin(fields.manufacturer, origin),
    channels: channels.map(({ id, channel, slot, profile, not_now }) =>
      Object.assign(
        emptyChannel(id, channel, slot),
        readings[channel],
        profile != null && { profile },
        not_now != null && { not_now: JSON.parse(not_now) },
      ),
    ),
  }
}

function toDetails(fault: string | null, others: string | null): ReceiverDetails {
  return { ...(fault !== null && { fault: fault as Fault }), ...(others !== null && JSON.parse(others)) }
}

export function listReceiverSources(reader: Reader): Promise<ReceiverSourceRow[]> {
  return reader.selectFrom('receiver_sources').selectAll().execute()
}

/** Adds rows. Those of removed receivers are skipped. */
export async function addReceiverSources(tx: Tx, rows: readonly ReceiverSourceRow[]): Promise<void> {
  await executeForRows(
    tx,
    { receiver_id: 'bigint', source: 'text' },
    rows,
    (input) => sql`
      insert into receiver_sources (receiver_id, source)
      select input.receiver_id, input.source from ${input} inner join receivers on receivers.id = input.receiver_id
      where true on conflict do nothing`,
  )
}
