/** The routes for recorded levels on a real server, with a history in memory that records how it is called. */

import { once } from 'node:events'
import { request as openRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/app.ts'
import { buildReceiver } from '../../../test/support/builders.ts'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { httpClient } from '../../../test/support/http-client.ts'
import { openStore } from '../../../test/support/store/helpers.ts'
import { buildSlotRecords } from '../../../test/support/titles.ts'
import { unknownCondition } from '../../domain/conditions/condition.ts'
import type { Channel } from '../../domain/equipment/receiver.ts'
import { type ChannelState, toChannelState } from '../../domain/history/channel-state.ts'
import { type ColumnName, columnNames, noValue } from '../../domain/history/columns.ts'
import type { LevelExport, LevelHistory, LevelQuery } from '../../domain/history/level-history.ts'
import { PlaceholderStore } from '../../ingest/placeholder-store.ts'
import { ReceiverStore } from '../../ingest/receiver-store.ts'
import { EffectiveSettings } from '../../lists/effective-settings.ts'
import { StoredLists } from '../../lists/stored-lists.ts'
import type { Outbound } from '../../manufacturers/sources.ts'
import type { Service } from '../../service.ts'
import { SourceRegistry } from '../../sources/source-registry.ts'
import { saveChannelStates } from '../../storage/channel-states.ts'
import { StoreDownError } from '../../storage/errors.ts'
import { compressTexts } from '../server/compression.ts'
import type { ContractServer } from '../server/contract.ts'
import { sendError, toRequestError } from '../server/error-response.ts'
import { createValidatorCompiler } from '../server/validation.ts'
import { historyRoutes } from './history.ts'

const now = Date.parse('2026-05-01T18:00:00Z')
const secondsOf = (time: string) => Date.parse(time) / 1000
const past = 'from=2026-05-01T16:00:00Z&to=2026-05-01T17:00:00Z'

const channel: Channel = {
  id: 1,
  channel: 1,
  slot: 1,
  name: 'Nora',
  frequency: '470.300',
  audio_level: null,
  rf_level: null,
  transmitter: null,
  condition: unknownCondition,
  last_transmitter: null,
  forecast: null,
}

function stateOf(name: string): ChannelState {
  return toChannelState({ ...channel, name }, null)
}

/** A step of one channel: transmitter off, everything else unknown. */
function stepsOf(channelIds: readonly number[], from: number, count: number, state: number) {
  const columns = Object.fromEntries(
    columnNames.map((name) => [
      name,
      new Int32Array(channelIds.length * count).fill(name === 'state' ? state : noValue),
    ]),
  ) as Record<ColumnName, Int32Array>
  return { from, count, channelIds, columns }
}

interface Calls {
  readonly queries: LevelQuery[]
  readonly exports: LevelExport[]
  readonly times: number[]
  flushes: number
  /** Chunks of CSV that were requested, and whether the export was ended. */
  chunks: number
  hasEnded: boolean
}

const body = `{"from":"2026-05-01T16:00:00Z","to":"2026-05-01T17:00:00Z","step_seconds":10,"channels":[]${' '.repeat(2000)}}`

/** Starts the routes. Channel 1 exists, and channel 7 was removed. Nothing was recorded before 12:00. */
async function startRoutes(csv: (calls: Calls) => AsyncGenerator<Uint8Array> = smallCsv, flushFails = false) {
  const calls: Calls = { queries: [], exports: [], times: [], flushes: 0, chunks: 0, hasEnded: false }
  const first = secondsOf('2026-05-01T12:00:00Z')
  const levels: Partial<LevelHistory> = {
    async query(query) {
      calls.queries.push(query)
      return Buffer.from(body)
    },
    exportCsv(request) {
      calls.exports.push(request)
      return csv(calls)
    },
    async at(time) {
      calls.times.push(time)
      if (time < first) return null
      return { isRecorded: true, stepSeconds: 10, steps: stepsOf([1], time, 1, 2) }
    },
    range: async () => ({ first, last: now / 1000 }),
    read: async (ids, from, to, step) => stepsOf(ids, from, Math.ceil((to - from) / step), ids[0] === 7 ? 2 : 0),
  }
  const lists = new StoredLists()
  const sourceRegistry = new SourceRegistry({} as Outbound)
  const settings = new EffectiveSettings(lists, sourceRegistry, { defaultInterval: 1, isBroadcasting: true })
  const receiverStore = new ReceiverStore()
  receiverStore.put(buildReceiver(1, { channels: [channel] }))
  const history = {
    levels: { ofClient: () => levels },
    async flush() {
      calls.flushes++
      if (flushFails) throw new StoreDownError('The disk is full.')
    },
  }
  const siteHistory = { load: async () => null, loadSteps: async () => null }
  const slotRecords = buildSlotRecords(receiverStore)
  const stores = { db: await openStore('sqlite'), receiverStore, slotRecords, placeholderStore: new PlaceholderStore() }
  const service = { ...stores, history, siteHistory, lists, settings } as unknown as Service
  const app = fastify()
  app.decorateRequest('credential', null)
  app.setValidatorCompiler(createValidatorCompiler())
  app.decorate('isStopping', () => false)
  compressTexts(app)
  app.setErrorHandler((error, _request, reply) => sendError(reply, toRequestError(error), {}))
  historyRoutes(app.withTypeProvider() as unknown as ContractServer, service, () => now)
  await app.listen({ host: '127.0.0.1', port: 0 })
  onTestEnd(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return { ...httpClient(`http://127.0.0.1:${port}`), port, calls, db: stores.db }
}

async function* smallCsv(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('\uFEFFtime,channel_id\r\n')
  yield Buffer.from('2026-05-01T16:00:00Z,1\r\n')
}

it('passes the response of the history on', async () => {
  const { get, calls } = await startRoutes()
  const response = await get(`/api/history/levels/?channels=7,1&${past}&max_points=100&series=rf`)
  expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } })
  expect(response.bytes.toString()).toBe(body)
  const [from, to] = [secondsOf('2026-05-01T16:00:00Z'), secondsOf('2026-05-01T17:00:00Z')]
  expect(calls.queries).toEqual([{ channelIds: [7, 1], from, to, maxPoints: 100, series: ['rf'] }])
})

it('compresses the response for clients that accept it', async () => {
  const { get } = await startRoutes()
  const response = await get(`/api/history/levels/?channels=1&${past}`, { 'accept-encoding': 'gzip' })
  expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
  expect(gunzipSync(response.bytes).toString()).toBe(body)
})

it('stores what the recorder still holds before it reads the present', async () => {
  const { get, calls } = await startRoutes()
  await get(`/api/history/levels/?channels=1&${past}`)
  expect(calls.flushes).toBe(0)
  await get('/api/history/levels/?channels=1&from=2026-05-01T16:00:00Z&to=2026-05-01T18:00:30Z')
  await get('/api/history/levels.csv?channels=1&from=2026-05-01T16:00:00Z&to=2026-05-01T18:00:00Z')
  await get('/api/history/at/?time=2026-05-01T17:59:58Z')
  expect(calls.flushes).toBe(3)
})

it('reads what is stored even if the recorder cannot write', async () => {
  const { get } = await startRoutes(smallCsv, true)
  const url = '/api/history/levels/?channels=1&from=2026-05-01T16:00:00Z&to=2026-05-01T18:00:00Z'
  expect((await get(url)).status).toBe(200)
})

// Conformance: C-12.60, C-12.61, C-12.62, C-12.66.
it.each([
  ['levels/?from=2026-05-01T16:00:00Z&to=2026-05-01T17:00:00Z', 'channels: missing'],
  ['levels/?channels=1&to=2026-05-01T17:00:00Z', 'from: missing'],
  ['levels/?channels=1&from=2026-05-01T17:00:00Z', 'to: missing'],
  ['levels/?channels=&from=2026-05-01T16:00:00Z&to=2026-05-01T17:00:00Z', 'channels: missing'],
  [
    'levels/?channels=1&from=2026-02-30T16:00:00Z&to=2026-05-01T17:00:00Z',
    'from: expected a time such as 2026-05-01T18:00:00Z',
  ],
  ['levels/?channels=1&from=2026-05-01&to=2026-05-01T17:00:00Z', 'from: expected a time such as 2026-05-01T18:00:00Z'],
  [`levels/?channels=1,2&${past}`, 'channels: there is no channel 2'],
  [`levels/?channels=1&${past}&max_points=0`, 'max_points: expected a whole number from 1 to 11000'],
  [`levels/?channels=1&${past}&max_points=11001`, 'max_points: expected a whole number from 1 to 11000'],
  [`levels/?channels=1&${past}&max_points=1e3`, 'max_points: expected a whole number from 1 to 11000'],
  [`levels/?channels=1&${past}&series=noise`, 'series: expected some of rf, audio, quality, battery, minutes'],
  [`levels.csv?channels=2&${past}`, 'channels: there is no channel 2'],
  [`levels.csv?channels=1&${past}&step=2`, 'step: expected one of 1, 10, 60, 600, 3600'],
  ['at/', 'time: missing'],
  ['at/?time=2026-05-01T18:00:01Z', 'time: expected a time in the past'],
  ['at/?time=2026-05-01T17:00:00.5Z', 'time: expected a whole second'],
  ['at/?time=yesterday', 'time: expected a time such as 2026-05-01T18:00:00Z'],
])('rejects %s and names the parameter', async (path, details) => {
  const { get } = await startRoutes()
  const { status, json } = await get(`/api/history/${path}`)
  expect({ status, json }).toEqual({ status: 400, json: { error: 'Bad request.', status: 400, details } })
})

it('exports CSV with the titles of the channels', async () => {
  const { get, calls } = await startRoutes()
  const response = await get(`/api/history/levels.csv?channels=7,1&${past}&step=10`)
  expect(response.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="levels.csv"',
  })
  expect(response.bytes.toString()).toBe('\uFEFFtime,channel_id\r\n2026-05-01T16:00:00Z,1\r\n')
  const channels = [
    { id: 7, name: '' },
    { id: 1, name: 'Nora' },
  ]
  expect(calls.exports).toMatchObject([{ channels, step: 10 }])
})

it('compresses CSV for clients that accept it', async () => {
  const { get } = await startRoutes()
  const response = await get(`/api/history/levels.csv?channels=1&${past}`, { 'accept-encoding': 'gzip' })
  expect(gunzipSync(response.bytes).toString()).toMatch(/^\uFEFFtime,channel_id\r\n/)
})

it('responds with an error if the export fails at once, and closes the connection if it fails later', async () => {
  const failing = (chunks: number) =>
    async function* (): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < chunks; index++) yield Buffer.from('row\r\n')
      throw new StoreDownError('The disk failed.')
    }
  const atOnce = await startRoutes(failing(0))
  expect((await atOnce.get(`/api/history/levels.csv?channels=1&${past}`)).status).toBe(503)
  const later = await startRoutes(failing(1))
  await expect(later.get(`/api/history/levels.csv?channels=1&${past}`)).rejects.toThrow('aborted')
})

// Conformance: C-12.64.
it('makes no more CSV than the client reads, and ends the export when the client disconnects', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  async function* endless(calls: Calls): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        calls.chunks++
        yield chunk
      }
    } finally {
      calls.hasEnded = true
    }
  }
  const { port, calls } = await startRoutes(endless)
  const request = openRequest({ port, path: `/api/history/levels.csv?channels=1&${past}`, agent: false }).end()
  const [response] = await once(request, 'response')
  // The client does not read, so the export stops once the buffers of both sockets are full.
  let before = -1
  await until('the export pauses', async () => {
    const isPaused = calls.chunks === before
    before = calls.chunks
    await new Promise((resolve) => setTimeout(resolve, 200))
    return isPaused
  })
  expect(calls.chunks * chunk.length).toBeLessThan(64 * 1024 * 1024)
  response.destroy()
  await until('the export has ended', () => calls.hasEnded)
})

it('returns what was shown at a second, and makes it once for several clients', async () => {
  const { get, calls, db } = await startRoutes()
  const url = '/api/history/at/?time=2026-05-01T17:00:00Z'
  // The states are those at the end of the second.
  const time = Date.parse('2026-05-01T17:00:00Z')
  const states = [
    { channel_id: 1, time: time + 999, state: stateOf('Nora') },
    { channel_id: 1, time: time + 1000, state: stateOf('Ben') },
  ]
  await db.transaction((tx) => saveChannelStates(tx, states))
  const [first, second] = await Promise.all([get(url), get(url)])
  expect(first.json).toMatchObject({
    as_of: '2026-05-01T17:00:00.000Z',
    recorded: true,
    step_seconds: 10,
    receivers: [{ id: 1, channels: [{ id: 1, name: 'Nora' }] }],
  })
  expect(second.bytes.equals(first.bytes)).toBe(true)
  expect(calls.times).toEqual([secondsOf('2026-05-01T17:00:00Z')])
})

it('returns 404 for a time before the first record', async () => {
  const { get } = await startRoutes()
  const { status, json } = await get('/api/history/at/?time=2026-05-01T11:59:59Z')
  expect([status, json.error]).toEqual([404, 'There is no record of this time.'])
})
