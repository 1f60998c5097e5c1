/** One service, one manufacturer a fault, all at once: what each fault leads to, and that nobody else notices. */

import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { beforeAll, describe, expect, it } from 'vitest'
import { startApp, type TestApp, until } from '../app.ts'
import { atEnd, sharing } from '../scope.ts'
import type { TestSocket } from '../socket-client.ts'
import { timeLimit } from '../time-limit.ts'
import { type Network, startNetwork } from './network.ts'
import { type Answer, device, drips, refuses, refusesLink, type System, says, sends, startSystem } from './system.ts'

const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024, ' '))
const page = `<!doctype html>\u001b[2J<h1>Sign in</h1>${'<p>Welcome</p>'.repeat(100)}`
const closes = (socket: { destroy(): unknown }) => socket.destroy()

/** Written in pieces, without a length that gives it away. */
const endless: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const piece = Buffer.alloc(1024 * 1024, ' ')
  const body = new Readable({ read: () => void body.push(piece) })
  body.pipe(response).on('close', () => body.destroy())
}

interface Trouble {
  readonly row: string
  readonly name: string
  /** What the system does; a network that does it stands in `networks`. */
  readonly answer?: Answer
  readonly error: RegExp
  /** Seconds, where the test is about them. */
  readonly timeout?: number
}

const invalid = /invalid response/
const late = /no answer .* within 1 s/
const shape = (name: string, body: unknown): Trouble => ({
  row: 'U13',
  name: `${name} for a list`,
  answer: says(body),
  error: /not a list of devices/,
})
const troubles: readonly Trouble[] = [
  { row: 'U1', name: 'port closed', error: /connection refused/ },
  { row: 'U1', name: 'reset', answer: sends('', (socket) => socket.resetAndDestroy()), error: /closed in the middle/ },
  { row: 'U2', name: 'silence', answer: () => {}, error: late, timeout: 1 },
  { row: 'U3', name: 'a body that stalls', answer: drips('', 60_000), error: late, timeout: 1 },
  { row: 'U3', name: 'a byte now and then', answer: drips(' ', 200), error: late, timeout: 1 },
  {
    row: 'U4',
    name: '401 to everything',
    answer: (request, response) => {
      const challenge = `Digest realm="r", qop="auth", algorithm=MD5, nonce="${performance.now()}"`
      refuses(401, { 'www-authenticate': challenge })(request, response)
    },
    error: /credentials rejected/,
  },
  { row: 'U6', name: '403', answer: refuses(403), error: /API access is disabled on the device or system/ },
  { row: 'U10', name: '500', answer: refuses(500), error: /answered 500/ },
  { row: 'U10', name: '502', answer: refuses(502), error: /answered 502/ },
  { row: 'U10', name: '503', answer: refuses(503), error: /answered 503/ },
  { row: 'U10', name: '504', answer: refuses(504), error: /answered 504/ },
  {
    row: 'U11',
    name: 'a list cut in the middle',
    answer: sends('HTTP/1.1 200 OK\r\ncontent-length: 22\r\n\r\n{"devices":[{"device_id', closes),
    error: invalid,
  },
  {
    row: 'U11',
    name: 'a length that is too long',
    answer: sends('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"devices":[]}', closes),
    error: invalid,
  },
  {
    row: 'U11',
    name: 'chunks cut off',
    answer: sends('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\ne\r\n{"devices":[]}\r\n', closes),
    error: invalid,
  },
  {
    row: 'U12',
    name: 'a login page',
    answer: (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page),
    error: /web page instead of data/,
  },
  shape('an object', {}),
  shape('null', { devices: null }),
  shape('an object inside', { devices: { d1: {} } }),
  shape('text', { devices: 'none' }),
  { row: 'U19', name: 'a body without end', answer: endless, error: /larger than Micwatch accepts/ },
  {
    row: 'U19',
    name: 'a gzip bomb',
    answer: (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    error: /larger than Micwatch accepts/,
  },
  {
    row: 'U19',
    name: 'two codings',
    answer: (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(gzipSync(bomb)),
    error: /cannot be decoded/,
  },
  {
    row: 'U19',
    name: 'headers of 20 KiB',
    answer: says({}, 200, { 'x-big': 'x'.repeat(20_000) }),
    error: /larger than/,
  },
  {
    row: 'U20',
    name: 'nesting of 200,000',
    answer: (_request, response) =>
      response.writeHead(200).end(`{"devices":${'['.repeat(200_000)}${']'.repeat(200_000)}}`),
    error: /nested deeper/,
  },
  { row: 'U22', name: 'a redirect', error: /unexpected redirect/ },
  {
    row: 'U23',
    name: 'another scheme',
    answer: refuses(401, { 'www-authenticate': 'Basic realm="r"' }),
    error: /credentials rejected/,
  },
]

const codeOf = ({ row, name }: Trouble) => `${row} ${name}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
const find = (name: string) => troubles.findIndex((one) => one.name === name)

let app: TestApp
let socket: TestSocket
let neighbour: System
let elsewhere: System
let closedPort: Network
let faultsAt: number
const systems: System[] = []
const wells: Answer[] = []
const logged: { level: number; answered?: string }[] = []
let before: Record<string, unknown>[] = []

async function fares(code: string) {
  const { json } = await app.get(`/api/health/?manufacturer=${code}`)
  return json.vendor_api
}

async function receiverOf(code: string) {
  const { status, json } = await app.get(`/api/receivers/?manufacturer=${code}`)
  expect(status).toBe(200)
  return json[0]
}

/** How long each of these took to answer, and what it answered that it should not. */
const probes = { health: [] as number[], pong: [] as number[], wrong: [] as string[] }
const paths = ['/api/data.json', '/api/receivers/', '/api/config/', '/api/health/', '/api/discovery/pending/']

function probe(): () => Promise<void> {
  let isOver = false
  const timed = async (into: number[], ask: () => Promise<unknown>) => {
    const startedAt = performance.now()
    await ask()
    into.push(performance.now() - startedAt)
  }
  const running = (async () => {
    for (let turn = 0; !isOver; turn += 1) {
      await timed(probes.health, () => app.get('/healthz'))
      await timed(probes.pong, () => {
        socket.send({ type: 'ping', id: turn })
        return socket.next(({ type, id }) => type === 'pong' && id === turn)
      })
      const path = paths[turn % paths.length] ?? ''
      const { status } = await app.get(path)
      if (status !== 200) probes.wrong.push(`${path} ${status}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()
  return async () => {
    isOver = true
    await running
  }
}

beforeAll(async () => {
  const end = await sharing(async () => {
    neighbour = await startSystem(says({ devices: [device(1000)] }))
    elsewhere = await startSystem(refuses(404))
    for (const at of troubles.keys()) {
      const well = says({ devices: [device(at + 1)] })
      wells.push(well)
      systems.push(await startSystem(well))
    }
    closedPort = await startNetwork(atEnd, (systems[0] as System).url)
    const entries = troubles.map((trouble, at) =>
      (systems[at] as System).entry(codeOf(trouble), {
        ...(at === 0 && { api_base_url: closedPort.url }),
        ...(trouble.timeout !== undefined && { timeout: trouble.timeout }),
      }),
    )
    const log = pino({ level: 'debug' }, { write: (line) => void logged.push(JSON.parse(line)) })
    app = await startApp({ manufacturers: [...entries, neighbour.entry('neighbour')], log })
    socket = await app.socket()
    await until('all are known', async () => (await app.receivers()).length === troubles.length + 1, 20_000)
    await until('all are well', async () => (await app.get('/api/health/')).json.status === 'healthy', 30_000)
    before = (await app.receivers()) as never
    faultsAt = performance.now()
    await closedPort.refuse()
    for (const [at, { answer }] of troubles.entries()) if (answer !== undefined) systems[at]?.answer(answer)
    for (const name of ['403', '401 to everything', 'another scheme']) {
      systems[find(name)]?.answerLink(refusesLink(name === '403' ? 403 : 401))
    }
    systems[find('a redirect')]?.answer(refuses(307, { location: `${elsewhere.url}/` }))
  })
  const stopProbing = probe()
  return async () => {
    await stopProbing()
    await end()
  }
})

describe('a system that fails', () => {
  // Reliability: 1.9, 1.10, 2.1.2, U1, U2, U3, U4, U6, U10, U11, U12, U13, U19, U20, U22, U23, 3.12.7.
  it.each(troubles)('$row $name: a failed cycle that says so, and everything known stands', async (trouble) => {
    const code = codeOf(trouble)
    const { error, ...state } = await until('it has failed', async () => {
      const now = await fares(code)
      return now.consecutive_failures > 0 && now
    })
    expect(error).toMatch(trouble.error)
    expect(state.status).toMatch(/degraded|unhealthy/)
    const known = before.find(({ manufacturer }) => manufacturer === code)
    const { json } = await app.get('/api/data.json')
    const shown = json.receivers.find(({ id }: { id: number }) => id === known?.id)
    expect({ ...shown, last_seen: 0 }).toEqual({ ...known, last_seen: 0 })
    const { last_seen } = await receiverOf(code)
    const heardLast = systems[troubles.indexOf(trouble)]?.asked.findLast(({ at }) => at < faultsAt)
    expect(Date.parse(last_seen)).toBeLessThan(performance.timeOrigin + (heardLast?.at ?? 0) + 1000)
  })

  // Reliability: 1.9, 2.1.1, U2, U3.
  it('is asked by one request at a time, which is ended at the deadline', async () => {
    for (const name of ['silence', 'a body that stalls', 'a byte now and then']) {
      const system = systems[find(name)] as System
      expect([name, system.mostAtOnce]).toEqual([name, 1])
      const own = system.asked.filter(({ at, endedAt }) => at > faultsAt && endedAt !== undefined)
      const took = own.map(({ at, endedAt = 0 }) => endedAt - at)
      expect(took.length).toBeGreaterThan(0)
      expect(Math.min(...took)).toBeGreaterThan(500)
      expect(Math.max(...took)).toBeLessThan(timeLimit(1500))
    }
  })

  // Reliability: 2.1.3, U10.
  it('is asked less and less often: 1, 2, 4 s', async () => {
    const { asked } = systems[find('500')] as System
    const times = await until('it is asked for the third time', () => {
      const own = asked.filter(({ at }) => at > faultsAt).map(({ at }) => at)
      return own.length > 2 && own
    })
    const waits = times.slice(1).map((at, nth) => at - (times[nth] ?? 0))
    for (const [nth, wait] of waits.entries()) {
      expect(wait).toBeGreaterThan(0.8 * 1000 * 2 ** nth - 300)
      expect(wait).toBeLessThan(1.2 * 1000 * 2 ** nth + timeLimit(500))
    }
  })

  // Reliability: 2.1.3, 2.1.6, U1.
  it('is asked at once by a refresh, which says how it went', async () => {
    const refresh = (query = '') => app.post(`/api/refresh/${query}`)
    const startedAt = performance.now()
    const failed = await refresh(`?manufacturer=${codeOf(troubles[0] as Trouble)}`)
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(1000))
    expect(failed).toMatchObject({ status: 503, json: { status: 503, details: expect.stringMatching(/refused/) } })
    expect(Number(failed.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(await refresh('?manufacturer=neighbour')).toMatchObject({ status: 200, json: { status: 'success' } })
  })

  // Reliability: 2.1.4, 2.1.8.
  it('changes its status in so many steps, each told once', async () => {
    const code = codeOf(troubles[find('500')] as Trouble)
    await until('it is unhealthy', async () => (await fares(code)).status === 'unhealthy', 15_000)
    await socket.caughtUp()
    const told = socket.ofType('status_update').filter(({ manufacturer }) => manufacturer === code)
    const steps = told.filter(({ about }) => about === 'upstream').map(({ status }) => status)
    expect(steps.slice(steps.indexOf('degraded'))).toEqual(['degraded', 'unhealthy'])
  })

  // Reliability: U12.
  it('with a page for an answer leaves at most 200 escaped characters of it in the debug log, and nothing else', async () => {
    const excerpts = logged.flatMap(({ level, answered }) => (answered === undefined ? [] : [{ level, answered }]))
    const [shown] = excerpts.filter(({ answered }) => answered.includes('Sign in'))
    expect(shown).toMatchObject({ level: 20, answered: expect.stringContaining('\\u{1b}[2J<h1>') })
    for (const { answered } of excerpts) expect(answered.length).toBeLessThanOrEqual(200)
    expect(JSON.stringify((await app.get('/api/data.json')).json)).not.toContain('Sign in')
  })

  // Reliability: 1.11, U22.
  it('that redirects sends us nowhere', () => {
    expect(elsewhere.asked).toEqual([])
  })

  // Reliability: 1.11, U23.
  it('that asks for a scheme we do not speak is given no credentials', () => {
    const { asked } = systems[find('another scheme')] as System
    const own = asked.filter(({ at }) => at > faultsAt)
    expect(own.length).toBeGreaterThan(0)
    expect(JSON.stringify(own)).not.toMatch(/authorization|the key/i)
  })

  // Reliability: 2.1.4, U1.
  it('is heard again within one delay once it is well, all of them at once', async () => {
    const refused = ['403', '401 to everything', 'another scheme'].map(find)
    await closedPort.restore()
    for (const [at, system] of systems.entries()) if (!refused.includes(at)) system.answer(wells[at] as Answer)
    const mended = troubles.filter((_, at) => !refused.includes(at))
    await until(
      'all are well',
      async () => {
        const { manufacturers } = (await app.get('/api/health/')).json
        const status = new Map(manufacturers.map((one: { code: string; status: string }) => [one.code, one.status]))
        return mended.every((one) => status.get(codeOf(one)) === 'healthy')
      },
      36_000,
    )
    for (const trouble of mended) expect((await fares(codeOf(trouble))).consecutive_failures).toBe(0)
    const code = codeOf(troubles[find('500')] as Trouble)
    await socket.caughtUp()
    const told = socket.ofType('status_update').filter(({ manufacturer }) => manufacturer === code)
    const steps = told.filter(({ about }) => about === 'upstream').map(({ status }) => status)
    expect(steps.slice(steps.indexOf('degraded'))).toEqual(['degraded', 'unhealthy', 'healthy'])
  }, 40_000)

  // Reliability: 2.1.3, U4, U6.
  it('and refuses us is left alone for a minute: at most one challenge is answered', () => {
    for (const [name, most] of [
      ['403', 1],
      ['401 to everything', 2],
      ['another scheme', 1],
    ] as const) {
      const { asked, linkAsked } = systems[find(name)] as System
      const own = asked.filter(({ at }) => at > faultsAt)
      expect(performance.now() - faultsAt).toBeLessThan(60_000)
      expect([name, own.length]).toEqual([name, most])
      expect(linkAsked.filter(({ at }) => at > faultsAt).length).toBeLessThanOrEqual(2)
      expect(own.filter(({ headers }) => /^Basic/.test(headers.authorization ?? ''))).toEqual([])
    }
  })

  // Reliability: 1.24, 2.1.2.
  it('ends nothing, empties nothing, and nobody else notices', async () => {
    expect(probes.wrong).toEqual([])
    expect(probes.health.length).toBeGreaterThan(20)
    expect(Math.max(...probes.health)).toBeLessThan(timeLimit(500))
    expect(Math.max(...probes.pong)).toBeLessThan(timeLimit(500))
    expect(await app.receivers()).toHaveLength(troubles.length + 1)
    const { asked } = neighbour
    const gaps = asked.slice(1).map(({ at }, nth) => at - (asked[nth]?.at ?? 0))
    expect(gaps.length).toBeGreaterThan(5)
    expect(Math.max(...gaps)).toBeLessThan(timeLimit(1500))
  })
})
