/** Clock jumps, time zones with daylight saving time, and pollers that were suspended. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { createInstallation, startApp, until } from '../support/app.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeClock } from '../support/fake-clock.ts'
import { longestGapMs } from '../support/faults/responsiveness.ts'
import { device, respondJson, startSystem } from '../support/faults/system.ts'
import { listenOrThrow } from '../support/listening-client.ts'
import { timeLimit } from '../support/time-limit.ts'
import { tokenHeaders } from '../support/tokens.ts'
import { addTones } from '../support/tones.ts'

const elapsedSince = (startedAt: number) => performance.now() - startedAt
const hour = 3_600_000
const password = 'a sentence about cables'

/**
 * Returns a module that is loaded before the program. At every SIGUSR2, the wall clock jumps to the next offset from
 * the real time.
 */
const jumpingClockModule = (jumps: readonly string[]) => `
  const real = Date.now
  const jumps = [${jumps}]
  let shift = jumps.shift() ?? 0
  const now = () => real() + shift
  process.on('SIGUSR2', () => {
    shift = jumps.shift() ?? 0
    console.error('clock ' + now())
  })
  globalThis.Date = new Proxy(Date, {
    construct: (target, given) => (given.length > 0 ? new target(...given) : new target(now())),
    apply: () => String(new Date()),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })`

async function start(jumps: readonly string[], env: Record<string, string> = {}) {
  const system = await startSystem(respondJson({ devices: [device(1)] }))
  const installation = await createInstallation({ manufacturers: [system.entry('shure')] })
  await installation.write('clock.mjs', jumpingClockModule(jumps))
  await installation.run(['create_admin', '--username', 'ana', '--password-stdin'], {}, `${password}\n`)
  const service = await installation.serve([], {
    NODE_OPTIONS: `--import=${join(installation.path, 'clock.mjs')}`,
    ...env,
  })
  await until('the system is polled', async () => (await service.receivers()).length === 1)
  const time = async () => Date.parse((await service.get('/api/health/')).json.timestamp)
  return {
    system,
    installation,
    service,
    time,
    /** Makes the service's clock jump, and resolves once it shows about the expected time. */
    async jumpClock(expected: number) {
      service.kill('SIGUSR2')
      await until('the clock has jumped', () => {
        const receiver = service
          .err()
          .match(/(?<=^clock )-?\d+/gm)
          ?.at(-1)
        return receiver !== undefined && Math.abs(Number(receiver) - expected) < 60_000
      })
    },
  }
}

describe.concurrent('a wall clock that jumps', () => {
  // Reliability: 2.1.5, T1.
  it('by an hour forward, an hour back and to 1970 affects no poll, lease or session, and makes nothing older', async () => {
    const { system, installation, service, jumpClock } = await start(['0', String(hour), String(-hour), '-real()', '0'])
    const signedIn = await service.post('/api/auth/login', { username: 'ana', password })
    expect(signedIn.status).toBe(200)
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? ''
    const socket = await service.socket('/ws', { headers: { cookie } })
    const pollsAtStart = system.requests.length
    const lastSeenTimes: number[] = []
    for (const offset of [hour, -hour, -Date.now(), 0]) {
      await jumpClock(Date.now() + offset)
      const pollsBefore = system.requests.length
      await until('the system is polled four more times', () => system.requests.length > pollsBefore + 4, 20_000)
      const [receiver] = await service.summaries()
      expect(receiver).toMatchObject({ is_active: true })
      lastSeenTimes.push(Date.parse(String(receiver?.last_seen)))
      expect((await service.get('/api/admin/audit/', { cookie })).status).toBe(200)
      expect((await service.get('/api/health/')).json.status).toBe('healthy')
    }
    expect(lastSeenTimes.toSorted((a, b) => a - b)).toEqual(lastSeenTimes)
    expect(longestGapMs(system.requests.slice(pollsAtStart))).toBeLessThan(timeLimit(1500))
    expect(socket.ofType('alert')).toEqual([])
    expect(listLeases(installation.databaseUrl)).toEqual([{ epoch: 1 }])
  })
})

describe.concurrent('a system clock that is an hour ahead for a few seconds', () => {
  it('keeps no receiver active and stores no time in the future', async () => {
    const system = await startSystem(respondJson({ devices: [device(1)] }))
    const installation = await createInstallation({ manufacturers: [system.entry('shure')] })
    const clock = await startFakeClock(installation)
    const service = await installation.serve([], clock.env)
    await until('the system is polled', async () => (await service.receivers()).length === 1)
    const requestsBefore = system.requests.length
    await clock.set('+3600')
    await until('the system is polled meanwhile', () => system.requests.length > requestsBefore + 2)
    await clock.set('+0')
    system.respondWith((request) => request.socket.destroy())
    const failingAt = performance.now()
    const [receiver] = await service.summaries()
    expect(Date.parse(String(receiver?.last_seen))).toBeLessThan(Date.now() + 1_000)
    // The service looks for silent receivers every second, regardless of the pauses between failing cycles.
    await until('the receiver is inactive', async () => (await service.receivers())[0]?.is_active === false, 85_000)
    expect(elapsedSince(failingAt)).toBeGreaterThan(50_000)
    const alerts = await until('the alert is raised', async () => {
      const { json } = await service.get('/api/alerts/')
      return json.length > 1 && json
    })
    const times = alerts.map(({ raised_at }: { raised_at: string }) => Date.parse(raised_at))
    const stored = query(installation.databaseUrl, 'select last_seen from receivers').map(({ last_seen }) => last_seen)
    expect(Math.max(...times, ...stored.map(Number))).toBeLessThan(Date.now() + 1_000)
  })

  it('makes no receiver inactive while its system briefly does not respond', async () => {
    const system = await startSystem(respondJson({ devices: [device(1)] }))
    const installation = await createInstallation({ manufacturers: [system.entry('shure')] })
    const clock = await startFakeClock(installation)
    const service = await installation.serve([], clock.env)
    await until('the system is polled', async () => (await service.receivers()).length === 1)
    system.respondWith((request) => request.socket.destroy())
    await clock.set('+3600')
    const requestsBefore = system.requests.length
    // Waits for several failed requests, and then longer than the service needs to detect that the clock has jumped.
    await until('a request has failed', () => system.requests.length > requestsBefore + 3, 60_000)
    await sleep(31_000)
    expect(await service.receivers()).toMatchObject([{ is_active: true }])
  })
})

describe.concurrent('a step of the system clock', () => {
  it('applies to sound when it applies to the service', async () => {
    const installation = await createInstallation({ listening: true })
    const clock = await startFakeClock(installation)
    const service = await installation.serve([], clock.env)
    const admin = await tokenHeaders(installation, 'admin', ['listen'])
    const stream = await addTones(service, admin)
    const time = async () => Date.parse((await service.get('/api/health/')).json.timestamp)
    const before = await time()
    await clock.set('+3600')
    const { frames } = await listenOrThrow(`http://127.0.0.1:${service.port}`, `stream=${stream}&ch=1`, admin)
    const ahead = async () => (frames.at(-1)?.at ?? 0) - (await time())
    await until('sound arrives', () => frames.length > 0)
    expect(Math.abs(await ahead())).toBeLessThan(60_000)
    await until('the service accepts the step', async () => (await time()) > before + hour, 60_000)
    await eventually(async () => Math.abs(await ahead())).toBeLessThan(60_000)
  })
})

describe.concurrent('a time zone with daylight saving time', () => {
  // Reliability: T2.
  it('repeats and skips no poll at the change, and every time is UTC', async () => {
    // Five seconds before the clocks in Berlin change from 3:00 back to 2:00.
    const night = Date.parse('2026-10-25T00:59:55Z')
    const { system, service, time } = await start([`${night} - real()`], { TZ: 'Europe/Berlin' })
    await until('the hour is over', async () => (await time()) > Date.parse('2026-10-25T01:00:05Z'), 30_000)
    const gaps = system.requests.slice(1).map(({ at }, index) => at - (system.requests[index]?.at ?? at))
    expect(Math.max(...gaps)).toBeLessThan(timeLimit(1500))
    expect(system.requests.length).toBeLessThanOrEqual(Math.ceil(elapsedSince(system.requests[0]?.at ?? 0) / 1000) + 2)
    const paths = ['/api/data.json', '/api/receivers/', '/api/receivers/1/', '/api/health/', '/api/alerts/']
    const texts = await Promise.all(paths.map(async (path) => String((await service.get(path)).bytes)))
    const times = texts.join().match(/\d{4}-\d\d-\d\d[T ][^"]*/g) ?? []
    expect(times.length).toBeGreaterThan(2)
    expect(times.filter((time) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(time))).toEqual([])
  })
})

describe.concurrent('an interval that is changed while the service runs', () => {
  // Reliability: T4.
  it('applies from the next tick, longer or shorter, without a restart', async () => {
    const system = await startSystem(respondJson({ devices: [device(1)] }))
    const app = await startApp({ manufacturers: [system.entry('shure', { poll_interval: 600 })] })
    await until('the system is polled', () => system.requests.length > 0)
    const change = async (value: string) => {
      const body = { key: 'polling_interval', value, manufacturer: 'shure' }
      expect((await app.post('/api/config/', body)).status).toBe(200)
    }
    await change('1')
    const before = system.requests.length
    await until('the system is polled every second', () => system.requests.length > before + 3)
    await change('600')
    // One more poll may already have been due when the interval was changed.
    const after = system.requests.length + 1
    await sleep(3000)
    expect(system.requests.length).toBeLessThanOrEqual(after)
  })
})

describe.concurrent('a poller that was suspended for longer than its lease', () => {
  // Reliability: 2.1.7, P6.
  it('cannot store late results; what another process stored meanwhile stays', async () => {
    const respondWithName = (name: string) => respondJson({ devices: [device(1, { device_name: name })] })
    const system = await startSystem(respondWithName('Before'))
    const installation = await createInstallation({ manufacturers: [system.entry('shure', { timeout: 60 })] })
    const suspended = await installation.serve()
    const receiver = async () => (await suspended.receivers())[0]
    await until('the system is polled', async () => (await receiver()) !== undefined)
    // The next request is answered while the service is suspended, with data that is out of date when it resumes.
    const lateResponses: (() => void)[] = []
    system.respondWith((request, response) => lateResponses.push(() => respondWithName('Late')(request, response)))
    await until('the request arrives', () => lateResponses.length > 0)
    suspended.kill('SIGSTOP')
    onTestEnd(() => suspended.kill('SIGCONT'))
    for (const response of lateResponses) response()
    system.respondWith(respondWithName('After'))

    const poller = installation.start(['poll_devices', '--interval', '1', '--json'])
    await until(
      'another process has taken over',
      () => poller.lines().some((line) => JSON.parse(line).manufacturers.length > 0),
      30_000,
    )
    expect(readName(installation.databaseUrl)).toBe('After')
    suspended.kill('SIGCONT')
    await until('the lost lease is logged', () => suspended.err().includes('lease lost'), 15_000)
    await until('the data of the other process is served', async () => (await receiver())?.name === 'After')
    const cycles = poller.lines().length
    await until('the other process continues polling', () => poller.lines().length > cycles + 2)
    expect(readName(installation.databaseUrl)).toBe('After')
    expect((await receiver())?.name).toBe('After')
    expect(await suspended.receivers()).toHaveLength(1)
  })
})

function query(databaseUrl: string, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(databaseUrl.slice('sqlite:'.length), { readOnly: true })
  try {
    return database.prepare(sql).all() as Record<string, unknown>[]
  } finally {
    database.close()
  }
}

const listLeases = (url: string) =>
  query(url, `select epoch from leases where source like 'shure:%' and owner is not null`)
const readName = (url: string) => query(url, 'select name from receivers')[0]?.name
