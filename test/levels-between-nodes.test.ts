/** Levels that pass between services with one database and one Redis: only those that a client shows. */

import { describe, expect, it } from 'vitest'
import type { ChannelBody } from '../src/contract/channels.ts'
import type { Receiver } from '../src/domain/equipment/receiver.ts'
import {
  channelOf,
  configFor,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  type TestApp,
  until,
} from './support/app.ts'
import { isDown, isUp, openSubscriptions, receiversInMemory } from './support/internals.ts'
import { openLive } from './support/live-client.ts'
import { startRedis } from './support/store/redis.ts'

/**
 * Starts one service that receives levels from two systems, and another that only serves. Levels change only when a test
 * changes them, and the database is no source of new levels, because the systems are hardly ever polled.
 */
async function startTwo() {
  const redis = await startRedis()
  const shure = await startShure({ pushesPerSecond: 0, receivers: 1 })
  const sennheiser = await startSennheiser({ pushesPerSecond: 0, receivers: 1 })
  const config = { redis_url: redis.url }
  const manufacturers = [shure, sennheiser].map((system) => configFor(system, { poll_interval: 3600 }))
  const first = await startApp({ manufacturers, config })
  const shared = { databaseUrl: first.databaseUrl, dataDir: first.dataDir, config }
  const second = await startApp({ ...shared, servesOnly: true })
  await until('both services use Redis', () => isUp(first, second))
  await until('both know the devices', () => [first, second].every((app) => receiversInMemory(app).size === 2))
  await until('both subscriptions are connected', () => openSubscriptions(first) === 2)
  const client = redis.client()
  const requests = await until('a service listens for requests for levels', async () => {
    const topics = (await client.pubsub('CHANNELS', '*:level-requests')) as string[]
    return topics[0]
  })
  const prefix = requests.replace(/level-requests$/, 'levels')
  /** Counts the services that receive the levels of each system. */
  const countSubscribed = async () => {
    const [, forShure, , forSennheiser] = await client.pubsub('NUMSUB', `${prefix}:shure`, `${prefix}:sennheiser`)
    return { shure: forShure, sennheiser: forSennheiser }
  }
  const send = {
    shure: (fields: object) => {
      const message = { type: 'device_update', device_id: deviceOf(shure).id, ...fields }
      shure.push.send(JSON.stringify(message))
    },
    sennheiser: (fields: object) => {
      const path = `/api/v1/devices/${deviceOf(sennheiser).id}`
      sennheiser.push.send(JSON.stringify({ [path]: fields }))
    },
  }
  /** Sends the RF level of a channel, and waits until the service that receives it has applied it. */
  const change = async (system: System, rf_level: number, { app = first, battery = 71 } = {}) => {
    const isApplied = () => levelOf(app, system) === rf_level && batteryOf(app, system) === battery
    send[system]({ channels: [{ channel: 1, rf_level }], transmitters: [{ channel: 1, rf_level, battery }] })
    await until(`the service that receives ${system} has ${rf_level} dBm`, isApplied)
  }
  // With a battery level that has changed, the levels reach all services.
  for (const system of systems) await change(system, -40, { battery: 70 })
  for (const system of systems) await change(system, -40)
  const hasFacts = (system: System) => levelOf(second, system) === -40 && batteryOf(second, system) === 71
  await until('the other service has them', () => systems.every(hasFacts))
  return { redis, first, second, shared, change, countSubscribed }
}

const systems = ['shure', 'sennheiser'] as const
type System = (typeof systems)[number]

/** Returns the receiver of a system, as the service has it in memory. A request would make it subscribe to its levels. */
function receiverOf(app: TestApp, system: System): Receiver {
  const [receiver] = receiversInMemory(app).list(system)
  if (receiver === undefined) throw new Error(`${system} has no receiver`)
  return receiver
}

function levelOf(app: TestApp, system: System): number | null {
  return receiverOf(app, system).channels.find(({ channel }) => channel === 1)?.rf_level ?? null
}

function batteryOf(app: TestApp, system: System): number | null {
  return receiverOf(app, system).channels.find(({ channel }) => channel === 1)?.transmitter?.battery ?? null
}

describe('levels that one service receives', () => {
  // Conformance: C-18.1.
  it('reach another only while one of its clients shows their manufacturer; facts reach it in any case', async () => {
    const { second, change, countSubscribed } = await startTwo()
    await change('sennheiser', -41)
    await change('shure', -41, { battery: 13 })
    await until('the other service has the battery', () => batteryOf(second, 'shure') === 13)
    expect(await countSubscribed()).toEqual({ shure: 0, sennheiser: 0 })

    const socket = await second.socket('/ws?manufacturer=shure')
    await until('it subscribes to the levels', async () => (await countSubscribed()).shure === 1)
    await change('shure', -42, { battery: 13 })
    await until('the client receives the level', () =>
      socket
        .ofType('device_update')
        .some(({ data }) => data.channels?.some((one: ChannelBody) => one.rf_level === -42)),
    )
    expect((await countSubscribed()).sennheiser).toBe(0)
  })

  // Conformance: C-18.2.
  it('are current as soon as a client of another connects, even if they no longer change', async () => {
    const { second, change } = await startTwo()
    await change('shure', -43)
    await change('sennheiser', -44)
    const live = await openLive(second)
    const levelIn = (system: System) => {
      const receiver = live.data().receivers.find(({ manufacturer }: Receiver) => manufacturer === system)
      return channelOf(receiver).transmitter?.rf_level
    }
    await until('the client has the levels', () => levelIn('shure') === -43 && levelIn('sennheiser') === -44)
  })

  it('are not received for clients without levels, and for a group only from the manufacturers of its members', async () => {
    const { first, second, countSubscribed } = await startTwo()
    const slot = receiverOf(first, 'sennheiser').channels[0]?.slot ?? 0
    const created = await first.post('/api/group/', { title: 'Band', slots: [slot] })
    expect(created.status).toBe(201)
    const { id } = created.json
    await until('the other service has the group', async () =>
      (await second.get('/api/groups/')).json.some((group: { id: number }) => group.id === id),
    )
    await openLive(second, '&levels=false')
    await openLive(second, `&group=${id}`)
    await until('it subscribes to the levels', async () => (await countSubscribed()).sennheiser === 1)
    expect((await countSubscribed()).shure).toBe(0)
  })

  it('are requested by the first REST request that contains them', async () => {
    const { second, change, countSubscribed } = await startTwo()
    await change('shure', -45)
    const { id } = receiverOf(second, 'shure')
    const read = async () => channelOf((await second.get(`/api/receivers/${id}/`)).json).rf_level
    await until('the response contains the level', async () => (await read()) === -45)
    expect((await countSubscribed()).sennheiser).toBe(0)
  })

  // Conformance: C-18.2.
  it('are current again after Redis was unavailable, and after another service has taken over', async () => {
    const { redis, first, second, shared, change, countSubscribed } = await startTwo()
    await second.socket('/ws?manufacturer=shure')
    await until('it subscribes to the levels', async () => (await countSubscribed()).shure === 1)
    await redis.kill()
    await until('both detect the outage', () => isDown(first, second))
    await change('shure', -46)
    await until('the level arrives through the database', () => levelOf(second, 'shure') === -46)
    await redis.start()
    await until('both services use Redis again', () => isUp(first, second))
    await until('it subscribes to the levels again', async () => (await countSubscribed()).shure === 1)
    await change('shure', -47)
    await until('the other service has the level', () => levelOf(second, 'shure') === -47)

    await first.close()
    const third = await startApp(shared)
    await until('the next service uses Redis', () => isUp(third))
    await until('the next service has connected', () => openSubscriptions(third) === 2)
    await change('shure', -48, { app: third })
    await until('the other service has the level', () => levelOf(second, 'shure') === -48)
  })
})
