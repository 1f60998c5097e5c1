/** A service with records of every kind, and for each operation an input with which it succeeds there. */

import { startPlanningCenter } from '../../simulators/planning-center.ts'
import { startSsc1Simulator } from '../../simulators/sennheiser/ssc1.ts'
import { createAcknowledgeToken } from '../../src/alerts/acknowledge-links.ts'
import type { Documented, OpenApi } from '../../src/http/routes/openapi-document.ts'
import { now } from '../../src/platform/clock.ts'
import { findNotificationChannel } from '../../src/storage/notifications.ts'
import { openSecrets } from '../../src/storage/secrets.ts'
import { configFor, deviceOf, startApp, startShure, until } from './app.ts'
import { onTestEnd } from './cleanup.ts'
import { addClip } from './clips.ts'
import { type Schema, valuesOf } from './schema-values.ts'
import { withDatabase } from './store/databases.ts'
import { tokenHeaders } from './tokens.ts'

export interface Operation extends Documented {
  readonly method: string
  readonly path: string
  /** The schema of a JSON body. */
  readonly body: Schema | undefined
  readonly parameters: NonNullable<Documented['parameters']>
}

export interface Input {
  /** The value of the last parameter of the path. */
  readonly id?: string | number
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Called before and after all others. */
const first = [
  ...['setUp', 'changeConfig', 'createShow', 'startShow', 'createPerformer', 'createAssignment'],
  ...['rejectQueueEntries', 'reopenQueueEntries', 'markQueueEntriesDuplicate'],
]
const last = ['removePerformer', 'removeReceiver', 'endShow', 'removeShow', 'signOut']
const methods = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE']

/** Returns the operations in an order in which each finds the records that it needs. */
export function operationsOf({ paths }: OpenApi): Operation[] {
  const operations = Object.entries(paths).flatMap(([path, documented]) =>
    Object.entries(documented).map(([method, operation]): Operation => {
      const body = operation.requestBody?.content['application/json']?.schema
      const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'header')
      return { ...operation, path, method: method.toUpperCase(), body, parameters }
    }),
  )
  const rankOf = ({ operationId, method }: Operation) => {
    if (first.includes(operationId)) return first.indexOf(operationId) - first.length
    return last.includes(operationId) ? methods.length + last.indexOf(operationId) : methods.indexOf(method)
  }
  return operations.sort((a, b) => rankOf(a) - rankOf(b))
}

const unlimited = { max_requests: 1_000_000, window_seconds: 1 }
const rate_limit = { ...unlimited, overrides: { 'POST /api/discover/': unlimited, 'POST /api/ingest/': unlimited } }

export type Service = Awaited<ReturnType<typeof startService>>

export async function startService() {
  const shure = await startShure({ richList: true })
  const rack = await startSsc1Simulator()
  const planningCenter = await startPlanningCenter()
  onTestEnd(() => Promise.all([rack.close(), planningCenter.close()]))
  const app = await startApp({
    manufacturers: [configFor(shure), { code: 'sennheiser', config: { devices: [rack.url] } }],
    config: {
      planning_center_url: planningCenter.url,
      discovery_ranges: ['127.0.0.0/8'],
      rate_limit,
      backup: { keep: 1 },
      listening: true,
      audio_evidence: true,
      audio: { interfaces: ['127.0.0.1'] },
    },
    isRecording: true,
  })
  // The record with the id 1 may be removed.
  await tokenHeaders(app, 'viewer')
  const headers = await tokenHeaders(app, 'admin', ['listen'])
  for (const key of ['IDENTIFY', 'IDENTIFY_DURING_SHOWS'])
    await app.post('/api/config/', { key, value: 'true' }, headers)
  await until('all receivers are known', async () => (await app.receivers()).length === 3)
  await until('the first backup is written', () => app.service.backups.isUpToDate)
  // A device that has moved, and three with the address of another one, which are queued for review.
  shure.show.set(deviceOf(shure, 1).id, { ip: '10.77.0.1' })
  const { ip } = deviceOf(shure)
  for (const serial_number of ['V1', 'V2', 'V3'])
    shure.show.add('shure', { ip, name: 'Visitor', serial_number, channels: 2 })
  await until('three devices are queued', async () => {
    await app.post('/api/refresh/')
    return (await app.get('/api/discovery/pending/')).json.count === 3
  })
  const list = async (path: string): Promise<readonly Record<string, unknown>[]> => {
    const { json } = await app.get(path, headers)
    return json.results ?? json
  }
  return { app, headers, list, token: planningCenter.token, rack: rack.url }
}

/** A time of a whole second. */
const secondsFromNow = (seconds: number) => new Date(Math.floor(now() / 1000 + seconds) * 1000).toISOString()
const password = 'correct horse battery'
const code = 'second'

const stageSweep = { source: 'stage', mhz_from: 470, mhz_step: 0.025, dbm: [-98, -97, -99, -98, -97] }

/** Inputs that do not follow from the schemas, because they depend on what is stored. */
function specialInputs({
  app,
  headers,
  list,
  token,
  rack,
}: Service): Readonly<Record<string, () => Input | Promise<Input>>> {
  const newestOf = async (path: string): Promise<Input> => ({ body: { ids: [await newest(list, path)] } })
  const firstCapture = () => ({ id: 1 })
  const review = () => newestOf('/api/admin/discovery-queue/')
  const connections = () => newestOf('/api/admin/realtime-connections/')
  const alert = async () => newest(list, '/api/alerts/?state=open')
  const alertAfter = async (response: string, body: object) => {
    const id = await alert()
    await app.post(`/api/alerts/${id}/${response}`, body, headers)
    return { id }
  }
  const marker = async () => ({ id: await newest(list, '/api/events/?kind=marker') })
  const clip = async () => ({ id: await addClip(app) })
  /** Deleting sweeps is tried before. */
  const sweeps = async () => {
    await app.post('/api/sweeps/', stageSweep, headers)
    return { id: 'stage' }
  }
  const ofRack = async () => (await app.receivers()).find(({ manufacturer }) => manufacturer === 'sennheiser')
  const pictured = async () =>
    (await list('/api/performers/')).find(({ picture }) => String(picture).startsWith('/api')) ?? {}
  const cast = async (name: string) => ({ body: { text: `${(await ofRack())?.channels[0]?.slot},${name}` } })
  const plan = { token, service_type: '1001' }
  const range = () => {
    return { query: { channels: '1,2', from: secondsFromNow(-60), to: secondsFromNow(0) } }
  }
  const link = async () => {
    const service = { ...{ type: 'webhook', config: { url: 'http://127.0.0.1:9/' } }, acknowledge_link: true }
    const { json } = await app.post('/api/admin/notification-channels/', { name: 'Links', ...service }, headers)
    const [linked] = (await list('/api/alerts/')).filter(({ state }) => state !== 'cleared')
    const secrets = await openSecrets(app.dataDir)
    const channel = await withDatabase(app, ({ read }) => findNotificationChannel(read, secrets, json.id))
    if (channel === undefined || linked === undefined) throw new Error('There is no channel or no alert.')
    const signed = { id: Number(linked.id), raised_at: Date.parse(String(linked.raised_at)) }
    return { body: { token: createAcknowledgeToken(channel, signed, now() + 60_000) } }
  }
  return {
    showAcknowledgeLink: link,
    useAcknowledgeLink: link,
    acknowledgeAlert: async () => ({ id: await alert() }),
    unacknowledgeAlert: () => alertAfter('acknowledge', {}),
    snoozeAlert: async () => ({ id: await alert(), body: { minutes: 10 } }),
    unsnoozeAlert: () => alertAfter('snooze', { minutes: 10 }),
    createPlaceholder: () => ({ body: { kind: 'wired', name: 'Lectern' } }),
    createFrequencyProfile: () => ({ body: { name: 'Hall', levels: { standard: {} } } }),
    createFrequencyPlan: () => ({ body: { title: 'Evening', carriers: [{ slot: 1, mhz: '470.000' }] } }),
    changeFrequencyPlan: () => ({ body: { title: 'Late' } }),
    saveGroup: () => ({ body: { title: 'Leads' } }),
    swapSlots: () => ({ id: 1, body: { with: 2, what: 'people' } }),
    changeChannel: () => ({ body: { slot: 40 } }),
    setUp: () => ({ body: { username: 'ada', password } }),
    signIn: () => ({ body: { username: 'ada', password } }),
    signInKiosk: async () => {
      const { authorization = '' } = await tokenHeaders(app, 'viewer')
      return { body: { token: authorization.replace('Bearer ', '') } }
    },
    endOwnSession: () => ({ id: '0123456789abcdef' }),
    createUser: () => ({ body: { username: 'bo', password, role: 'viewer' } }),
    changeConfig: () => ({ body: { key: 'alert_battery_threshold', value: '100' } }),
    removeConfig: () => ({ query: { key: 'alert_battery_threshold' } }),
    removeSetting: () => ({ id: 'IDENTIFY' }),
    createManufacturer: () => ({ body: { code, plugin: 'shure', config: { devices: ['tcp://127.0.0.1:9'] } } }),
    changeManufacturer: () => ({ id: code }),
    removeManufacturer: () => ({ id: code }),
    testManufacturer: () => ({ id: 'shure' }),
    detectEquipment: () => ({ body: { address: 'tcp://127.0.0.1:9', plugin: 'dpa' } }),
    testConfiguration: () => ({ body: { code: 'shure' } }),
    createReceiver: () => ({ body: { manufacturer: 'shure', name: 'Spare', serial_number: '7' } }),
    startCapture: () => ({ body: { address: rack } }),
    ...{ getCapture: firstCapture, stopCapture: firstCapture, getCaptureFile: firstCapture },
    identifyReceiver: async () => ({ id: (await ofRack())?.id ?? 0 }),
    startReceiverScan: () => ({ body: { from_mhz: 500, to_mhz: 510, step_khz: 25, confirm: true } }),
    createNotificationChannel: () => ({
      body: { name: 'Hook', type: 'webhook', config: { url: 'http://127.0.0.1:9/' } },
    }),
    addSilence: () => ({ body: { channels: [1], until: secondsFromNow(3600) } }),
    importCast: () => cast('Ada'),
    // Another name, because there is nothing to undo after an import that changes nothing.
    undo: async () => ({ id: (await app.post('/api/import/cast/', (await cast('Bo')).body, headers)).json.undo_id }),
    importMicboard: () => ({ body: { text: '{"slots": [], "groups": []}' } }),
    importPlanningCenter: () => ({ body: { ...plan, positions: { 'Vox 1': 1 }, remember: true } }),
    listPlanningCenterServiceTypes: () => ({ body: { token } }),
    listPlanningCenterPlans: () => ({ body: plan }),
    listPlanningCenterPositions: () => ({ body: plan }),
    pushSweep: () => ({ body: stageSweep }),
    streamSweeps: () => ({ query: { source: 'stage' } }),
    getBands: () => ({ query: { country: 'DE' } }),
    changeBands: () => ({ query: { country: 'DE' }, body: { bands: [] } }),
    resetBands: () => ({ query: { country: 'DE' } }),
    addAudioStream: () => ({
      body: { name: 'Stage', address: '239.1.2.3', port: 5004, encoding: 'L24', sample_rate: 48_000, channels: 8 },
    }),
    getSweeps: () => ({ id: 'stage' }),
    keepSweeps: sweeps,
    resetSweeps: sweeps,
    removeSweeps: () => ({ id: 'stage' }),
    getClip: clip,
    getClipSound: clip,
    getClipWaveform: clip,
    removeClip: clip,
    setNotNow: () => ({ id: 1, body: { not_now: true } }),
    setChannelAudio: () => ({ id: 1, body: null }),
    getChannelAudio: () => ({ id: 1 }),
    scanNetwork: () => ({ body: { scan_subnet: '127.0.0.1/32' } }),
    approveQueueEntries: review,
    rejectQueueEntries: review,
    markQueueEntriesDuplicate: () => ({ body: { ids: [2] } }),
    reopenQueueEntries: review,
    acknowledgeMovements: () => newestOf('/api/admin/movements/'),
    stopRealtimeConnections: connections,
    startRealtimeConnections: connections,
    changeMarker: marker,
    removeMarker: marker,
    getPicture: async () => ({
      id:
        String((await pictured()).picture)
          .split('/')
          .at(-1) ?? '',
    }),
    removePicture: async () => ({ id: Number((await pictured()).id) }),
    getHistoryLevels: range,
    getHistoryLevelsCsv: range,
    getHistoryAt: () => ({ query: { time: range().query.to } }),
  }
}

async function newest(list: Service['list'], path: string): Promise<string | number> {
  const records = await list(path)
  const ids = records.map(({ id, code, slot }) => id ?? code ?? slot)
  return ids.every((id) => typeof id === 'number') ? Math.max(...ids) : String(ids.at(-1))
}

/** Returns an input with which an operation succeeds: the special one, and otherwise the newest record and the simplest body. */
export function createInputs(service: Service): (operation: Operation) => Promise<Input> {
  const special = specialInputs(service)
  return async ({ operationId, path, body }) => {
    const input = (await special[operationId]?.()) ?? {}
    const collection = path.slice(0, path.lastIndexOf('{'))
    const isRecord = path.includes('{') && input.id === undefined
    return {
      ...(body !== undefined && { body: valuesOf(body).allowed[0] }),
      ...(isRecord && { id: await newest(service.list, await addressOf(service, collection, {})) }),
      ...input,
    }
  }
}

/** Fills a path with the id of the input, and with those of the newest records before it, and adds the query. */
export async function addressOf({ list }: Service, path: string, { id, query }: Input): Promise<string> {
  const [collection = '', ...rest] = path.split(/\{\w+\}/)
  let address = collection
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1
    address += encodeURIComponent(isLast && id !== undefined ? id : await newest(list, address)) + part
  }
  return query === undefined ? address : `${address}?${new URLSearchParams(query)}`
}
