import { CompiledQuery, createQueryId, type KyselyPlugin, type RootOperationNode, SqliteQueryCompiler } from 'kysely'
import { describe, expect, test } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { aboutAll, draftEvent, type EventDraft, endEvent } from '../domain/events/event.ts'
import {
  closeEvent,
  deleteEvent,
  type EventFilter,
  findEvent,
  hasEventOfChannel,
  insertEvents,
  listEvents,
  listEventsSince,
  listMarkers,
  listOpenEvents,
  pruneEvents,
} from './events.ts'
import { currentRevision } from './revision.ts'

const about = (channel_id: number, receiver_id: number) => ({ channel_id, receiver_id, manufacturer: 'shure' })
const marker = (time: number, until: number | null = null, channel = aboutAll) =>
  draftEvent('marker', channel, { time, until, text: `at ${time}` })

test('a page of events is read from an index in its order, on SQLite', async () => {
  const db = await openStore('sqlite')
  const compiler = new SqliteQueryCompiler()
  const queries: CompiledQuery[] = []
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      queries.push(compiler.compileQuery(node as RootOperationNode, createQueryId()))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const channels = { ids: [1, 2], receivers: [1], sites: [null] }
  const filters: EventFilter[] = [
    {},
    { to: 9 },
    { channels },
    { receiver: 1 },
    { kinds: ['marker', 'check'] },
    { channels, kinds: ['muted'] },
  ]
  for (const filter of filters)
    await listEvents(db.read.withPlugin(plugin), filter, { limit: 10, after: { time: 5, id: 5 } })
  expect(queries).toHaveLength(11)
  for (const { sql: text, parameters } of queries) {
    const { rows } = await db.read.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
    )
    expect([text, rows.map(({ detail }) => detail)]).toEqual([
      text,
      [expect.stringMatching(/^SEARCH events USING INDEX/)],
    ])
  }
})

describe.each(engines)('events on %s', (engine) => {
  const opened = async (drafts: readonly EventDraft[] = []) => {
    const db = await openStore(engine)
    const insert = (...added: readonly EventDraft[]) => db.transaction((tx) => insertEvents(tx, added))
    const stored = await insert(...drafts)
    const list = async (filter: EventFilter = {}, limit = 100, after?: { time: number; id: number }) =>
      (await listEvents(db.read, filter, { limit, after })).map(({ text }) => text)
    return { db, insert, stored, list }
  }

  // Conformance: C-12.45.
  test('are listed newest first, then by id, and in pages', async () => {
    const times = [5, 9, 5, 7, 9, 1]
    const { db, list, stored } = await opened(
      times.map((time, index) => ({ ...marker(time), text: `${time} ${index}` })),
    )
    const expected = ['9 4', '9 1', '7 3', '5 2', '5 0', '1 5']
    expect(await list()).toEqual(expected)
    for (const [index, text] of expected.entries()) {
      const after = stored.find((event) => event.text === text)
      expect(await list({}, 2, after)).toEqual(expected.slice(index + 1, index + 3))
    }
    expect(await findEvent(db.read, stored[0]?.id ?? 0)).toEqual(stored[0])
  })

  // Conformance: C-12.45.
  test('are selected by the time that they overlap, inclusively', async () => {
    const open = draftEvent('interference', about(1, 1), { time: 30, is_open: true, text: 'open', subject: 'i:1' })
    const { list } = await opened([marker(10, 20), marker(15), marker(40, 50), open])
    expect(await list({ from: 20, to: 40 })).toEqual(['at 40', 'open', 'at 10'])
    expect(await list({ from: 21, to: 39 })).toEqual(['open'])
    expect(await list({ from: 15, to: 15 })).toEqual(['at 15', 'at 10'])
    expect(await list({ from: 60 })).toEqual(['open'])
    expect(await list({ to: 10 })).toEqual(['at 10'])
    expect(await list({ from: 20 }, 3)).toEqual(['at 40', 'open', 'at 10'])
  })

  test('are selected by channel with those of all, by receiver and by kind', async () => {
    const receiver = draftEvent(
      'receiver_offline',
      { ...about(0, 1), channel_id: null },
      { time: 4, text: 'receiver 1' },
    )
    const other = draftEvent('receiver_offline', { ...about(0, 2), channel_id: null }, { time: 5, text: 'receiver 2' })
    const { list, db } = await opened([
      marker(1, null, about(11, 1)),
      marker(2, null, about(12, 1)),
      marker(3),
      receiver,
      other,
    ])
    expect(await list({ channels: { ids: [11], receivers: [], sites: [null] } })).toEqual(['at 3', 'at 1'])
    expect(await list({ channels: { ids: [11, 12], receivers: [1], sites: [null] } })).toEqual([
      'receiver 1',
      'at 3',
      'at 2',
      'at 1',
    ])
    const many = Array.from({ length: 30 }, (_, index) => index + 12)
    expect(await list({ channels: { ids: many, receivers: [2], sites: [null] } })).toEqual([
      'receiver 2',
      'at 3',
      'at 2',
    ])
    expect(await list({ receiver: 1 })).toEqual(['receiver 1', 'at 2', 'at 1'])
    expect(await list({ kinds: ['receiver_offline', 'check'] })).toEqual(['receiver 2', 'receiver 1'])
    expect(await list({ kinds: ['marker'], receiver: 1 }, 1)).toEqual(['at 2'])
    expect([await hasEventOfChannel(db.read, 12), await hasEventOfChannel(db.read, 13)]).toEqual([true, false])
  })

  // Conformance: C-12.41, C-12.43.
  test('that alternate, and ranges that continue, are stored once each', async () => {
    const { insert, list, db } = await opened()
    const transmitter = (kind: 'transmitter_on' | 'transmitter_off', time: number) =>
      draftEvent(kind, about(1, 1), { time, text: `${kind} ${time}`, subject: 'transmitter:1' })
    await Promise.all([insert(transmitter('transmitter_on', 1)), insert(transmitter('transmitter_on', 1))])
    await insert(transmitter('transmitter_off', 2), transmitter('transmitter_off', 3), transmitter('transmitter_on', 4))
    expect(await list()).toEqual(['transmitter_on 4', 'transmitter_off 2', 'transmitter_on 1'])
    const clipping = draftEvent('clipping', about(1, 1), { time: 5, is_open: true, subject: 'clipping:1' })
    await insert(clipping)
    expect(await insert(clipping)).toEqual([])
    const ended = endEvent(clipping, 2505)
    for (const at of [2505, 9000]) await db.transaction((tx) => closeEvent(tx, 'clipping:1', endEvent(clipping, at)))
    expect(await listOpenEvents(db.read)).toEqual([])
    expect((await listEvents(db.read, { kinds: ['clipping'] }, { limit: 9 }))[0]).toMatchObject(ended)
    expect(ended).toMatchObject({ until: 2505, data: { seconds: 2.5 }, text: 'Unknown: clipping of 2.5 s' })
    expect(await insert(clipping)).toEqual([])
    expect(await insert({ ...clipping, time: 2506 })).toHaveLength(1)
    const recovered = draftEvent('source_recovered', aboutAll, { time: 9, subject: 's', follows: 'source_failing' })
    expect(await insert(recovered)).toEqual([])
  })

  // Conformance: C-12.41.
  test('are read by other processes after each change', async () => {
    const { db, insert, stored } = await opened([marker(1), marker(2)])
    const revision = await currentRevision(db.read, 'events')
    const range = draftEvent('clipping', about(1, 1), { time: 5, is_open: true, subject: 'clipping:1' })
    await insert(range)
    const between = await currentRevision(db.read, 'events')
    await db.transaction((tx) => closeEvent(tx, 'clipping:1', endEvent(range, 9)))
    await db.transaction((tx) => deleteEvent(tx, stored[0]?.id ?? 0, 1000))
    expect(await listEventsSince(db.read, revision)).toMatchObject({
      events: [{ isNew: true, event: { until: 9 } }],
      removed: [stored[0]?.id],
    })
    expect(await listEventsSince(db.read, between)).toMatchObject({ events: [{ isNew: false }] })
    expect(await listMarkers(db.read)).toMatchObject([{ text: 'at 2' }])
  })

  // Conformance: C-12.48.
  test('are deleted by age, except markers and ranges that continue', async () => {
    const on = (time: number) => draftEvent('muted', about(1, 1), { time, text: `muted ${time}` })
    const open = draftEvent('clipping', about(1, 1), { time: 1, is_open: true, text: 'open', subject: 'clipping:1' })
    const { db, list } = await opened([on(1), on(2), on(3), on(10), marker(1), open])
    const prune = () => db.transaction((tx) => pruneEvents(tx, 10, 2))
    expect([await prune(), await prune(), await prune()]).toEqual([2, 1, 0])
    expect(await list()).toEqual(['muted 10', 'open', 'at 1'])
  })
})
