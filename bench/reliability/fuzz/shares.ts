/** Weak clients: other spellings of an address, records of the audit log, shared resources, and JSON of many values. */

import { WebSocket } from 'ws'
import { connectionLimits } from '../../../src/domain/access/limits.ts'
import { descriptorLimit } from '../../../src/http/server/connections.ts'
import type { HttpClient, HttpResponse } from '../../../test/support/http-client.ts'
import { spellingsOf } from '../../../test/support/spellings.ts'
import { median } from '../../harness.ts'
import type { Random } from './random.ts'
import { addProblem, count, type FuzzReport, runConcurrently } from './report.ts'

export interface Attack {
  readonly service: HttpClient & { readonly address: string }
  /** The credentials of an administrator, of an operator and of a viewer. */
  readonly admin: Readonly<Record<string, string>>
  readonly operator: Readonly<Record<string, string>>
  readonly viewer: Readonly<Record<string, string>>
  readonly random: Random
}

/** Sends more requests than `limit` in every spelling. No spelling may bypass the limit. */
export async function trySpellings(
  report: FuzzReport,
  service: HttpClient & { readonly address: string },
  limit: number,
): Promise<void> {
  const { same, unknown } = spellingsOf('/api/summary/', service.address)
  let served = 0
  for (let round = 0; round < 20; round++) {
    for (const path of [...same, ...unknown]) {
      for (const method of ['GET', 'HEAD']) {
        const { status } = await service.send(method, path)
        count(report, `spelling ${status}`)
        if (status < 400) served += 1
        if (status < 400 && unknown.includes(path)) addProblem(report, `${method} ${path} returned ${status}`)
      }
    }
  }
  // The limit refills while the requests are sent.
  if (served === 0 || served > limit + 10) addProblem(report, `${served} requests passed the limit of ${limit}`)
}

/** Causes hundreds of records with weak credentials. The records of administrators must stay, and few may be added. */
export async function tryAudit(report: FuzzReport, { service, admin, operator, random }: Attack): Promise<void> {
  const body = { username: 'mallory', password: 'green stage rabbit 9', role: 'viewer' }
  await service.post('/api/admin/users/', body, admin)
  const countRecords = async () => (await service.get('/api/admin/audit/?page_size=1', admin)).json.count as number
  const marker = (await service.post('/api/markers/', { text: 'x' }, operator)).json
  const before = await countRecords()
  await runConcurrently(8, 600, async (index) => {
    const attempts = [
      () => service.post('/api/auth/kiosk/', { token: random.text(20).toWellFormed() }),
      () => service.post('/api/auth/login', { username: 'nobody', password: random.text(20).toWellFormed() }),
      () => {
        const headers = { 'content-type': 'application/json', ...operator }
        return service.send('PATCH', `/api/markers/${marker.id}/`, { headers, body: `{"text":"x${index}"}` })
      },
    ]
    count(report, `audit ${(await attempts[index % 3]?.())?.status}`)
  })
  const added = (await countRecords()) - before
  if (added > 60) addProblem(report, `600 requests with weak credentials caused ${added} audit records`)
  const { json } = await service.get('/api/admin/audit/?action=user.create', admin)
  if (!json.some(({ target }: { target: string }) => target === 'user mallory'))
    addProblem(report, 'the record of an administrator is missing')
}

const carriers = (total: number) =>
  Array.from({ length: total }, (_, index) => ({ id: `c${index}`, mhz: (470 + index * 0.025).toFixed(3) }))

/**
 * One viewer floods the checks of frequencies and opens more WebSockets than its share. Another client must still be
 * served.
 */
export async function tryShares(report: FuzzReport, { service, admin, viewer }: Attack): Promise<void> {
  const check = (total: number, headers: Attack['viewer']) =>
    service.post('/api/frequencies/check/', { carriers: carriers(total) }, headers)
  const flood = Promise.all(Array.from({ length: 30 }, () => check(400, viewer)))
  const other = await check(20, admin)
  if (other.status !== 200) addProblem(report, `a check beside those of another client returned ${other.status}`)
  for (const response of await flood) {
    count(report, `check ${response.status}`)
    if (response.status !== 200) checkRefusal(report, response)
  }
  const sockets: WebSocket[] = []
  const share = Math.floor(connectionLimits(descriptorLimit()).sockets / 4)
  const open = (headers: Attack['viewer']) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(`${service.address.replace(/^http/, 'ws')}/ws`, { headers })
      sockets.push(socket)
      socket.on('open', () => resolve(101))
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
      socket.on('error', () => resolve(0))
    })
  await runConcurrently(32, share + 20, async () => count(report, `WebSocket ${await open(viewer)}`))
  const opened = report.counts.get('WebSocket 101') ?? 0
  if (opened > share) addProblem(report, `one token opened ${opened} WebSockets; its share is ${share}`)
  const status = await open(admin)
  if (status !== 101) addProblem(report, `a WebSocket beside those of another client was refused with ${status}`)
  for (const socket of sockets) socket.terminate()
}

function checkRefusal(report: FuzzReport, { status, headers }: HttpResponse): void {
  if ((status !== 503 && status !== 429) || headers['retry-after'] === undefined)
    addProblem(report, `a client beyond its share was refused with ${status}, Retry-After ${headers['retry-after']}`)
}

/** Below the limit of the route, so that the values are counted. */
const bodyBytes = 500_000
const repeat = (open: string, item: string, close: string) =>
  `${open}${item.repeat(Math.floor((bodyBytes - 10) / item.length))}${close}`

const hostileBodies = {
  lists: repeat('[', '[],', '[]]'),
  objects: repeat('[', '{},', '{}]'),
  numbers: repeat('[', '0,', '0]'),
  texts: repeat('[', '"",', '""]'),
  keys: repeat('{', '"k":0,', '"k":0}'),
  escapes: repeat('[', '"\\u0000",', '0]'),
  nested: repeat('[', `${'['.repeat(60)}1${']'.repeat(60)},`, '0]'),
  deep: '['.repeat(bodyBytes),
} as const

/** Returns the time until a hostile body is rejected, in multiples of a harmless one of the same size. */
export async function tryJson(report: FuzzReport, { service, viewer }: Attack): Promise<number> {
  const measure = async (body: string) => {
    const startedAt = performance.now()
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length), ...viewer }
    const { status } = await service.send('POST', '/api/frequencies/check/', { headers, body })
    return { status, ms: performance.now() - startedAt }
  }
  const harmless = JSON.stringify({ carriers: [], comment: 'x'.repeat(bodyBytes - 30) })
  const ratios: number[] = []
  for (const [kind, body] of Object.entries(hostileBodies)) {
    const times: { hostile: number; harmless: number }[] = []
    for (let round = 0; round < 5; round++) {
      const hostile = await measure(body)
      count(report, `JSON of ${kind} ${hostile.status}`)
      if (hostile.status < 400 || hostile.status >= 500)
        addProblem(report, `JSON of many ${kind} returned ${hostile.status}`)
      times.push({ hostile: hostile.ms, harmless: (await measure(harmless)).ms })
    }
    ratios.push(median(times.map((time) => time.hostile)) / median(times.map((time) => time.harmless)))
  }
  return Math.max(...ratios)
}
