/** Several processes on one database, and how each of them exits. */

import { mkdir, readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  channelOf,
  configFor,
  createInstallation,
  deviceOf,
  startSennheiser,
  startShure,
  until,
  withoutPush,
} from './support/app.ts'
import { timeLimit } from './support/time-limit.ts'

const elapsedSince = (startedAt: number) => performance.now() - startedAt

/** Simulates a suspended browser: it connects, receives the greeting, and then stops reading. */
async function startSilentBrowser(port: number) {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  socket.on('error', () => {})
  const received = new Promise((resolve) => socket.once('data', resolve))
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  socket.write(['GET /ws HTTP/1.1', 'Host: localhost', ...upgrade, key, '', ''].join('\r\n'))
  await received
}

describe('pollers', () => {
  // Conformance: C-9.23, C-9.24.
  // Reliability: P5.
  it('take turns: the second one waits, reports the process it waits for, and takes over within 20 s of a kill -9', async () => {
    const shure = withoutPush(await startShure())
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const first = installation.start(['poll_devices', '--interval', '1'])
    await until('the first process polls', () => first.lines().length > 0)
    const second = installation.start(['poll_devices', '--interval', '1', '--json'])
    await until('the second process waits', () => /^Standing by.*\n$/.test(second.err()))
    expect(second.err()).toContain(`:${first.pid}:`)

    const startedAt = performance.now()
    const args = ['poll_devices', '--once', '--interval', '2']
    const [jsonResult, plain] = await Promise.all([installation.run([...args, '--json']), installation.run(args)])
    expect([jsonResult.code, jsonResult.json()]).toEqual([75, { manufacturers: [] }])
    expect(jsonResult.err.trimEnd().split('\n')).toHaveLength(1)
    expect([plain.code, plain.out, plain.err]).toEqual([75, '', jsonResult.err])
    expect(elapsedSince(startedAt)).toBeGreaterThan(2000)
    expect(second.out()).toBe('')

    first.kill('SIGKILL')
    const killedAt = performance.now()
    const [line = ''] = await until(
      'the second process polls',
      () => (second.lines().length > 0 ? second.lines() : null),
      25_000,
    )
    expect(elapsedSince(killedAt)).toBeLessThan(timeLimit(20_000))
    expect(JSON.parse(line).manufacturers).toMatchObject([{ code: 'shure', devices: 2, created: 0, error: null }])

    second.kill('SIGTERM')
    const stoppedAt = performance.now()
    expect(await second.ended).toBe(0)
    expect(elapsedSince(stoppedAt)).toBeLessThan(timeLimit(5000))
    expect(await installation.run(['poll_devices', '--once', '--interval', '1'])).toMatchObject({ code: 0 })
  })

  // Conformance: S-1.1, C-5.30, C-9.2, C-9.11.
  it('publish changes within a second to clients of a serve --no-poll on the same file', async () => {
    const shure = withoutPush(await startShure())
    const { id } = deviceOf(shure)
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const screen = await installation.serve(['--no-poll'])
    const socket = await screen.socket('/ws/micwatch/')
    expect(await screen.receivers()).toEqual([])
    expect(shure.requests.total).toBe(0)

    const poller = installation.start(['poll_devices', '--interval', '1', '--json'])
    const cycles = () => poller.lines().map((line) => JSON.parse(line).manufacturers[0])
    await until(
      'both receivers are stored',
      () => cycles().reduce((sum: number, { created }: { created: number }) => sum + created, 0) === 2,
    )
    await until('both changes are published', () => socket.ofType('device_update').length >= 2, 1000)
    expect(await screen.receivers()).toHaveLength(2)

    const before = cycles().length
    shure.show.set(id, { battery: 33, audio_level: -9 }, 1)
    await until('the change is stored', () =>
      cycles()
        .slice(before)
        .some(({ updated }) => updated > 0),
    )
    const isChanged = (data: Parameters<typeof channelOf>[0]) => channelOf(data).transmitter?.battery === 33
    await until(
      'the change is published',
      () => socket.ofType('device_update').some(({ data }) => isChanged(data)),
      1000,
    )
    expect(channelOf(await screen.receiver(id)).transmitter).toMatchObject({ battery: 33, audio_level: -9 })

    shure.setFault({ type: 'reset' })
    await socket.next(({ type, status }) => type === 'status_update' && status === 'degraded')
    expect((await screen.get('/api/health/')).json.status).toBe('degraded')
  })

  // Conformance: C-9.25.
  // Reliability: P2.
  it('exit at once and cleanly, even if a system does not respond', async () => {
    const shure = withoutPush(await startShure())
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    shure.setFault({ type: 'hang' })
    const poller = installation.start(['poll_devices'])
    await until('the request arrives', () => shure.requests.entries.some(({ status }) => status === null))
    poller.kill('SIGINT')
    const stoppedAt = performance.now()
    expect(await poller.ended).toBe(0)
    expect(elapsedSince(stoppedAt)).toBeLessThan(timeLimit(5000))
  })
})

describe('a service', () => {
  // Conformance: C-3.27.
  // Reliability: 1.24, S5, P4.
  it('that was killed serves the last state before its first poll', async () => {
    const shure = withoutPush(await startShure())
    const sennheiser = withoutPush(await startSennheiser())
    const installation = await createInstallation({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    const first = await installation.serve()
    await until('all receivers are known', async () => (await first.receivers()).length === 4)
    const { id } = deviceOf(shure)
    shure.show.set(id, { name: 'Last Words', ip: '10.77.0.1' })
    shure.show.set(id, { battery: 12 }, 1)
    const known = await until('the change is received', async () => {
      const receiver = await first.receiver(id)
      return channelOf(receiver).transmitter?.battery === 12 && receiver
    })
    first.kill('SIGKILL')
    expect(await first.ended).toBeNull()

    for (const simulator of [shure, sennheiser]) simulator.setFault({ type: 'hang' })
    const startedAt = performance.now()
    const second = await installation.serve()
    // The limit is five seconds; the rest is the start-up time on a busy machine.
    expect(elapsedSince(startedAt)).toBeLessThan(timeLimit(15_000))
    expect(await second.receivers()).toHaveLength(4)
    const { id: again, name, ip, channels } = await second.receiver(id)
    expect({ id: again, name, ip }).toEqual({ id: known.id, name: known.name, ip: known.ip })
    expect(channelOf({ channels }).transmitter?.battery).toBe(12)
    expect((await second.get('/healthz')).status).toBe(200)
  })

  // Conformance: C-9.1.
  // Reliability: P1.
  it('that receives SIGTERM closes sockets and exits with 0 within 5 s, though a system hangs and a browser is suspended', async () => {
    const shure = withoutPush(await startShure())
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const service = await installation.serve()
    const socket = await service.socket()
    await until('both receivers are known', async () => (await service.receivers()).length === 2)
    await startSilentBrowser(service.port)
    shure.setFault({ type: 'hang' })
    await until('the service waits for the system', () => shure.requests.entries.at(-1)?.status === null)
    service.kill('SIGTERM')
    const stoppedAt = performance.now()
    expect([await service.ended, await socket.closed]).toEqual([0, 1001])
    expect(elapsedSince(stoppedAt)).toBeLessThan(timeLimit(5000))
  })

  // Reliability: P3.
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('that receives a second signal while stopping exits at once (%s)', async (signal, code) => {
    const installation = await createInstallation()
    const service = await installation.serve()
    await startSilentBrowser(service.port)
    const socket = await service.socket()
    service.kill('SIGTERM')
    await socket.closed
    service.kill(signal)
    expect(await service.ended).toBe(code)
  })

  it('that shows a demo leaves no files behind when it exits at once', async () => {
    const installation = await createInstallation()
    const folder = join(installation.path, 'tmp')
    await mkdir(folder)
    const demo = await installation.serve(['--demo', '--receivers', '2'], { TMPDIR: folder })
    await startSilentBrowser(demo.port)
    const socket = await demo.socket()
    expect(await readdir(folder)).toHaveLength(1)
    demo.kill('SIGTERM')
    await socket.closed
    demo.kill('SIGINT')
    expect(await demo.ended).toBe(130)
    expect(await readdir(folder)).toEqual([])
  })
})
