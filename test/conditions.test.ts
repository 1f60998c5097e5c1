/** The condition of a channel: the same for every client, and after a restart. */

import { describe, expect, it } from 'vitest'
import type { ChannelBody } from '../src/contract/channels.ts'
import { listConditions } from '../src/storage/channel-states.ts'
import { openDatabase } from '../src/storage/database.ts'
import { listReceivers } from '../src/storage/receivers.ts'
import {
  channelOf,
  configFor,
  createInstallation,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  type TestApp,
  until,
  withoutPush,
} from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { openLive } from './support/live-client.ts'
import { channelIn } from './support/socket-client.ts'
import { engines } from './support/store/databases.ts'

/** Starts a system whose first channel has a transmitter with this battery level. */
async function startSystem(battery = 80) {
  const shure = await startShure({ receivers: 1 })
  const { id } = deviceOf(shure)
  const set = (change: Parameters<typeof shure.show.set>[1]) => {
    shure.show.set(id, change, 1)
    shure.push.flush()
  }
  set({ battery, rf_level: -50, audio_level: -20, name: 'Y13 Nora' })
  return { shure, id, set }
}

/** Waits until the first channel is in this state, and returns it as the receiver's details contain it. */
async function waitForState(app: Pick<TestApp, 'receiver'>, id: string, state: string): Promise<ChannelBody> {
  return until(`the state is ${state}`, async () => {
    const channel = channelOf(await app.receiver(id))
    expect(channel.condition.state).toBe(state)
    return channel
  })
}

describe.concurrent('the condition of a channel', () => {
  // Conformance: C-10.1, C-10.2.
  it('is the same in data.json, the details and the messages of both versions, and changes the ETag', async () => {
    const { shure, id, set } = await startSystem()
    const app = await startApp({ manufacturers: [configFor(shure)] })
    const before = await waitForState(app, id, 'ok')
    expect(before).not.toHaveProperty('last_transmitter')
    const [socket, live] = [await app.socket(), await openLive(app)]
    const tag = (await app.get('/api/data.json')).headers.etag

    set({ battery: 18 })
    const update = await socket.next((message) => channelIn(message)?.condition.state === 'battery_low')
    const message = await live.next(({ condition }) => condition?.state === 'battery_low')
    const low = await waitForState(app, id, 'battery_low')
    expect(low.condition).toMatchObject({ severity: 'warning', attention: true, flags: ['battery_replace_soon'] })
    expect(low.condition.since > before.condition.since).toBe(true)
    expect(channelIn(update)?.condition).toEqual(low.condition)
    expect(message).toMatchObject({ type: 'channel', id: low.id, condition: low.condition })
    const data = await app.get('/api/data.json')
    expect(data.headers.etag).not.toBe(tag)
    expect(channelOf(data.json.receivers[0])).toEqual(low)
    expect((await app.get(`/api/channels/${low.id}/`)).json.condition).toEqual(low.condition)
  })

  // Conformance: C-10.3.
  it('is battery_died after a transmitter with an empty battery, which is remembered', async () => {
    const { shure, id, set } = await startSystem(8)
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await waitForState(app, id, 'battery_critical')
    const live = await openLive(app)
    set({ transmitter: false, rf_level: -110 })
    const died = await waitForState(app, id, 'battery_died')
    expect(died.condition).toMatchObject({ severity: 'critical', attention: true, flags: ['tx_off'] })
    expect(died.last_transmitter).toMatchObject({ name: 'Y13 Nora', battery: 8, minutes_left: null })
    await until('the copy is current', () => {
      expect(channelOf(live.data().receivers[0])).toMatchObject({ ...died, rf_level: expect.anything() })
      return true
    })
    set({ transmitter: true, battery: 90 })
    expect(await waitForState(app, id, 'ok')).not.toHaveProperty('last_transmitter')
    await until('the copy is current', () => {
      expect(channelOf(live.data().receivers[0]).last_transmitter ?? null).toBeNull()
      return true
    })
  })

  // Conformance: C-10.4.
  // Reliability: S13.
  it('is restored after kill -9, with the values and alerts, in the first response', async () => {
    const { shure, id, set } = await startSystem(80)
    const installation = await createInstallation({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    const service = await installation.serve()
    await waitForState(service, id, 'ok')
    await until('the subscription is connected', () => shure.push.connections === 1)
    const alertsOf = async (running: Pick<TestApp, 'get'>) => (await running.get('/api/alerts/')).json
    shure.show.set(id, { battery: 7 }, 2)
    set({ battery: 8 })
    await waitForState(service, id, 'battery_critical')
    const [second] = await until('alerts are raised', async () => {
      const found = (await alertsOf(service)).filter(({ slot }: { slot: number }) => slot !== 1)
      return (await alertsOf(service)).length === 2 && found
    })
    await service.post(`/api/alerts/${second.id}/acknowledge`, {})
    set({ transmitter: false, rf_level: -110 })
    await waitForState(service, id, 'battery_died')
    const [before] = await service.receivers()
    const alerts = await alertsOf(service)
    const db = await openDatabase({ url: installation.databaseUrl })
    onTestEnd(() => db.close())
    await until('the transmitter is stored as off, and as dead', async () => {
      const [receiver] = await listReceivers(db.read)
      const stored = await listConditions(db.read)
      return (
        receiver?.channels[0]?.transmitter === null && stored.some(({ memory }) => memory.transmitter.died !== null)
      )
    })
    service.kill('SIGKILL')
    await service.ended
    await shure.close()
    const restarted = await installation.serve()
    expect((await restarted.receivers())[0]?.channels).toMatchObject(
      (before?.channels ?? []).map(({ condition, last_transmitter, transmitter }) => ({
        condition,
        ...(last_transmitter && { last_transmitter }),
        transmitter: transmitter && { battery: transmitter.battery },
      })),
    )
    expect(await alertsOf(restarted)).toEqual(alerts)
  })
})

describe('GET /api/summary/', () => {
  // Conformance: C-10.9.
  it('counts channels, attention, problems and states, of a manufacturer or a group', async () => {
    const { shure, id, set } = await startSystem(8)
    const sennheiser = withoutPush(await startSennheiser({ receivers: 1 }))
    const app = await startApp({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    await waitForState(app, id, 'battery_critical')
    await until('both receivers are known', async () => (await app.receivers()).length === 2)
    await until('both sources are healthy', async () => {
      expect((await app.get('/api/summary/')).json).toMatchObject({
        channels: 4,
        receivers: { online: 2, offline: 0 },
        sources: { healthy: 2, failing: 0 },
      })
      return true
    })
    const { slot } = channelOf(await app.receiver(id))
    const group = await app.post('/api/group/', { title: 'Stage', slots: [slot] })
    const ofGroup = { channels: 1, transmitters_on: 1, attention: 1, problems: 1, replace_soon: 1 }
    const { json } = await app.get(`/api/summary/?group=${group.json.id}`)
    expect(json).toMatchObject({
      ...ofGroup,
      receivers: { online: 1, offline: 0 },
      sources: { healthy: 1, failing: 0 },
    })
    expect(json.states).toMatchObject({ battery_critical: 1, ok: 0, unmonitored: 0 })
    expect((await app.get('/api/summary/?manufacturer=shure')).json).toMatchObject({ channels: 2 })
    expect((await app.get('/api/summary/?manufacturer=nobody')).json).toMatchObject({ channels: 0, problems: 0 })
    expect((await app.get('/api/summary/?group=4711')).status).toBe(400)

    await until('no connection is lost', async () => {
      const exceptions = { queue_pending: 0, disconnected: 0, handled: 0 }
      expect((await app.get('/api/summary/?manufacturer=shure')).json).toMatchObject(exceptions)
      return true
    })
    const [alert] = (await app.get('/api/alerts/')).json
    await app.post(`/api/alerts/${alert.id}/acknowledge`, {})
    expect((await app.get('/api/summary/')).json).toMatchObject({ attention: 1, problems: 1, handled: 1 })
    set({ transmitter: false, rf_level: -110 })
    await waitForState(app, id, 'battery_died')
    expect((await app.get(`/api/summary/?group=${group.json.id}`)).json).toMatchObject({
      ...ofGroup,
      transmitters_on: 0,
      replace_soon: 0,
    })
  })
})

describe.concurrent.each(engines)('the condition of a channel on %s', (engine) => {
  // Conformance: C-10.5.
  it('reaches the clients of a process that receives no reports', async () => {
    const { shure, id, set } = await startSystem()
    const app = await startApp({ engine, manufacturers: [configFor(withoutPush(shure))] })
    await waitForState(app, id, 'ok')
    const other = await startApp({ engine, databaseUrl: app.databaseUrl, servesOnly: true })
    await waitForState(other, id, 'ok')
    const live = await openLive(other)
    set({ battery: 15 })
    const { condition } = await waitForState(app, id, 'battery_low')
    expect((await waitForState(other, id, 'battery_low')).condition).toEqual(condition)
    await live.next((message) => message.condition?.since === condition.since)
  })

  // Conformance: C-10.5.
  it('is the same in a process that has just loaded the receiver', async () => {
    const { shure, id } = await startSystem(15)
    const app = await startApp({ engine })
    const other = await startApp({ engine, databaseUrl: app.databaseUrl, servesOnly: true })
    await app.close()
    const poller = await startApp({
      engine,
      databaseUrl: app.databaseUrl,
      dataDir: app.dataDir,
      manufacturers: [configFor(shure)],
    })
    const { condition } = await waitForState(poller, id, 'battery_low')
    await until('the condition is loaded', async () => {
      expect(channelOf(await other.receiver(id)).condition).toEqual(condition)
      return true
    })
  })
})
