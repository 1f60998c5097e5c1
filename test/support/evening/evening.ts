/**
 * An evening in the theatre in forty seconds. The packs' ledgers record what the packs do, and `Evening` what the operator
 * does over REST.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import type { ChannelCheckBody } from '../../../src/contract/checks.ts'
import type { UnitBody } from '../../../src/contract/hardware.ts'
import type { EventBody } from '../../../src/contract/history.ts'
import type { ShowReport } from '../../../src/contract/reports.ts'
import type { ShowBody } from '../../../src/contract/shows.ts'
import { now } from '../../../src/platform/clock.ts'
import { createInstallation, until } from '../app.ts'
import type { HttpClient } from '../http-client.ts'
import { cookieOf } from '../users.ts'
import type { Stretch } from './ledger.ts'
import { type StagePack, startSsc1Receiver, startStringsReceiver } from './stage.ts'

export const showNames = ['Nora', 'Paul', 'Mia', 'Ben', 'Ada', 'Tom', 'Solo'] as const
type PackName = (typeof showNames)[number] | 'Host' | 'Spare 1' | 'Spare 2'

export interface Venue {
  /** A client with an operator's token. */
  readonly operator: Pick<HttpClient, 'get' | 'post'>
  readonly packs: ReadonlyMap<string, StagePack>
  /** The ids of the channels, by name. */
  readonly channelIds: ReadonlyMap<string, number>
  readonly slots: ReadonlyMap<string, number>
  readonly groupId: number
}

/** Wears the pack on Ada's channel. */
export const performerName = 'Ada Marsh'

const password = 'an evening at the theatre'

/** Starts the receivers and the program, creates an operator's token, and puts the channels of the show into a group. */
export async function openVenue(): Promise<Venue> {
  const ulxd = await startStringsReceiver('ulxd', 1, ['Nora', 'Paul', 'Mia', 'Ben'])
  const axient = await startStringsReceiver('ad', 2, ['Ada', 'Tom', 'Host', 'Spare 1'])
  const ewdx = await startSsc1Receiver(['Solo', 'Spare 2'])
  const rate = { calls_per_second: 1000, burst: 1000, poll_interval: 5 }
  const installation = await createInstallation({
    manufacturers: [
      { code: 'shure', config: { devices: [ulxd.url, axient.url], ...rate } },
      { code: 'sennheiser', config: { devices: [ewdx.url], ...rate } },
    ],
    require_login: true,
  })
  await installation.run(['create_admin', '--username', 'ana', '--password-stdin'], {}, `${password}\n`)
  const service = await installation.serve()
  const signedIn = await service.post('/api/auth/login', { username: 'ana', password })
  const session = { cookie: cookieOf(signedIn), 'x-csrf-token': signedIn.json.csrf_token }
  const { json: token } = await service.post(
    '/api/admin/tokens/',
    { name: 'front of house', role: 'operator' },
    session,
  )
  const headers = { authorization: `Bearer ${token.token}` }
  const operator = {
    get: (path: string) => service.get(path, headers),
    post: (path: string, body?: unknown) => service.post(path, body, headers),
  }
  const packs = [ulxd, axient, ewdx].flatMap((receiver) => receiver.packs)
  const channels = await until('all channels have their names', async () => {
    const { json } = await operator.get('/api/channels/')
    const known = json as { id: number; name: string; slot: number }[]
    return packs.every(({ name }) => known.some((channel) => channel.name === name)) && known
  })
  const slots = channels.filter(({ name }) => showNames.some((inShow) => inShow === name)).map(({ slot }) => slot)
  const { json: group } = await operator.post('/api/group/', { title: 'Cast', slots })
  return {
    operator,
    packs: new Map(packs.map((pack) => [pack.name, pack])),
    channelIds: new Map(channels.map(({ name, id }) => [name, id])),
    slots: new Map(channels.map(({ name, slot }) => [name, slot])),
    groupId: group.id,
  }
}

async function assignPerformer({ operator, slots }: Pick<Venue, 'operator' | 'slots'>): Promise<void> {
  const { json: units } = await operator.get('/api/units/')
  const unit = (units as UnitBody[]).find(({ slot }) => slot === slots.get('Ada'))
  const performer = (await operator.post('/api/performers/', { name: performerName, notes: 'Narrator' })).json
  const assigned = await operator.post('/api/assignments/', { performer: performer.id, wireless_unit: unit?.id })
  expect(assigned.status).toBe(201)
}

/** The operator's actions and their times. */
export interface Evening {
  readonly show: ShowBody
  readonly range: Stretch
  /** From before the audience enters to after the show. */
  readonly whole: Stretch
  /** The line check as it was before the show. */
  readonly lineCheck: readonly ChannelCheckBody[]
  /** The report as it was in the intermission. */
  readonly earlyReport: ShowReport | undefined
  readonly acknowledgements: ReadonlyMap<string, AlertBody>
  readonly markers: readonly EventBody[]
  /** How late the processes were, at most, in milliseconds. */
  readonly latenessMs: number
}

export async function playEvening({ operator, packs, channelIds, slots, groupId }: Venue): Promise<Evening> {
  const planned = await operator.post('/api/shows/', {
    title: 'The evening',
    group_ids: [groupId],
    starts_at: new Date(now() + 5000).toISOString(),
    ends_at: new Date(now() + 30 * 60_000).toISOString(),
  })
  expect(planned.status).toBe(201)
  let show: ShowBody = planned.json
  const acknowledgements = new Map<string, AlertBody>()
  const markers: EventBody[] = []
  const pack = (name: PackName) => packs.get(name) as StagePack
  const set = (name: PackName, change: Parameters<StagePack['set']>[0]) => () => pack(name).set(change)
  const changeShow = (step: 'start' | 'end') => async () => {
    show = (await operator.post(`/api/shows/${show.id}/${step}`)).json
  }
  const mark = (text: string, about: PackName | null, seconds?: number) => async () => {
    const channel_id = about === null ? null : (channelIds.get(about) ?? null)
    const range = seconds !== undefined && {
      time: new Date(now() - 1000 * seconds).toISOString(),
      until: new Date(now()).toISOString(),
    }
    markers.push((await operator.post('/api/markers/', { text, channel_id, ...range })).json)
  }
  const acknowledge = (about: PackName) => async () => {
    const { json } = await operator.get(`/api/alerts/?state=open&channel=${channelIds.get(about)}`)
    const [alert] = json as AlertBody[]
    if (alert === undefined) throw new Error(`There is no open alert about ${about}.`)
    acknowledgements.set(about, (await operator.post(`/api/alerts/${alert.id}/acknowledge`, { note: 'On it' })).json)
  }

  const beginCheck = (about: PackName) => () =>
    operator.post(`/api/shows/${show.id}/checks/begin`, { channel_id: channelIds.get(about) })
  const check = (about: PackName, result: 'pass' | 'fail', note?: string) => () =>
    operator.post(`/api/shows/${show.id}/checks/`, { channel_id: channelIds.get(about), result, note })
  let lineCheck: readonly ChannelCheckBody[] = []
  const readLineCheck = async () => {
    lineCheck = (await operator.get(`/api/shows/${show.id}/checks/`)).json
  }
  let earlyReport: ShowReport | undefined
  const readReport = async () => {
    earlyReport = (await operator.get(`/api/shows/${show.id}/report/`)).json
  }

  const cues: readonly (readonly [second: number, cue: () => unknown])[] = [
    // One pack after the other is switched on.
    ...showNames.map((name, index) => [index / 10, set(name, { isOn: true, rf: -50 - index, audio: -20 })] as const),
    [0.8, set('Host', { isOn: true, rf: -55, audio: -20 })],
    // Line check, with a dropout in a far corner.
    [1.2, beginCheck('Paul')],
    [1.5, set('Paul', { rf: -93 })],
    [2.5, set('Paul', { rf: -51 })],
    [2, set('Ada', { isMuted: true })],
    [3, set('Ada', { isMuted: false })],
    [3.1, () => assignPerformer({ operator, slots })],
    [3.5, mark('Audience enters', null)],
    [5, readLineCheck],
    [5.2, check('Paul', 'pass')],
    [5.3, check('Mia', 'fail', 'Crackles')],
    [6, changeShow('start')],
    // First act.
    [7, set('Paul', { rf: -97 })],
    [9, set('Paul', { rf: -51 })],
    [7.2, set('Host', { rf: -99 })],
    [9.7, set('Host', { rf: -55 })],
    [7.5, set('Nora', { battery: 18 })],
    [8, set('Mia', { hasEncryptionError: true })],
    [10.5, acknowledge('Mia')],
    [12, set('Mia', { hasEncryptionError: false })],
    [8.5, set('Tom', { audio: 0 })],
    [9.3, set('Tom', { audio: -20 })],
    [9.1, set('Ben', { hasInterference: true })],
    [16.1, set('Ben', { hasInterference: false })],
    [9.5, set('Ada', { isMuted: true })],
    [11, set('Ada', { isMuted: false })],
    [10, set('Nora', { battery: 8 })],
    [11.5, mark('Quick change', 'Nora')],
    [12.1, set('Paul', { rf: -92 })],
    [12.8, set('Paul', { rf: -51 })],
    [12.5, set('Ada', { isMuted: true })],
    [14, set('Ada', { isMuted: false })],
    // The pack dies, and is replaced.
    [13, set('Nora', { isOn: false })],
    [14.5, acknowledge('Nora')],
    [16.5, set('Nora', { isOn: true, battery: 96 })],
    // Intermission.
    [18, set('Tom', { isOn: false })],
    [18.1, set('Solo', { isMuted: true })],
    [20, readReport],
    [21, set('Tom', { isOn: true, battery: 79 })],
    [21.1, set('Solo', { isMuted: false })],
    [21.2, mark('Intermission', null, 3)],
    // Second act.
    [22, set('Tom', { audio: 0 })],
    [23.5, set('Tom', { audio: -20 })],
    [23, set('Solo', { rf: -101 })],
    [29, set('Solo', { rf: -56 })],
    [25, set('Mia', { battery: 77 })],
    [29.9, set('Ben', { isMuted: true })],
    [30.4, changeShow('end')],
    // After the show.
    [31.6, set('Paul', { rf: -96 })],
    [32, set('Paul', { rf: -51 })],
    [32.1, set('Host', { isOn: false })],
    [32.2, mark('Load-out', null)],
  ]

  const lateness = measureLateness(operator)
  const from = now()
  const startedAt = performance.now()
  for (const [second, cue] of cues.toSorted(([a], [b]) => a - b)) {
    await pause(Math.max(0, startedAt + 1000 * second - performance.now()))
    await cue()
  }
  // After this time, all conditions have settled, and everything is stored.
  await pause(2500)
  const latenessMs = await lateness.stop()
  // On a busy machine, that takes longer.
  await pause(latenessMs)
  const range = { from: Date.parse(show.started_at ?? ''), to: Date.parse(show.ended_at ?? '') }
  const whole = { from, to: now() }
  return { show, range, whole, lineCheck, earlyReport, acknowledgements, markers, latenessMs }
}

/** Measures how long the event loops of this process and of the service were blocked, at most. */
function measureLateness(service: Pick<HttpClient, 'get'>) {
  const everyMs = 50
  let ownMs = 0
  let serviceMs = 0
  let isRunning = true
  const watchOwn = async () => {
    while (isRunning) {
      const before = performance.now()
      await pause(everyMs)
      ownMs = Math.max(ownMs, performance.now() - before - everyMs)
    }
  }
  const watchService = async () => {
    while (isRunning) {
      const before = performance.now()
      await service.get('/healthz')
      serviceMs = Math.max(serviceMs, performance.now() - before)
      await pause(everyMs)
    }
  }
  const watching = Promise.all([watchOwn(), watchService()])
  return {
    async stop() {
      isRunning = false
      await watching
      return Math.round(ownMs + serviceMs)
    },
  }
}
