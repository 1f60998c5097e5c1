/** Subscriptions that are lost, silent, hostile or rejected, all at once in one service, while polling continues. */

import { beforeAll, describe, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { startApp, until } from '../support/app.ts'
import {
  badFrames,
  closeCode,
  closings,
  handshakes,
  hostileStreams,
  PushSystems,
  streamRequests,
} from '../support/faults/push-systems.ts'
import { acceptUpgrade, device, respondJson, startSystem } from '../support/faults/system.ts'
import { timeLimit } from '../support/time-limit.ts'

const push = new PushSystems()

beforeAll(() => push.open())

describe('a subscription', () => {
  // Reliability: R1.
  it.each(closings)('that is closed with %i is disconnected, then retried after 1, 2, 4 s', async (code) => {
    const name = `closed-${code}`
    const { upgrades } = push.system(name)
    await until('the fourth attempt is made', () => upgrades.length >= 4, 20_000)
    const delays = upgrades.slice(1, 4).map(({ at }, index) => at - (upgrades[index]?.at ?? 0) - 200)
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThan(0.8 * 1000 * 2 ** index - 200)
      expect(delay).toBeLessThan(1.2 * 1000 * 2 ** index + timeLimit(500))
    }
    // The third loss within two minutes counts as an error.
    const losses = push.statuses(name).flatMap(({ status }) => (/disconnected|error/.test(status) ? [status] : []))
    expect(losses.slice(0, 3)).toEqual(['disconnected', 'disconnected', 'error'])
  })

  // Reliability: R4.
  it.each(badFrames)(
    'that receives a frame that is %s is closed with the matching code and retried',
    async (code, _frame, closed) => {
      await until('the status was published', () => Buffer.concat(push.closeFrames.get(code) ?? []).length >= 8)
      expect(closeCode(push.closeFrames.get(code) ?? [])).toBe(closed)
      await until('another attempt is made', () => push.system(code).upgrades.length > 1)
      expect((await push.waitForStatus(code, 'disconnected')).error).toMatch(/./)
    },
  )

  // Reliability: R5.
  it.each(handshakes)(
    'whose handshake fails (%s) reports an error with the reason, and is retried later',
    async (code, _upgrade, message) => {
      const { error } = await push.waitForStatus(code, 'error')
      expect(error).toMatch(message)
      expect(push.statuses(code).map(({ status }) => status)).not.toContain('connected')
      const { upgrades } = push.system(code)
      const first = upgrades[0]?.at ?? 0
      await until('another attempt is made later', () => upgrades.some(({ at }) => at - first > 600), 20_000)
      expect(upgrades.filter(({ at }) => at - first <= 600)).toHaveLength(1)
    },
  )

  // Reliability: R4.
  it('continues after invalid messages; unknown messages are counted', async () => {
    await until('the next push is stored', async () => {
      const { json } = await push.app.get('/api/receivers/?manufacturer=nonsense')
      return json[0]?.name === 'Pushed'
    })
    const metrics = (await push.app.get('/metrics')).bytes.toString()
    expect(/^micwatch_push_ignored_total\{manufacturer="nonsense".*\} (\d+)$/m.exec(metrics)?.[1]).toBe('3')
    expect(push.system('nonsense').upgrades).toHaveLength(1)
  })

  // Reliability: R2.
  it('that is half open is detected within 35 s and restored', async () => {
    const { at } = await push.waitForStatus('half-open', 'disconnected', 40_000)
    const up = push.statuses('half-open').find(({ status }) => status === 'connected')
    expect(at - (up?.at ?? 0)).toBeLessThan(timeLimit(35_000))
    expect(at - (up?.at ?? 0)).toBeGreaterThan(20_000)
    await push.network.restore()
    push.network.closeConnections()
    await until(
      'the subscription is connected again',
      () => push.statuses('half-open').at(-1)?.status === 'connected',
      36_000,
    )
  })

  // Reliability: R1, R10.
  it('never prevents polling', async () => {
    const seconds = (performance.now() - push.startedAt) / 1000
    for (const [code, { requests }] of push.systems) {
      const polls = requests.filter(({ path }) => path === '/api/v1/devices').length
      expect([code, polls]).toEqual([code, expect.toSatisfy((count) => count > seconds * 0.5)])
    }
    const { json } = await push.app.get('/api/health/')
    expect([json.status, json.manufacturers.length]).toEqual(['healthy', push.systems.size])
    const records = (await push.app.get('/api/admin/realtime-connections/', push.admin)).json
    expect(records).toHaveLength(push.systems.size)
  })
})

describe('an event stream', () => {
  // Reliability: R6.
  it('is lost when no byte arrives for the configured time; comments keep it open', async () => {
    const { error } = await push.waitForStatus('mute', 'disconnected')
    expect(error).toMatch(/stopped sending data/)
    await until('the stream is opened again', () => streamRequests(push.system('mute')).length > 1)
    const [first, second] = streamRequests(push.system('mute'))
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(2000)
    expect(push.commentStreams).toBe(1)
  })

  // Reliability: R5.
  it('that sends nothing fails after ten seconds', async () => {
    const { error, at } = await push.waitForStatus('never-opens', 'error')
    expect(error).toMatch(/no response .* within 10 s/)
    expect(at - push.startedAt).toBeGreaterThan(9000)
  })

  // Reliability: R7.
  it('resumes at the last event id after at least a second', async () => {
    const requests = await until('the stream is opened again', () => {
      const all = streamRequests(push.system('hasty'))
      return all.length > 1 && all
    })
    expect(requests.map(({ headers }) => headers['last-event-id']).slice(0, 2)).toEqual([undefined, '42'])
    expect((requests[1]?.at ?? 0) - (requests[0]?.at ?? 0)).toBeGreaterThan(700)
  })

  // Reliability: R8.
  it.each(hostileStreams)('with %s is dropped', async (code) => {
    const last = code === 'no-line-end' ? 'error' : 'disconnected'
    expect((await push.waitForStatus(code, last)).error).toMatch(/larger than Micwatch accepts/)
    await until('the stream is opened again', () => streamRequests(push.system(code)).length > 1)
  })

  // Reliability: 0.1, 1.11, R5, R8.
  it('that returns HTML or redirects to another host fails, and no request follows', async () => {
    expect((await push.waitForStatus('a-web-page', 'error')).error).toMatch(/not an event stream/)
    expect((await push.waitForStatus('abroad', 'error')).error).toMatch(/is on another system/)
    expect((await push.waitForStatus('abroad-inside', 'error')).error).toMatch(/does not name its session/)
    expect(push.otherHost.requests).toEqual([])
  })

  // Reliability: R7.
  it('with a very long retry time is retried after half a minute', async () => {
    const [first, second] = await until(
      'the stream is opened again',
      () => {
        const all = streamRequests(push.system('patient'))
        return all.length > 1 && all
      },
      45_000,
    )
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(23_000)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(timeLimit(36_000))
  })
})

it('reports a transmitter that is a separate device', async () => {
  const pack = device(7, { device_id: 'pack', device_type: 'bodypack transmitter', model: 'ULXD1', channels: [] })
  const shure = await startSystem(
    respondJson({ devices: [{ ...pack, transmitters: [] }] }),
    acceptUpgrade((socket) => open.push(socket)),
  )
  const open: WebSocket[] = []
  const app = await startApp({ manufacturers: [shure.entry('packs', { poll_interval: 3600 })] })
  const unit = async () => (await app.get('/api/units/')).json[0]
  await until('the device is known', unit)
  await until('the subscription is connected', () => open.length > 0)
  expect(await unit()).toMatchObject({
    name: 'Rack 7',
    battery_percentage: 80,
    device_type: 'mic_transmitter',
    status: 'online',
  })
  const send = (frame: object) => open[0]?.send(JSON.stringify({ device_id: 'pack', ...frame }))
  send({ type: 'device_update', battery_percentage: 41, device_name: 'Pulpit' })
  await until('the change is published', async () => (await unit()).battery_percentage === 41)
  expect(await unit()).toMatchObject({ name: 'Pulpit', model: 'ULXD1', device_type: 'mic_transmitter' })
  send({ type: 'device_update', transmitter: { channel: 1, battery: 17 } })
  await until('the removal is published', async () => (await unit()).battery_percentage === 17)
  send({ type: 'device_removed' })
  await until('the device is offline', async () => (await unit()).status === 'offline')
  expect(await app.receivers()).toEqual([])
})
