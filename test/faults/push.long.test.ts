/** Subscriptions that are lost, silent, hostile or rejected, all at once in one service, while polling continues. */

import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { startApp, type TestApp, until } from '../app.ts'
import { onTestEnd, openShared } from '../cleanup.ts'
import { timeLimit } from '../time-limit.ts'
import { tokenHeaders } from '../tokens.ts'
import { type Network, startNetwork } from './network.ts'
import {
  acceptUpgrade,
  device,
  type Responder,
  rejectUpgrade,
  respondError,
  respondJson,
  type System,
  startSystem,
  type UpgradeHandler,
} from './system.ts'

// --- Systems with push -----------------------------------------------------------------------------------------------

const streamPath = '/api/ssc/state/subscriptions'
const opened = `event: open\ndata: {"path":"${streamPath}/s1","sessionUUID":"s1"}\n\n`
const longText = 'x'.repeat(64 * 1024)

/** Accepts the handshake and sends these bytes; what the client sends afterwards is added to `received`. */
function sendFrame(frame: Buffer, received: Buffer[]): UpgradeHandler {
  return (request, socket) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const acceptKey = createHash('sha1').update(key).digest('base64')
    socket.on('data', (bytes: Buffer) => received.push(bytes))
    socket.write(
      `HTTP/1.1 101 Go\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${acceptKey}\r\n\r\n`,
    )
    socket.write(frame)
  }
}

/** Returns the close code in the masked frame that a client sent. */
function closeCode(received: readonly Buffer[]): number {
  const bytes = Buffer.concat(received)
  const offset = bytes.indexOf(0x88)
  const mask = bytes.subarray(offset + 2, offset + 6)
  return (((bytes[offset + 6] ?? 0) ^ (mask[0] ?? 0)) << 8) | ((bytes[offset + 7] ?? 0) ^ (mask[1] ?? 0))
}

/** Responds like a system with an event stream; `stream` writes to each stream that is opened. */
function streams(
  devices: readonly object[],
  stream: (response: ServerResponse, request: IncomingMessage) => unknown,
  headers: Record<string, string> = {},
): Responder {
  return (request, response) => {
    if (request.url === '/api/v1/devices') return respondJson({ devices })(request, response)
    if (request.method !== 'GET') return respondJson([])(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders()
    return stream(response, request)
  }
}

const streamRequests = (system: System) =>
  system.requests.filter(({ path, method }) => path === streamPath && method === 'GET')

// --- Cases -----------------------------------------------------------------------------------------------------------

const closeFrames = new Map<string, Buffer[]>()
const badFrames = [
  ['oversized', Buffer.from([0x81, 0x7f, 0, 0, 0, 0, 0, 0x10, 0, 1]), 1009],
  ['not-utf8', Buffer.from([0x81, 0x02, 0xc3, 0x28]), 1007],
  ['compressed', Buffer.from([0xc1, 0x01, 0x61]), 1002],
] as const
const closings = [1000, 1001, 1011, 1006] as const
const handshakes = [
  ['refused-401', rejectUpgrade(401), /credentials rejected/],
  ['refused-403', rejectUpgrade(403), /API access is disabled/],
  ['refused-404', rejectUpgrade(404), /status 404/],
  ['a-page', rejectUpgrade(200, 'content-type: text/html\r\n', '<h1>Hello</h1>'), /status 200/],
  ['never', () => {}, /no response .* within 10 s/],
] as const
const hostileStreams = [
  ['long-line', (response: ServerResponse) => response.write(`${opened}data: ${longText.repeat(5)}`)],
  ['no-line-end', (response: ServerResponse) => response.write(longText.repeat(5))],
] as const

describe('a subscription', () => {
  let app: TestApp
  let admin: Record<string, string>
  let network: Network
  let otherHost: System
  const systems = new Map<string, System>()
  const entries: object[] = []
  /** The statuses of each manufacturer's subscription, with times. */
  const history = new Map<string, { status: string; at: number; error: string | null }[]>()
  let startedAt: number
  let commentStreams = 0

  const system = (code: string) => systems.get(code) as System
  const statuses = (code: string) => history.get(code) ?? []
  const waitForStatus = (code: string, status: string, withinMs = 20_000) =>
    until(`${code} is ${status}`, () => statuses(code).find((entry) => entry.status === status), withinMs)

  async function add(code: string, upgrade: UpgradeHandler): Promise<void> {
    const newSystem = await startSystem(respondJson({ devices: [device(systems.size + 1)] }), upgrade)
    systems.set(code, newSystem)
    entries.push(newSystem.entry(code))
  }

  async function addStream(
    code: string,
    createResponder: (devices: object[]) => Responder,
    more: object = {},
  ): Promise<void> {
    const newSystem = await startSystem(createResponder([device(systems.size + 1)]))
    systems.set(code, newSystem)
    entries.push(newSystem.entry(code, more, 'sennheiser'))
  }

  async function recordStatuses(): Promise<void> {
    const { json } = await app.get('/api/admin/realtime-connections/', admin)
    for (const { manufacturer, status, error_message: error } of json) {
      const statusHistory = history.get(manufacturer) ?? []
      history.set(manufacturer, statusHistory)
      const isNotTriedYet = statusHistory.length === 0 && status === 'disconnected' && error === null
      if (!isNotTriedYet && statusHistory.at(-1)?.status !== status)
        statusHistory.push({ status, at: performance.now(), error })
    }
  }

  beforeAll(async () => {
    const end = await openShared(async () => {
      otherHost = await startSystem(respondError(404))
      for (const code of closings) {
        const close = (socket: WebSocket) =>
          void setTimeout(() => (code === 1006 ? socket.terminate() : socket.close(code)), 200)
        await add(`closed-${code}`, acceptUpgrade(close))
      }
      for (const [code, frame] of badFrames) {
        closeFrames.set(code, [])
        await add(code, sendFrame(frame, closeFrames.get(code) ?? []))
      }
      for (const [code, upgrade] of handshakes) await add(code, upgrade)
      await add(
        'nonsense',
        acceptUpgrade((socket) => {
          for (const text of ['{', '{"type":"device_update","device_id":"nobody"}', '{"type":"sing"}'])
            socket.send(text)
          // Sent repeatedly, because every poll replaces the pushed name with the one in the device list.
          const message = '{"type":"device_update","device_id":"d13","device_name":"Pushed"}'
          const timer = setInterval(() => socket.send(message), 200)
          socket.on('close', () => clearInterval(timer))
        }),
      )
      const halfOpenSystem = await startSystem(
        respondJson({ devices: [device(systems.size + 1)] }),
        acceptUpgrade(() => {}),
      )
      network = await startNetwork(onTestEnd, halfOpenSystem.url)
      systems.set('half-open', halfOpenSystem)
      entries.push(halfOpenSystem.entry('half-open', { websocket_url: `${network.url.replace('http', 'ws')}/ws` }))

      await addStream('mute', (devices) => streams(devices, (response) => response.write(opened)), {
        stream_timeout: 2,
      })
      await addStream(
        'commented',
        (devices) =>
          streams(devices, (response) => {
            commentStreams += 1
            response.write(opened)
            const timer = setInterval(() => response.write(':\n'), 300)
            response.on('close', () => clearInterval(timer))
          }),
        { stream_timeout: 2 },
      )
      await addStream('never-opens', (devices) => streams(devices, (response) => response.write(':\n')))
      for (const [code, retry] of [
        ['hasty', 0],
        ['patient', 999_999_999],
      ] as const) {
        await addStream(code, (devices) =>
          streams(devices, (response) => {
            response.end(`retry: ${retry}\nid: 41\n${opened}id: 42\ndata: {}\n\n`)
          }),
        )
      }
      for (const [code, write] of hostileStreams) await addStream(code, (devices) => streams(devices, write))
      await addStream('a-web-page', (devices) =>
        streams(devices, (response) => response.end('<h1>'), { 'content-type': 'text/html' }),
      )
      await addStream('abroad', (devices) =>
        streams(devices, (response) => response.write(opened), { 'content-location': `${otherHost.url}/s1` }),
      )
      await addStream('abroad-inside', (devices) =>
        streams(devices, (response) =>
          response.write(`event: open\ndata: {"path":"${otherHost.url}/s1","sessionUUID":"s1"}\n\n`),
        ),
      )

      app = await startApp({ manufacturers: entries })
      admin = await tokenHeaders(app.runtime, 'admin')
      startedAt = performance.now()
    })
    let isStopped = false
    const recording = (async () => {
      for (; !isStopped; await new Promise((resolve) => setTimeout(resolve, 50))) await recordStatuses()
    })()
    await until('the half-open subscription is connected', () =>
      statuses('half-open').some(({ status }) => status === 'connected'),
    )
    network.blackhole()
    return async () => {
      isStopped = true
      await recording
      await end()
    }
  })

  // Reliability: R1.
  it.each(closings)('that is closed with %i is disconnected, then retried after 1, 2, 4 s', async (code) => {
    const name = `closed-${code}`
    const { upgrades } = system(name)
    await until('the fourth attempt is made', () => upgrades.length >= 4, 20_000)
    const delays = upgrades.slice(1, 4).map(({ at }, index) => at - (upgrades[index]?.at ?? 0) - 200)
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThan(0.8 * 1000 * 2 ** index - 200)
      expect(delay).toBeLessThan(1.2 * 1000 * 2 ** index + timeLimit(500))
    }
    const sequence = statuses(name).map(({ status }) => status)
    expect(sequence).toEqual(expect.arrayContaining(['connected', 'disconnected']))
    expect(sequence).not.toContain('error')
  })

  // Reliability: R4.
  it.each(badFrames)(
    'that receives a frame that is %s is closed with the matching code and retried',
    async (code, _frame, closed) => {
      await until('the status was published', () => Buffer.concat(closeFrames.get(code) ?? []).length >= 8)
      expect(closeCode(closeFrames.get(code) ?? [])).toBe(closed)
      await until('another attempt is made', () => system(code).upgrades.length > 1)
      expect((await waitForStatus(code, 'disconnected')).error).toMatch(/./)
    },
  )

  // Reliability: R5.
  it.each(handshakes)(
    'whose handshake fails (%s) reports an error with the reason, and is retried later',
    async (code, _upgrade, message) => {
      const { error } = await waitForStatus(code, 'error')
      expect(error).toMatch(message)
      expect(statuses(code).map(({ status }) => status)).not.toContain('connected')
      const { upgrades } = system(code)
      const first = upgrades[0]?.at ?? 0
      await until('another attempt is made later', () => upgrades.some(({ at }) => at - first > 600), 20_000)
      expect(upgrades.filter(({ at }) => at - first <= 600)).toHaveLength(1)
    },
  )

  // Reliability: R4.
  it('continues after invalid messages; unknown messages are counted', async () => {
    await until('the next push is stored', async () => {
      const { json } = await app.get('/api/receivers/?manufacturer=nonsense')
      return json[0]?.name === 'Pushed'
    })
    const metrics = (await app.get('/metrics')).bytes.toString()
    expect(/^micwatch_push_ignored_total\{manufacturer="nonsense".*\} (\d+)$/m.exec(metrics)?.[1]).toBe('3')
    expect(system('nonsense').upgrades).toHaveLength(1)
  })

  // Reliability: R6.
  it('to an event stream is lost when no byte arrives for the configured time; comments keep it open', async () => {
    const { error } = await waitForStatus('mute', 'disconnected')
    expect(error).toMatch(/stopped sending data/)
    await until('the stream is opened again', () => streamRequests(system('mute')).length > 1)
    const [first, second] = streamRequests(system('mute'))
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(2000)
    expect(commentStreams).toBe(1)
  })

  // Reliability: R5.
  it('to an event stream that sends nothing fails after ten seconds', async () => {
    const { error, at } = await waitForStatus('never-opens', 'error')
    expect(error).toMatch(/no response .* within 10 s/)
    expect(at - startedAt).toBeGreaterThan(9000)
  })

  // Reliability: R7.
  it('to an event stream resumes at the last event id after at least a second', async () => {
    const requests = await until('the stream is opened again', () => {
      const all = streamRequests(system('hasty'))
      return all.length > 1 && all
    })
    expect(requests.map(({ headers }) => headers['last-event-id']).slice(0, 2)).toEqual([undefined, '42'])
    expect((requests[1]?.at ?? 0) - (requests[0]?.at ?? 0)).toBeGreaterThan(700)
  })

  // Reliability: R8.
  it.each(hostileStreams)('to an event stream with %s is dropped', async (code) => {
    const last = code === 'no-line-end' ? 'error' : 'disconnected'
    expect((await waitForStatus(code, last)).error).toMatch(/larger than Micwatch accepts/)
    await until('the stream is opened again', () => streamRequests(system(code)).length > 1)
  })

  // Reliability: 0.1, 1.11, R5, R8.
  it('to an event stream that returns HTML or redirects to another host fails, and no request follows', async () => {
    expect((await waitForStatus('a-web-page', 'error')).error).toMatch(/not an event stream/)
    expect((await waitForStatus('abroad', 'error')).error).toMatch(/is on another system/)
    expect((await waitForStatus('abroad-inside', 'error')).error).toMatch(/does not name its session/)
    expect(otherHost.requests).toEqual([])
  })

  // Reliability: R2.
  it('that is half open is detected within 35 s and restored', async () => {
    const { at } = await waitForStatus('half-open', 'disconnected', 40_000)
    const up = statuses('half-open').find(({ status }) => status === 'connected')
    expect(at - (up?.at ?? 0)).toBeLessThan(36_000)
    expect(at - (up?.at ?? 0)).toBeGreaterThan(20_000)
    await network.restore()
    network.closeConnections()
    await until(
      'the subscription is connected again',
      () => statuses('half-open').at(-1)?.status === 'connected',
      36_000,
    )
  }, 80_000)

  // Reliability: R7.
  it('with a very long retry time is retried after half a minute', async () => {
    const [first, second] = await until(
      'the stream is opened again',
      () => {
        const all = streamRequests(system('patient'))
        return all.length > 1 && all
      },
      45_000,
    )
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(23_000)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(40_000)
  }, 60_000)

  // Reliability: R1, R10.
  it('never prevents polling', async () => {
    const seconds = (performance.now() - startedAt) / 1000
    for (const [code, { requests }] of systems) {
      const polls = requests.filter(({ path }) => path === '/api/v1/devices').length
      expect([code, polls]).toEqual([code, expect.toSatisfy((count) => count > seconds * 0.5)])
    }
    const { json } = await app.get('/api/health/')
    expect([json.status, json.manufacturers.length]).toEqual(['healthy', systems.size])
    const records = (await app.get('/api/admin/realtime-connections/', admin)).json
    expect(records).toHaveLength(systems.size)
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
